"""The scores of new points on a map, each found by itself, here or by the workers of an engine."""

import hashlib
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from core.anomalies import surprise_of_new
from core.embedding.landmarks import barycentric_places
from core.embedding.spectral import RIDGE
from core.engine import Engine, SharedArray
from core.errors import InputError
from core.neighbors import build_index
from core.parallel import available_cores, iter_results
from core.placement.saved_map import SavedMap
from core.progress import Progress, part, silent
from core.vectors import Vectors, statistical_distance

# Batches for each worker: enough that none waits long for the last one.
_BATCHES_PER_WORKER = 4


@dataclass(frozen=True, eq=False)
class NewPoints:
    """Points to score.

    Attributes
    ----------
    x : float32 ndarray of shape (m, p)
        Coordinates, as those of the map's points.
    block_sizes : ndarray of shape (m, blocks)
        Readings behind each block.
    known : int64 ndarray of shape (m,)
        The same unit's place among the map's points; −1 for a unit that is not on it.
    """

    x: np.ndarray
    block_sizes: np.ndarray
    known: np.ndarray


@dataclass(frozen=True, eq=False)
class Scores:
    """Where new points would be on a map, and how usual that is. Arrays are of shape (m,).

    Attributes
    ----------
    first : int
        Which of all new points comes first.
    y : ndarray of shape (m, dim)
        Places on the map.
    density : ndarray
        Of the map's points there, per unit area, or corrected as the map's own.
    level : ndarray
        Codes of :data:`core.density.LEVELS`: the highest density region that the place is in.
    rank : ndarray
        What the rank of the point would be among those of the map; 1 is the most anomalous.
    isolation : ndarray
        The distance to the K-th nearest point of the map.
    isolation_rank : ndarray
        What the rank by isolation would be. A point unlike all others is placed among those that
        it is least unlike, where the map may be dense; isolation shows that.
    surprise : ndarray
        How far the point is from what its neighbours on the map lead one to expect, in the map's
        own units, see :mod:`core.anomalies.surprise`.
    surprise_rank : ndarray
        What the rank by surprise would be.
    nearest : ndarray of int64
        The nearest other point of the map.
    """

    first: int
    y: np.ndarray
    density: np.ndarray
    level: np.ndarray
    rank: np.ndarray
    isolation: np.ndarray
    isolation_rank: np.ndarray
    surprise: np.ndarray
    surprise_rank: np.ndarray
    nearest: np.ndarray


@dataclass(frozen=True, eq=False)
class PointBatch:
    """Some of the new points, ``start`` … ``stop`` − 1, and the map, as files."""

    map_path: Path
    x: SharedArray
    block_sizes: SharedArray
    known: SharedArray
    start: int
    stop: int

    def __str__(self) -> str:
        return f"placing points {self.start:,}–{self.stop:,}"


def score(
    saved: SavedMap,
    new: NewPoints,
    *,
    engine: Engine,
    threads: int | None = None,
    progress: Progress = silent,
) -> Scores:
    """Score new points, in batches where the engine has several workers."""
    if saved.n < 2:
        raise InputError("the map has a single point; new ones need several to be compared with")
    if engine.in_process:
        return score_here(saved, new, threads=threads, progress=progress)
    m = len(new.x)
    size = -(-m // min(m, _BATCHES_PER_WORKER * engine.workers))
    with engine.job(f"place-{_digest(saved, new)}") as job:
        shared = job.share({each.name: getattr(new, each.name) for each in fields(NewPoints)})
        batches = [
            PointBatch(saved.path.absolute(), **shared, start=start, stop=min(start + size, m))
            for start in range(0, m, size)
        ]
        found = sorted(
            iter_results(job.map, score_batch, batches, progress, "Placing points"),
            key=lambda scores: scores.first,
        )
    names = [each.name for each in fields(Scores) if each.name != "first"]
    return Scores(
        0, **{name: np.concatenate([getattr(part, name) for part in found]) for name in names}
    )


def score_batch(batch: PointBatch) -> Scores:
    """Score a batch; a task keeps to one thread, the engine does several at once."""
    rows = slice(batch.start, batch.stop)
    new = NewPoints(batch.x.read()[rows], batch.block_sizes.read()[rows], batch.known.read()[rows])
    return replace(score_here(_open_map(batch.map_path), new, threads=1), first=batch.start)


@lru_cache(maxsize=1)
def _open_map(path: Path) -> SavedMap:
    return SavedMap.open(path)


def score_here(
    saved: SavedMap, new: NewPoints, *, threads: int | None = None, progress: Progress = silent
) -> Scores:
    """Score new points in this process."""
    threads = threads or available_cores()
    points = Vectors.from_array(new.x, distance=saved.config.distance, blocks=saved.vectors.blocks)
    both = replace(
        points,
        x=np.concatenate([saved.vectors.x, new.x]),
        block_sizes=np.concatenate([saved.vectors.block_sizes, new.block_sizes]),
    )
    n, m, known = saved.n, len(new.x), new.known
    k = min(saved.config.k, n - 1)
    # One more than K: the unit itself may be among them.
    found = build_index(saved.vectors, backend="exact").query(
        points, k + 1, threads=threads, progress=part(progress, 0.0, 0.5)
    )
    indices, distances = found.indices, found.distances
    with threadpool_limits(1, user_api="blas"):
        y = barycentric_places(
            saved.y,
            indices[:, :k],
            both,
            np.arange(n, n + m),
            np.arange(n),
            ridge=RIDGE,
            threads=threads,
            progress=part(progress, 0.5, 0.7),
        )
    y, unchanged = _on_what_is_there(y, both, saved, known, indices, distances)
    progress(0.7, "Estimating density")
    others = _without(known, indices)
    near, apart = (np.take_along_axis(a, others, axis=1) for a in (indices, distances))
    if saved.metric is None or saved.corrected is None:
        density = saved.landscape.at(y, left_out=known, threads=threads)
    else:
        area = np.sqrt(np.linalg.det(saved.metric.at(saved.y, y, near, apart)))
        density = saved.corrected.at(y, area, left_out=known, threads=threads)
    isolation = apart[:, -1]
    surprise = surprise_of_new(
        both, near, saved.expectation, threads=threads, progress=part(progress, 0.8, 1.0)
    ).score
    as_before = known[unchanged]
    density[unchanged] = saved.density[as_before]
    isolation[unchanged] = saved.isolation[as_before]
    surprise[unchanged] = saved.expectation.score[as_before]
    ranks = {
        "density": _would_be_rank(density, saved.density, known),
        "isolation": _would_be_rank(-isolation, -saved.isolation, known),
        "surprise": _would_be_rank(-surprise, -saved.expectation.score, known),
    }
    rank = ranks[saved.config.rank_by].copy()
    # Ties on the map were decided by more than the score.
    rank[unchanged] = saved.rank[as_before]
    level = (density[:, None] < saved.thresholds).sum(axis=1).astype(np.int8)
    level[unchanged] = saved.level[as_before]
    return Scores(
        first=0,
        y=y,
        density=density,
        level=level,
        rank=rank,
        isolation=isolation,
        isolation_rank=ranks["isolation"],
        surprise=surprise,
        surprise_rank=ranks["surprise"],
        nearest=near[:, 0].astype(np.int64),
    )


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


def _digest(saved: SavedMap, new: NewPoints) -> str:
    content = hashlib.sha256(saved.digest.encode())
    for each in fields(NewPoints):
        content.update(np.ascontiguousarray(getattr(new, each.name)).data)
    return content.hexdigest()[:32]
