"""Exports that name nobody.

A run and its dataset are turned into ones whose households have other names; whatever is made of
them cannot tell the true ones. Names are keyed hashes with a key that nobody keeps: the same
household has the same name throughout one export, and no list of ids can be tried against them.
Or ids are dropped, and points go by their anomaly rank.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import pandas as pd

from core.errors import InputError
from core.readings import Dataset
from core.readings.dataset import ACCOUNT_COLUMNS
from core.runs import Run
from core.runs.config import RunConfig

Privacy = Literal["keep", "hash", "drop"]

# Where more than this share of the households have a value that nobody else has, a column tells
# who they are: an address, a number of a contract, a place on the globe.
MOST_UNIQUE = 0.1

_HEX_DIGITS = 12
_LONG_ID = 4
# Columns of a run's units that are the run's own.
_OWN = ("label", "household", "slot", "m", "mean_kwh")


@dataclass(frozen=True)
class RenamedDataset(Dataset):
    """A dataset whose households have other names, and no metadata that would identify them."""

    names: tuple[str, ...] = ()
    kept_metadata: tuple[str, ...] = ()

    @cached_property
    def households(self) -> pd.DataFrame:
        """One row a household, under its new name."""
        true = super().households
        kept = true[[*ACCOUNT_COLUMNS, *self.kept_metadata]]
        return kept.assign(household=pd.Series(self.names, dtype="str", index=true.index))


@dataclass(frozen=True, eq=False)
class Anonymous:
    """What may be exported.

    Attributes
    ----------
    dataset : Dataset
    withheld : tuple of str
        What was left out or renamed, in words.
    """

    dataset: Dataset
    withheld: tuple[str, ...]
    _privacy: Privacy
    _true: Dataset
    _names: dict[str, str]

    @property
    def by_rank(self) -> bool:
        """Whether tables must go by rank: the order of the households would tell who is who."""
        return self._privacy != "keep"

    def run(self, run: Run) -> Run:
        """The run without the names of households."""
        if self._privacy == "keep":
            return run
        units = run.units.copy()
        households = units["household"].map(self._names)
        if self._privacy == "drop" and run.config.unit != "slots":
            units["label"] = pd.Series(run.hdr.rank, index=units.index).map("#{}".format)
        elif run.config.unit == "household-slots":
            times = [
                label.removeprefix(true)
                for label, true in zip(units["label"], units["household"], strict=True)
            ]
            units["label"] = households.str.cat(times)
        elif run.config.unit != "slots":
            units["label"] = households
        units["household"] = households
        identifying = self._identifying
        gone = [
            name
            for name in units.columns
            if name not in _OWN and name.removeprefix("metadata_") in identifying
        ]
        return replace(
            run,
            config=self.config(run.config),
            units=units.drop(columns=gone).astype({"label": "str", "household": "str"}),
            left_out=run.left_out.assign(label="withheld"),
            notices=tuple(self.text(notice) for notice in run.notices),
        )

    def config(self, config: RunConfig) -> RunConfig:
        """The config without the names of households: that of a run of all of them."""
        if self._privacy == "keep":
            return config
        return config.change(household=None, households=None)

    def text(self, text: str) -> str:
        """A text in which every id of a household has its new name."""
        if self._privacy == "keep":
            return text
        return self._pattern.sub(lambda found: self._names[found[0]], text)

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table of the renamed run, without the column of households where ids are dropped."""
        if self._privacy != "drop":
            return table
        return table.drop(columns="household", errors="ignore")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _any_of(list(self._names))

    @cached_property
    def _identifying(self) -> frozenset[str]:
        kept = set(self.dataset.metadata.columns)
        return frozenset(name for name in self._true.metadata.columns if name not in kept)


def anonymise(dataset: Dataset, privacy: Privacy = "keep") -> Anonymous:
    """Choose names for the households of one export; another export has others.

    Parameters
    ----------
    privacy : {'keep', 'hash', 'drop'}
        Keep ids, replace them by keyed hashes, or drop them.
    """
    if privacy not in get_args(Privacy):
        raise InputError(f"privacy must be one of {', '.join(get_args(Privacy))}, got {privacy!r}")
    if privacy == "keep":
        return Anonymous(dataset, (), privacy, dataset, {})
    ids = [str(name) for name in dataset.households["household"]]
    name_of = _hashed() if privacy == "hash" else _numbered()
    names = {each: name_of(each) for each in ids}
    identifying = identifying_columns(dataset)
    kept = tuple(str(name) for name in dataset.metadata.columns if name not in identifying)
    renamed = RenamedDataset(
        dataset.path, dataset.manifest, names=tuple(names.values()), kept_metadata=kept
    )
    how = "are keyed hashes" if privacy == "hash" else "are dropped"
    withheld = [f"ids of households {how}", "the choice of households"]
    if identifying:
        withheld.append(f"{len(identifying)} columns of metadata that identify households")
    return Anonymous(renamed, tuple(withheld), privacy, dataset, names)


def identifying_columns(dataset: Dataset) -> list[str]:
    """Metadata columns that tell who a household is.

    Those in which more than a tenth of the households have a value that nobody else has, and
    those that hold an id.
    """
    ids = [str(name) for name in dataset.households["household"]]
    pattern = _any_of(ids)
    found = []
    for name, column in dataset.metadata.items():
        known = column.dropna()
        alone = (known.value_counts() == 1).sum()
        # Numbers are no ids, even where a household is called 7.
        numeric = pd.api.types.is_numeric_dtype(column.dtype)
        texts = [str(name), *([] if numeric else map(str, known.unique()))]
        holds_id = any(pattern.search(text) for text in texts)
        if alone > MOST_UNIQUE * len(ids) or holds_id:
            found.append(str(name))
    return found


def _any_of(ids: list[str]) -> re.Pattern[str]:
    """Finds any of the ids; those of a few characters only where they stand alone."""
    parts = [
        re.escape(each) if len(each) >= _LONG_ID else rf"(?<!\w){re.escape(each)}(?!\w)"
        # The longest first: an id may be the beginning of another.
        for each in sorted(filter(None, ids), key=len, reverse=True)
    ]
    return re.compile("|".join(parts) or r"(?!)")


def _hashed() -> Callable[[str], str]:
    key = secrets.token_bytes(32)

    def name(household: str) -> str:
        digest = hmac.new(key, household.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"h{digest.hexdigest()[:_HEX_DIGITS]}"

    return name


def _numbered() -> Callable[[str], str]:
    """Names that only tell households apart, in an order that tells nothing."""
    taken: set[str] = set()

    def name(household: str) -> str:
        while (chosen := f"household {secrets.randbelow(10**6):06d}") in taken:
            pass
        taken.add(chosen)
        return chosen

    return name
