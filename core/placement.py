"""New points on an existing map: where they would be, and how usual that is.

Nothing is fitted again. A new point is counted in the map's own bins and compared with the map's
points in its own distance; it is placed by the barycentric weights that best rebuild it from its K
nearest points, and scored by the density of the map there. Each new point is treated by itself:
alone or among a million others it gets the same place and the same score.

A unit that is on the map already, known by its household and label, does not count at its own
place, as in the scores of the map itself; if its distribution has not changed, neither does its
place, density or rank.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from core.cube import recount
from core.density import LEVELS
from core.distance import Vectors, make_vectors, statistical_distance
from core.embedding.landmarks import barycentric_places
from core.embedding.spectral import RIDGE
from core.engine import Engine
from core.errors import InputError
from core.neighbors.among import nearest_among
from core.neighbors.threads import available_threads
from core.progress import Progress, part, silent
from core.readings.dataset import Dataset
from core.saved_map import SavedMap, as_coordinates
from core.slots import parse_slots
from core.surprise import surprise_of_new


@dataclass(frozen=True, eq=False, kw_only=True)
class Placement:
    """New points on a map. Arrays are of shape (m,), one entry a new point.

    Attributes
    ----------
    units : DataFrame of m rows
        ``label``, ``household`` and, where the unit has one, ``slot``.
    sample_size : ndarray
        Readings behind each point.
    left_out : DataFrame
        ``label``, ``m`` and ``reason`` of units that were not placed.
    y : ndarray of shape (m, dim)
        Places on the map.
    density : ndarray
        Of the map's points there, per unit area.
    level : ndarray
        Codes of :data:`core.density.LEVELS`: the highest density region that the place is in.
    rank : ndarray
        What the rank of the point would be among those of the map; 1 is the most anomalous.
    isolation : ndarray
        The distance to the K-th nearest point of the map.
    isolation_rank : ndarray
        What the rank by isolation would be. A point unlike all others is placed among those that
        it is least unlike, where the map may be dense: this tells.
    surprise : ndarray
        How far the point is from what its neighbours on the map lead one to expect, in the map's
        own units, see :mod:`core.surprise`.
    surprise_rank : ndarray
        What the rank by surprise would be.
    known : ndarray of int64
        The same unit's place among the map's points; −1 for a unit that is not on it.
    nearest : ndarray of int64
        The nearest other point of the map.
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
        """Return one row a point, with the columns of a run's table and those of placement."""
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
        Who counts the readings; threads of this process by default.
    threads : int, optional
        All cores by default. The result does not depend on them.
    progress : Progress
        Told how far the work is; may raise to stop it.
    """
    config = saved.config
    if dataset.interval_minutes != saved.interval_minutes:
        raise InputError(
            f"the map has slots of {saved.interval_minutes} minutes and {dataset.path} has "
            f"readings every {dataset.interval_minutes}; they cannot be compared"
        )
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
    return place_vectors(saved, vectors, threads=threads, progress=part(progress, 0.4, 1.0))


def place_vectors(
    saved: SavedMap, vectors: Vectors, *, threads: int | None = None, progress: Progress = silent
) -> Placement:
    """Place vectors that were made as the map's own, in its bins; see :func:`place`."""
    if saved.n < 2:
        raise InputError("the map has a single point; new ones need several to be compared with")
    threads = threads or available_threads()
    new = as_coordinates(vectors)
    both = replace(
        Vectors.from_array(
            np.concatenate([saved.vectors.x, new.x]),
            distance=saved.config.distance,
            blocks=saved.vectors.blocks,
        ),
        block_sizes=np.concatenate([saved.vectors.block_sizes, new.block_sizes]),
    )
    n, m = saved.n, len(new.x)
    known = _known(saved.vectors.units, new.units)
    k = min(saved.config.k, n - 1)
    # One more than K: the unit itself may be among them.
    indices, distances = nearest_among(
        both, n, k + 1, threads=threads, progress=part(progress, 0.0, 0.6)
    )
    with threadpool_limits(1, user_api="blas"):
        y = barycentric_places(
            saved.y,
            indices[:, :k],
            both,
            np.arange(n, n + m),
            np.arange(n),
            ridge=RIDGE,
            threads=threads,
            progress=part(progress, 0.6, 0.8),
        )
    y, unchanged = _on_what_is_there(y, both, saved, known, indices, distances)
    progress(0.8, "Estimating density")
    density = saved.landscape.at(
        y, left_out=known, threads=threads, progress=part(progress, 0.8, 1.0)
    )
    density[unchanged] = saved.density[known[unchanged]]
    others = _without(known, indices)
    near, apart = (np.take_along_axis(a, others, axis=1) for a in (indices, distances))
    isolation = apart[:, -1]
    surprise = surprise_of_new(both, near, saved.expectation, threads=threads).score
    isolation[unchanged] = saved.isolation[known[unchanged]]
    surprise[unchanged] = saved.surprise[known[unchanged]]
    ranks = {
        "density": _would_be_rank(density, saved.density, known),
        "isolation": _would_be_rank(-isolation, -saved.isolation, known),
        "surprise": _would_be_rank(-surprise, -saved.surprise, known),
    }
    rank = ranks[saved.config.rank_by].copy()
    # Ties on the map were settled by more than the score.
    rank[unchanged] = saved.rank[known[unchanged]]
    return Placement(
        units=vectors.units,
        sample_size=vectors.sample_size,
        left_out=vectors.left_out if vectors.left_out is not None else pd.DataFrame(),
        y=y,
        density=density,
        level=(density[:, None] < saved.thresholds).sum(axis=1).astype(np.int8),
        rank=rank,
        isolation=isolation,
        isolation_rank=ranks["isolation"],
        surprise=surprise,
        surprise_rank=ranks["surprise"],
        known=known,
        nearest=near[:, 0].astype(np.int64),
        n_map=n,
        notices=vectors.notices,
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


def _on_what_is_there(
    y: np.ndarray,
    both: Vectors,
    saved: SavedMap,
    known: np.ndarray,
    indices: np.ndarray,
    distances: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Put points that equal points of the map upon them; return places and the units unchanged."""
    same = distances == 0
    for point in np.flatnonzero(same[:, 0]):
        y[point] = saved.y[indices[point, same[point]]].mean(axis=0)
    on_map = np.flatnonzero(known >= 0)
    moved = statistical_distance(both, saved.n + on_map, known[on_map])
    unchanged = on_map[moved == 0]
    y[unchanged] = saved.y[known[unchanged]]
    return y, unchanged


def _without(known: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Columns of all neighbours but one: the unit itself, or the last where it is not there."""
    itself = indices == known[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.argsort(itself, axis=1, kind="stable")[:, :-1]


def _would_be_rank(value: np.ndarray, on_map: np.ndarray, known: np.ndarray) -> np.ndarray:
    """One more than the number of other points of the map that have less."""
    less = np.searchsorted(np.sort(on_map), value, side="left")
    own = (known >= 0) & (on_map[known] < value)
    return less - own + 1
