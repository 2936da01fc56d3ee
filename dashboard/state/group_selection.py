"""The chosen homes as a group: how they were chosen, and what they are compared with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import param

from core.errors import InputError
from core.groups.grouping import LEAST_SIZE, MOST_GROUPS, REST
from dashboard.state.explorer import Explorer
from dashboard.state.map_colors import SEGMENTS

# Ways to choose homes; any other is an attribute of the households.
DRAWN, SAVED, SEGMENT, LISTED = "drawn on the map", "saved group", "segment", "list"
_NOT_ATTRIBUTES = (SAVED, SEGMENT, LISTED)

CHOSEN = "chosen homes"


@dataclass(frozen=True, eq=False)
class Origin:
    """How the homes of a group were chosen.

    Attributes
    ----------
    rows : ndarray of int
        Of the map.
    name : str
        What the group is called.
    kind, value : str
        The way they were chosen, and what was chosen there.
    """

    rows: np.ndarray
    name: str
    kind: str
    value: str


class GroupSelection(param.Parameterized):
    """Chooses homes on the map by what is known of them, and says against whom they stand."""

    against: Any = param.String(
        default="", doc="One of the other groups; all other homes where empty"
    )

    def __init__(self, explorer: Explorer) -> None:
        super().__init__()
        self.explorer = explorer
        self._origin: Origin | None = None

    # Choosing

    def kinds(self) -> list[str]:
        """The ways to choose homes on this map."""
        kinds = [DRAWN]
        if self.explorer.groups.groups:
            kinds.append(SAVED)
        if SEGMENTS in self.explorer.labels:
            kinds.append(SEGMENT)
        return [*kinds, LISTED, *map(str, self.explorer.dataset.metadata.columns)]

    def values(self, kind: str) -> dict[str, np.ndarray]:
        """What can be chosen in one way: rows of the map, by their name."""
        if kind == DRAWN or not self.explorer.judges_households:
            return {}
        if kind == SAVED:
            return {name: self._rows(own) for name, own in self.explorer.groups.groups.items()}
        if kind == SEGMENT:
            return self._segments()
        return self._lists() if kind == LISTED else self._by_attribute(kind)

    def _segments(self) -> dict[str, np.ndarray]:
        labels = np.array(self.explorer.labels_of(SEGMENTS, np.arange(self.explorer.run.n)))
        names = dict.fromkeys(self.explorer.labels.get(SEGMENTS, {}).values())
        return {name: np.flatnonzero(labels == name) for name in names}

    def _lists(self) -> dict[str, np.ndarray]:
        explorer = self.explorer
        lists = {"isolated on this map": np.asarray(explorer.run.hdr.anomalies)}
        if explorer.unusual is not None:
            lists["unusual homes"] = explorer.unusual.rows
        worklist = explorer.flagged.worklist
        lists["worklist"] = self._rows(worklist.cases())
        for verdict in worklist.counts():
            lists[f"worklist: {verdict}"] = self._rows(worklist.with_verdict(verdict))
        return {name: rows for name, rows in lists.items() if len(rows)}

    def _by_attribute(self, name: str) -> dict[str, np.ndarray]:
        dataset = self.explorer.dataset
        column = dataset.metadata.set_axis(dataset.households["household"])[name]
        own = column.reindex(self._homes()).reset_index(drop=True).dropna()
        if own.nunique() > MOST_GROUPS:
            raise InputError(
                f"{name} has {own.nunique():,} different values, more than the {MOST_GROUPS} that "
                "can be chosen from; colour the map by it and draw a lasso instead."
            )
        return {_words(value): rows.index.to_numpy() for value, rows in own.groupby(own, sort=True)}

    def choose(self, kind: str, value: str) -> None:
        """Choose the homes that a value of :meth:`values` stands for."""
        rows = np.sort(self.values(kind).get(value, np.empty(0, np.int64)))
        self._origin = Origin(rows, _name(kind, value), kind, value)
        self.explorer.chosen = rows

    @property
    def origin(self) -> Origin | None:
        """How the homes were chosen; None if they were drawn on the map."""
        found, explorer = self._origin, self.explorer
        if found is None or not np.array_equal(found.rows, np.sort(explorer.chosen)):
            return None
        is_forgotten = found.kind == SAVED and found.value not in explorer.groups.groups
        return None if is_forgotten else found

    @property
    def title(self) -> str:
        """What the group is called."""
        return CHOSEN if self.origin is None else self.origin.name

    @property
    def attribute(self) -> str:
        """The attribute that made the group; empty if another thing did."""
        origin = self.origin
        return "" if origin is None or origin.kind in _NOT_ATTRIBUTES else origin.kind

    @property
    def homes(self) -> tuple[str, ...]:
        """The chosen homes; none on a map of half-hours."""
        explorer = self.explorer
        if not explorer.judges_households:
            return ()
        return tuple(explorer.household_of(row) for row in np.sort(explorer.chosen))

    # Comparing

    def others(self) -> dict[str, tuple[str, ...]]:
        """Groups to compare with: other values of the attribute, other segments, saved groups."""
        origin, homes, found = self.origin, self._homes(), {}
        if origin is not None and origin.kind not in (SAVED, LISTED):
            found = {
                _name(origin.kind, value): tuple(homes[row] for row in rows)
                for value, rows in self.values(origin.kind).items()
                if value != origin.value and len(rows) >= LEAST_SIZE
            }
        saved = self.explorer.groups.groups
        return found | {name: own for name, own in saved.items() if name != self.title}

    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, str]]:
        """The two groups and their names, or what is wrong with them in a sentence."""
        if not self.explorer.judges_households:
            raise InputError(
                "Groups are made of homes, and a point of this map is a half-hour. Go back to a "
                "map of households to compare groups."
            )
        own, every = self.homes, self._homes()
        if len(own) < LEAST_SIZE:
            homes = "home is" if len(own) == 1 else "homes are"
            raise InputError(
                f"{len(own)} {homes} chosen; a group needs at least {LEAST_SIZE}, since fewer say "
                "nothing of a group. Choose more."
            )
        if self.against:
            other = self.others().get(self.against, ())
            shared = set(own) & set(other)
            if shared:
                some = ", ".join(sorted(shared)[:3])
                raise InputError(
                    f"{len(shared)} of the chosen homes are in “{self.against}”, too, such as "
                    f"{some}. Groups that are compared share no home: choose others, or compare "
                    f"with {REST}."
                )
            return own, other, (self.title, self.against)
        rest = tuple(home for home in every if home not in set(own))
        if len(rest) < LEAST_SIZE:
            raise InputError(
                f"{len(own)} of {len(every)} homes are chosen, and fewer than {LEAST_SIZE} are "
                "left to compare them with. Choose fewer."
            )
        return own, rest, (self.title, REST)

    def _homes(self) -> list[str]:
        return [str(home) for home in self.explorer.run.units["household"]]

    def _rows(self, homes: Mapping[str, Any] | list[str] | tuple[str, ...]) -> np.ndarray:
        wanted = pd.Index(self._homes()).get_indexer(list(homes))
        return np.sort(wanted[wanted >= 0])


def _name(kind: str, value: str) -> str:
    """What a group is called that was chosen in one way."""
    return value if kind in _NOT_ATTRIBUTES else f"{kind} {value}"


def _words(value: Any) -> str:
    """A value as people write it: 3, not 3.0."""
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)
