"""New points on an existing map: where they would be, and how usual that is.

Nothing is fitted again. A new point is counted in the map's own bins and compared with the map's
points in its own distance; it is placed by the barycentric weights that best rebuild it from its K
nearest points, and scored by the density of the map there. Each new point is treated by itself:
alone or among a million others it gets the same place and the same score.

A unit that is on the map already, known by its household and label, does not count at its own
place, as in the scores of the map itself; if its distribution has not changed, neither does its
place, density or rank.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from core.cube import recount
from core.density import LEVELS
from core.engine import Engine, Local
from core.errors import InputError
from core.placement.saved_map import SavedMap, check_interval
from core.placement.scoring import NewPoints, Scores, score
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.slots import parse_slots
from core.summary import Summarized
from core.vectors import Vectors, make_vectors


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Placement(Summarized):
    """New points on a map. Arrays are of shape (m,), one entry per new point.

    Attributes
    ----------
    units : DataFrame of m rows
        ``label``, ``household`` and, where the unit has one, ``slot``.
    sample_size : ndarray
        Readings behind each point.
    left_out : DataFrame
        ``label``, ``m`` and ``reason`` of units that were not placed.
    y, density, level, rank, isolation, isolation_rank, surprise, surprise_rank, nearest : ndarrays
        As in :class:`core.placement.scoring.Scores`.
    known : ndarray of int64
        The same unit's place among the map's points; −1 for a unit that is not on it.
    n_map : int
        How many points the map has.
    notices : tuple of str
        What the user should know.
    """

    units: pd.DataFrame
    sample_size: np.ndarray
    left_out: pd.DataFrame
    y: np.ndarray
    density: np.ndarray
    level: np.ndarray
    rank: np.ndarray
    isolation: np.ndarray
    isolation_rank: np.ndarray
    surprise: np.ndarray
    surprise_rank: np.ndarray
    known: np.ndarray
    nearest: np.ndarray
    n_map: int
    notices: tuple[str, ...]

    @property
    def labels(self) -> np.ndarray:
        """The level of every point in words: ``1``, ``20``, … ``>99``."""
        return np.array(LEVELS)[self.level]

    def table(self) -> pd.DataFrame:
        """Return one row per point, with the columns of a run's table and those of placement."""
        names = [name for name in ("label", "household", "slot") if name in self.units]
        return pd.DataFrame(
            {
                **{name: self.units[name] for name in names},
                **{f"y{axis + 1}": self.y[:, axis] for axis in range(self.y.shape[1])},
                "density": self.density,
                "hdr": pd.Series(self.labels, dtype="str"),
                "rank": self.rank,
                "m": self.sample_size,
                "isolation": self.isolation,
                "isolation_rank": self.isolation_rank,
                "surprise": self.surprise,
                "surprise_rank": self.surprise_rank,
                "on_map": self.known >= 0,
            }
        )


def place(
    saved: SavedMap,
    dataset: Dataset,
    *,
    household: str | None = None,
    households: tuple[str, ...] | None = None,
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Placement:
    """Place the units of a dataset on a map.

    Parameters
    ----------
    saved : SavedMap
    dataset : Dataset
        New households, or new weeks of the same.
    household : str, optional
        The one household of unit ``slots``; by default the map's own, or the only one there is.
    households : tuple of str, optional
        The households to place; all of the dataset by default.
    engine : Engine, optional
        Where readings are counted and points placed; threads of this process by default.
    threads : int, optional
        All cores by default. The result does not depend on them.
    progress : Progress
        Called with the share of the work that is done; may raise to stop it.
    """
    config = saved.config
    check_interval(saved, dataset)
    if config.unit == "slots":
        household = _choose_household(household, saved, dataset)
    cube = recount(
        dataset,
        edges=saved.edges,
        bins=config.bins,
        engine=engine,
        progress=part(progress, 0.0, 0.3),
    )
    vectors = make_vectors(
        cube,
        dataset,
        unit=config.unit,
        distance=config.distance,
        window=config.window,
        households=households,
        household=household,
        slots=None if config.slots is None else parse_slots(config.slots, saved.interval_minutes),
        minimum_sample=config.minimum_sample,
        progress=part(progress, 0.3, 0.4),
    )
    return place_vectors(
        saved, vectors, engine=engine, threads=threads, progress=part(progress, 0.4, 1.0)
    )


def place_vectors(
    saved: SavedMap,
    vectors: Vectors,
    *,
    engine: Engine | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Placement:
    """Place vectors that were made as the map's own, in its bins; see :func:`place`."""
    new = vectors.without_counts()
    known = _known(saved.vectors.units, new.units)
    scores = score(
        saved,
        NewPoints(new.x, new.sizes_of_blocks(), known),
        engine=engine or Local(threads),
        threads=threads,
        progress=progress,
    )
    return Placement(
        units=vectors.units,
        sample_size=vectors.sample_size,
        left_out=vectors.left_out if vectors.left_out is not None else pd.DataFrame(),
        known=known,
        n_map=saved.n,
        notices=vectors.notices,
        **{
            each.name: getattr(scores, each.name) for each in fields(Scores) if each.name != "first"
        },
    )


def placement_json(placement: Placement, saved: SavedMap, *, n_anomalies: int) -> dict[str, Any]:
    """Return what ``wattfold place --json`` prints."""
    labels, levels = placement.units["label"], placement.labels
    first = np.argsort(placement.rank, kind="stable")[:n_anomalies]
    near = saved.vectors.units["label"]
    return {
        "n": len(labels),
        "n_map": placement.n_map,
        "unit": saved.config.unit,
        "distance": saved.config.distance,
        "method": saved.config.method,
        "on_map": int((placement.known >= 0).sum()),
        "hdr": {level: int((levels == level).sum()) for level in LEVELS},
        "anomalies": [
            {
                "label": labels.iat[point],
                "density": float(placement.density[point]),
                "hdr": str(levels[point]),
                "rank": int(placement.rank[point]),
                "isolation": float(placement.isolation[point]),
                "isolation_rank": int(placement.isolation_rank[point]),
                "surprise": float(placement.surprise[point]),
                "surprise_rank": int(placement.surprise_rank[point]),
                "nearest": near.iat[placement.nearest[point]],
            }
            for point in first
        ],
        "left_out": placement.left_out.to_dict("records"),
        "notices": list(placement.notices),
        "config": saved.config.to_json(),
    }


def _choose_household(household: str | None, saved: SavedMap, dataset: Dataset) -> str:
    there = dataset.households["household"].tolist()
    if household is not None:
        return household
    if saved.config.household in there:
        return str(saved.config.household)
    if len(there) == 1:
        return str(there[0])
    raise InputError(
        f"the map shows the slots of one household and {dataset.path} has {len(there)} others; "
        "choose one with household"
    )


def _known(old: pd.DataFrame, new: pd.DataFrame) -> np.ndarray:
    """The place of each new unit among the old ones, −1 where it is not among them."""
    keys = ["household", "label"]
    index = pd.MultiIndex.from_frame(old[keys])
    return index.get_indexer(pd.MultiIndex.from_frame(new[keys])).astype(np.int64)
