"""Named groups of households: from an attribute, or from a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from core.errors import InputError
from core.readings import Dataset

# A group needs so many households: one home says nothing of a group, and two have no spread.
LEAST_SIZE = 3

# More groups than this are not read side by side.
MOST_GROUPS = 20

REST = "the rest"

_FILE_LIMIT = 50_000_000


@dataclass(frozen=True)
class Grouping:
    """Named groups of households; no household is in two of them.

    Attributes
    ----------
    groups : mapping of str to tuple of str
        The ids of every group's households, by its name.
    households : tuple of str
        All households that are compared, those in no group included.
    notices : tuple of str
        What the user should know, such as groups that are too small.
    """

    groups: Mapping[str, tuple[str, ...]]
    households: tuple[str, ...]
    notices: tuple[str, ...] = ()

    def rest(self, name: str) -> tuple[str, ...]:
        """Return the households that are not in a group."""
        own = set(self.members(name))
        return tuple(household for household in self.households if household not in own)

    def members(self, name: str) -> tuple[str, ...]:
        """Return the households of a group, or say which groups there are."""
        if name not in self.groups:
            raise InputError(f"there is no group {name!r}; there are {_names(self.groups)}")
        return self.groups[name]

    def pairs(self, against: str | None = None) -> list[tuple[str, str]]:
        """Return which groups are compared with which, by their names.

        Two groups that hold every household are compared with each other, once. Otherwise each
        group is compared with the rest, or all with the one that ``against`` names.
        """
        if against is not None:
            self.members(against)
            return [(name, against) for name in self.groups if name != against]
        names = list(self.groups)
        if len(names) == 2 and not set(self.rest(names[0])) - set(self.groups[names[1]]):
            return [(names[0], names[1])]
        return [(name, REST) for name in names]

    def sides(self, first: str, second: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the households of both sides of a pair."""
        other = self.rest(first) if second == REST else self.members(second)
        return self.members(first), other


def group_by(
    dataset: Dataset, attribute: str, *, households: Sequence[str] | None = None
) -> Grouping:
    """Group households by a metadata column; those without a value are in no group.

    Groups of fewer than three households are left out and named.
    """
    metadata = dataset.metadata
    if attribute not in metadata.columns:
        known = f"it has {_names(metadata.columns)}" if len(metadata.columns) else "it has none"
        raise InputError(
            f"the dataset has no attribute {attribute!r}; {known}. Attributes come from the table "
            "given to ingest --metadata; --groups FILE names groups without one"
        )
    ids = dataset.households["household"]
    column = metadata[attribute].set_axis(ids)
    if households is not None:
        for household in households:
            dataset.code(household)
        column = column[list(dict.fromkeys(households))]
    values = column.dropna()
    if values.nunique() > MOST_GROUPS:
        raise InputError(
            f"{attribute!r} has {values.nunique():,} different values, and at most {MOST_GROUPS} "
            "groups are compared; put the values into a few groups yourself and give them as "
            "--groups FILE, a CSV with the columns household and group"
        )
    found = {_plain(value): tuple(own.index) for value, own in values.groupby(values, sort=True)}
    return make_grouping(found, tuple(column.index), what=f"the attribute {attribute!r}")


def read_groups(
    path: str | Path, dataset: Dataset, *, households: Sequence[str] | None = None
) -> Grouping:
    """Read groups from a file.

    Parameters
    ----------
    path : path
        CSV with the columns ``household`` and ``group``, or JSON ``{"group": ["id", …]}``.
    dataset : Dataset
        Every household of the file must be in it.
    households : sequence of household ids, optional
        Compare these alone; all by default.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _FILE_LIMIT:
            raise InputError(f"{path} is too large for a list of groups")
        pairs = _read_json(path) if path.suffix.lower() == ".json" else _read_csv(path)
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{path} cannot be read as groups ({reason!s:.300}); give a CSV with the columns "
            'household and group, or JSON {"group": ["id", …]}'
        ) from error
    members: dict[str, list[str]] = {}
    for household, group in pairs:
        dataset.code(household)
        members.setdefault(group, []).append(household)
    every = dataset.households["household"].tolist()
    return make_grouping(
        {name: tuple(dict.fromkeys(own)) for name, own in members.items()},
        tuple(every if households is None else dict.fromkeys(households)),
        what=str(path),
    )


def make_grouping(
    groups: Mapping[str, tuple[str, ...]], households: tuple[str, ...], *, what: str
) -> Grouping:
    """Check groups and put them together; ``what`` is where they come from, for the messages."""
    known = set(households)
    groups = {name: tuple(each for each in own if each in known) for name, own in groups.items()}
    owner: dict[str, str] = {}
    for name, own in groups.items():
        for household in own:
            if household in owner:
                raise InputError(
                    f"{what}: household {household} is in {owner[household]!r} and in {name!r}; "
                    "groups that are compared share no household: put it into one of them"
                )
            owner[household] = name
    small = {name: len(own) for name, own in groups.items() if len(own) < LEAST_SIZE}
    kept = {name: own for name, own in groups.items() if name not in small}
    if not kept:
        sizes = ", ".join(f"{name!r} has {size}" for name, size in list(small.items())[:5])
        raise InputError(
            f"{what}: a group needs at least {LEAST_SIZE} households, and "
            + (sizes or "no household is in any")
        )
    notices = [
        f"group {name!r} is left out: it has {size} household{'' if size == 1 else 's'}, and a "
        f"group needs {LEAST_SIZE}"
        for name, size in small.items()
    ]
    grouping = Grouping(kept, households, tuple(notices))
    if len(kept) == 1:
        [name] = kept
        if len(grouping.rest(name)) < LEAST_SIZE:
            raise InputError(
                f"{what}: group {name!r} holds {len(kept[name])} of {len(households)} households, "
                f"and too few are left to compare it with; at least {LEAST_SIZE} others are needed"
            )
    return grouping


def _read_json(path: Path) -> list[tuple[str, str]]:
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(content, dict) or not all(isinstance(own, list) for own in content.values()):
        raise ValueError("it holds no object of lists")
    return [(str(each), str(name)) for name, own in content.items() for each in own]


def _read_csv(path: Path) -> list[tuple[str, str]]:
    table = pd.read_csv(path, dtype="str", encoding="utf-8-sig")
    for column in ("household", "group"):
        if column not in table.columns:
            raise ValueError(f"it has no column {column!r}, but {_names(table.columns)}")
    table = table.dropna(subset=["household", "group"])
    return list(zip(table["household"], table["group"], strict=True))


def _plain(value: object) -> str:
    """A value as people write it: 3, not 3.0."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _names(names: Iterable[object]) -> str:
    shown = [repr(str(name)[:60]) for name in names]
    return ", ".join(shown[:10]) + (f" and {len(shown) - 10} more" if len(shown) > 10 else "")
