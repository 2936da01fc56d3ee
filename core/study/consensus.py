"""Which anomalies several runs agree on, and which depend on how the map was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.errors import InputError


@dataclass(frozen=True, eq=False, kw_only=True)
class Consensus:
    """In how many runs every point is among the top anomalies.

    Attributes
    ----------
    count : int64 ndarray of shape (n,)
        Runs in which a point is among the top.
    by : mapping of str to int64 ndarray of shape (n,)
        The same among the runs of each group, such as those of one method.
    sizes : mapping of str to int
        Runs of each group.
    median_rank, best_rank, worst_rank : float64 ndarrays of shape (n,)
        Over all runs; 1 is the most anomalous.
    runs : int
        How many runs there are.
    rankings : int
        How many different orders they put the points in: runs that rank by the same numbers agree
        whatever else they do.
    n_top : int
        How many points of a run are its top, if none tie.
    """

    count: np.ndarray
    by: Mapping[str, np.ndarray]
    sizes: Mapping[str, int]
    median_rank: np.ndarray
    best_rank: np.ndarray
    worst_rank: np.ndarray
    runs: int
    rankings: int
    n_top: int

    @property
    def points(self) -> np.ndarray:
        """Rows that any run has among its top, those that most agree on first."""
        named = np.flatnonzero(self.count)
        return named[np.lexsort((named, self.median_rank[named], -self.count[named]))]

    @property
    def agreed(self) -> np.ndarray:
        """Rows that every run has among its top, by their median rank."""
        points = self.points
        return points[self.count[points] == self.runs]

    def table(
        self, labels: Sequence[str] | pd.Series, rows: np.ndarray | None = None
    ) -> pd.DataFrame:
        """One row for each of `points`, or of some rows: its name, how many runs agree, its ranks.

        Columns ``row``, ``label``, ``runs``, ``share``, ``median rank``, ``best``, ``worst``, then
        one for each group if there are several.
        """
        rows = self.points if rows is None else rows
        columns = {
            "row": rows,
            "label": np.asarray(labels, dtype=object)[rows],
            "runs": self.count[rows],
            "share": self.count[rows] / self.runs,
            "median rank": self.median_rank[rows],
            "best": self.best_rank[rows],
            "worst": self.worst_rank[rows],
        }
        if len(self.by) > 1:
            columns |= {group: counted[rows] for group, counted in self.by.items()}
        return pd.DataFrame(columns)


def find_consensus(
    ranks: Sequence[np.ndarray] | np.ndarray, *, n_top: int = 10, by: Sequence[str] | None = None
) -> Consensus:
    """Count in how many runs every point is among the top anomalies.

    Parameters
    ----------
    ranks : sequence of runs, each (n,)
        1 is the most anomalous; points that tie share a rank, whichever of their places it is. A
        point is among the top if fewer than ``n_top`` points are more anomalous, so those that tie
        at the end are all in. Ranks of different criteria can be mixed: only their order counts.
    n_top : int
        How many are the top of a run; no more than there are points.
    by : sequence of str, optional
        The group of each run, such as its method or what it ranks by.
    """
    if not len(ranks):
        raise InputError("there are no runs to agree or disagree; make at least one")
    lengths = {len(rank) for rank in ranks}
    if len(lengths) > 1:
        raise InputError(
            "runs agree point by point and must have the same points; "
            f"got runs of {' and '.join(f'{length:,}' for length in sorted(lengths))} points"
        )
    if n_top < 0:
        raise InputError(f"n_top must be 0 or more, got {n_top}")
    groups = ["all"] * len(ranks) if by is None else [str(group) for group in by]
    if len(groups) != len(ranks):
        raise InputError(f"each run needs its group: got {len(groups)} for {len(ranks)} runs")
    places = np.stack([_places(np.asarray(rank)) for rank in ranks])
    named = places <= n_top
    members = {group: [other == group for other in groups] for group in dict.fromkeys(groups)}
    return Consensus(
        count=named.sum(axis=0),
        by={group: named[member].sum(axis=0) for group, member in members.items()},
        sizes={group: sum(member) for group, member in members.items()},
        median_rank=np.median(places, axis=0),
        best_rank=places.min(axis=0).astype(np.float64),
        worst_rank=places.max(axis=0).astype(np.float64),
        runs=len(places),
        rankings=len({row.tobytes() for row in places}),
        n_top=n_top,
    )


def _places(rank: np.ndarray) -> np.ndarray:
    """1 more than the number of points before each point, so the same for those that tie."""
    if not np.isfinite(rank).all():
        raise InputError("every point needs a rank; got NaN or infinity")
    if rank.dtype.kind in "iu" and _is_permutation(rank):
        return rank.astype(np.int64)
    return np.searchsorted(np.sort(rank), rank, side="left") + 1


def _is_permutation(rank: np.ndarray) -> bool:
    """Whether ranks are 1 … n, each once, as those of a run are: nothing is left to sort."""
    n = len(rank)
    return bool(
        n and rank.min() == 1 and rank.max() == n and np.bincount(rank, minlength=n + 1).max() == 1
    )
