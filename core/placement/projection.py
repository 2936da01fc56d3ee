"""Small samples on a map: months and weeks of its households.

A month has a tenth of the readings of a record, a week a fiftieth. In the thousands of bins of a
week most of what sets such samples apart is chance. So they are compared with the map's points in
the few directions in which those differ most (principal components of the probabilities, linear
and therefore right in the mean for samples of any size), and placed by the weights that best
rebuild them there from their nearest points. Each is placed by itself: alone or among a million
others it gets the same place.
"""

from dataclasses import dataclass
from typing import Self

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from core.cube import DayTable
from core.embedding.neighborhoods import barycentric_weights
from core.embedding.spectral import RIDGE
from core.parallel import run_tasks, slices
from core.progress import Progress, silent
from core.vectors import Vectors
from core.vectors.units import MAXIMUM_EMPTY

DIRECTIONS = 48

# Further random directions, and repetitions, that make the leading ones right.
_SPARE = 12
_ITERATIONS = 2
_SEED = 20_130_101

_ROWS_AT_ONCE = 2048
_HOUSEHOLDS_AT_ONCE = 8


@dataclass(frozen=True, eq=False)
class Projection:
    """The directions in which the points of a map differ most.

    Attributes
    ----------
    directions : ndarray of float32, shape (blocks, n_bins, r)
        Orthonormal over blocks and bins.
    offsets : ndarray of float64, shape (blocks, r)
        What the mean of the map's points has in each block and direction.
    scores : ndarray of float64, shape (n, r)
        The map's points, less their mean, in these directions.
    y : ndarray of shape (n, dim)
        Their places on the map.
    """

    directions: np.ndarray
    offsets: np.ndarray
    scores: np.ndarray
    y: np.ndarray

    @classmethod
    def fit(cls, vectors: Vectors, y: np.ndarray) -> Self:
        """Find the directions of a map's points.

        Parameters
        ----------
        vectors : Vectors
            The map's points.
        y : ndarray of shape (n, dim)
            Their places.
        """
        x = vectors.without_counts().x
        # √(p/2) is not right in the mean for small samples; p is.
        p = 2 * x * x if vectors.distance == "hellinger" else x
        r = min(DIRECTIONS, *p.shape)
        # One thread: the sums are then the same on every machine with these instructions.
        with threadpool_limits(1, user_api="blas"):
            mean = p.mean(axis=0, dtype=np.float64).astype(np.float32)
            basis = _leading_directions(p, mean, r)
            scores = (p @ basis - mean @ basis).astype(np.float64)
        blocked = basis.reshape(vectors.blocks, -1, r)
        offsets = np.einsum(
            "sb,sbr->sr", mean.reshape(vectors.blocks, -1), blocked, dtype=np.float64
        )
        return cls(np.ascontiguousarray(blocked), offsets, scores, np.asarray(y, np.float64))

    def place(
        self,
        scores: np.ndarray,
        *,
        k: int,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Place samples on the map.

        Parameters
        ----------
        scores : ndarray of shape (m, r)
            As :func:`project_steps` gives them; NaN for samples that cannot be placed.
        k : int
            How many of the map's points a sample is rebuilt from.

        Returns
        -------
        y : ndarray of shape (m, dim)
            NaN where the scores are.
        nearest : ndarray of int64, shape (m,)
            The nearest point of the map; −1 where the scores are NaN.
        distance : ndarray of shape (m,)
            The distance to the k-th nearest point, in these directions.
        """
        n, m = len(self.scores), len(scores)
        k = min(k, n)
        y = np.full((m, self.y.shape[1]), np.nan)
        nearest, distance = np.full(m, -1, np.int64), np.full(m, np.nan)
        squares = (self.scores**2).sum(axis=1)
        known = np.flatnonzero(np.isfinite(scores).all(axis=1))

        def work(part: slice) -> None:
            rows = known[part]
            apart = squares - 2 * scores[rows] @ self.scores.T
            found = np.argpartition(apart, k - 1, axis=1)[:, :k]
            order = np.take_along_axis(apart, found, axis=1).argsort(axis=1, kind="stable")
            found = np.take_along_axis(found, order, axis=1)
            local = self.scores[found] - scores[rows, None]
            weights = barycentric_weights(local @ local.transpose(0, 2, 1), RIDGE)
            y[rows] = np.einsum("ik,ikd->id", weights, self.y[found])
            nearest[rows] = found[:, 0]
            distance[rows] = np.sqrt((local[:, -1] ** 2).sum(axis=1))

        with threadpool_limits(1, user_api="blas"):
            run_tasks(work, slices(len(known), _ROWS_AT_ONCE))
        return y, nearest, distance


def project_steps(
    projection: Projection,
    table: DayTable,
    steps: np.ndarray,
    *,
    slots: np.ndarray,
    window: int,
    pooled: bool,
    minimum_sample: int,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the scores of parts of every household's record, such as its months.

    Parameters
    ----------
    projection : Projection
    table : DayTable
        The bins of the readings, in the map's own bins. The second reading of an hour that the
        clocks repeat is left out.
    steps : ndarray of int, shape (rows of the table,)
        Which part each day belongs to, not decreasing within a household; −1 for none.
    slots : ndarray of int
        The slots of the week that count, as in the map.
    window : int
        How many slots on either side a slot's sample takes in.
    pooled : bool
        Whether a sample is pooled over the slots, as for unit ``households``.
    minimum_sample : int
        Samples with fewer readings have no scores, and neither have those with more than 5 % of
        their slots empty.

    Returns
    -------
    scores : ndarray of shape (households, parts, r)
        NaN where there are none.
    sample_sizes : ndarray of int64, shape (households, parts)
        Readings in the slots that count.
    """
    n, parts = len(table.households), int(steps.max(initial=-1)) + 1
    r = projection.scores.shape[1]
    scores = np.full((n, parts, r), np.nan)
    sizes = np.zeros((n, parts), dtype=np.int64)
    weekdays = table.weekdays.astype(np.int64)

    def work(part: slice) -> None:
        _project(
            table.starts[part.start : part.stop + 1],
            weekdays,
            np.asarray(steps, np.int64),
            table.values,
            np.asarray(slots, np.int64),
            window,
            pooled,
            minimum_sample,
            projection.directions,
            projection.offsets,
            scores[part],
            sizes[part],
        )

    blocks = slices(n, _HOUSEHOLDS_AT_ONCE)
    run_tasks(work, blocks, progress=progress, message="comparing with the map")
    return scores, sizes


def _leading_directions(p: np.ndarray, mean: np.ndarray, r: int) -> np.ndarray:
    """Leading principal directions by random projection (Halko, Martinsson and Tropp 2011)."""
    rng = np.random.default_rng(_SEED)
    width = min(r + _SPARE, *p.shape)
    basis = rng.standard_normal((p.shape[1], width)).astype(np.float32)
    for _ in range(_ITERATIONS):
        sample, _ = np.linalg.qr(p @ basis - mean @ basis)
        basis, _ = np.linalg.qr(p.T @ sample - np.outer(mean, sample.sum(axis=0)))
    reduced = p @ basis - mean @ basis
    _, _, turns = np.linalg.svd(reduced, full_matrices=False)
    return np.ascontiguousarray(basis @ turns[:r].T)


@numba.njit(nogil=True, cache=True)
def _project(
    starts: np.ndarray,
    weekdays: np.ndarray,
    steps: np.ndarray,
    values: np.ndarray,
    slots: np.ndarray,
    window: int,
    pooled: bool,
    minimum_sample: int,
    directions: np.ndarray,
    offsets: np.ndarray,
    scores: np.ndarray,
    sizes: np.ndarray,
) -> None:
    """Write the scores of some households' parts."""
    n_bins, r = directions.shape[1], directions.shape[2]
    counts, touched = np.zeros(n_bins, np.int64), np.empty(n_bins, np.int64)
    total = np.empty(r, np.float64)
    for household in range(len(starts) - 1):
        stop = starts[household]
        while stop < starts[household + 1]:
            row, step = stop, steps[stop]
            while stop < starts[household + 1] and steps[stop] == step:
                stop += 1
            if step < 0:
                continue
            total[:] = 0.0
            empty, size, n_touched = 0, 0, 0
            for place in range(len(slots)):
                own, around, n_touched = _gather(
                    weekdays, values, row, stop, slots[place], window, counts, touched, n_touched
                )
                sizes[household, step] += own
                size += around
                if pooled and place + 1 < len(slots):
                    continue
                block = 0 if pooled else place
                # An empty slot is as the map's mean has it.
                if size == 0:
                    empty += 1
                else:
                    total -= offsets[block]
                for t in range(n_touched):
                    share = counts[touched[t]] / size
                    for d in range(r):
                        total[d] += share * directions[block, touched[t], d]
                    counts[touched[t]] = 0
                size, n_touched = 0, 0
            too_empty = empty > MAXIMUM_EMPTY * len(offsets)
            if sizes[household, step] >= minimum_sample and not too_empty:
                scores[household, step] = total


@numba.njit(nogil=True, cache=True)
def _gather(
    weekdays: np.ndarray,
    values: np.ndarray,
    row: int,
    stop: int,
    slot: int,
    window: int,
    counts: np.ndarray,
    touched: np.ndarray,
    n_touched: int,
) -> tuple[int, int, int]:
    """Count the bins of some days' readings in a slot and those beside it.

    Returns how many readings there are in the slot, in all of them, and how many bins were
    touched since ``counts`` was empty.
    """
    per_day = values.shape[1]
    own, around = 0, 0
    for offset in range(-window, window + 1):
        beside = (slot + offset) % (7 * per_day)
        weekday, time = beside // per_day, beside % per_day
        for i in range(row, stop):
            if weekdays[i] == weekday and values[i, time] < len(counts):
                value = values[i, time]
                if counts[value] == 0:
                    touched[n_touched] = value
                    n_touched += 1
                counts[value] += 1
                around += 1
                own += offset == 0
    return own, around, n_touched
