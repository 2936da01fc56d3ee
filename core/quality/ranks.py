"""Ranks of neighbours by counting, the only part of the co-ranking matrix that measures need.

A rank is found by counting how many points are closer, which vectorises; sorting whole rows,
most of which nobody asks about, costs ten times as much. Ties are broken by index.
"""

import math

import numba
import numpy as np

_STRIP = 64

# The columns of the contributions that `score_rows` writes.
INTRUSION, EXTRUSION, SHARED, ERROR_INPUT, ERROR_OUTPUT = range(5)


@numba.njit(nogil=True, cache=True)
def _count_below(distances: np.ndarray, limit: float) -> int:
    count = 0
    for j in range(distances.size):
        count += 1 if distances[j] < limit else 0
    return count


@numba.njit(nogil=True, cache=True)
def _count_up_to(distances: np.ndarray, limit: float) -> int:
    count = 0
    for j in range(distances.size):
        count += 1 if distances[j] <= limit else 0
    return count


@numba.njit(nogil=True, cache=True)
def select_nearest(distances: np.ndarray, nearest: np.ndarray) -> None:
    """Fill ``nearest`` with the indices of the smallest, in order of (distance, index)."""
    k = nearest.size
    kept = np.full(k, math.inf)
    for start in range(0, distances.size, _STRIP):
        strip = distances[start : start + _STRIP]
        # Counting vectorises, and nearly all strips hold nothing new.
        if _count_below(strip, kept[k - 1]) == 0:
            continue
        for j in range(strip.size):
            distance = strip[j]
            if distance < kept[k - 1]:
                place = k - 1
                while place > 0 and kept[place - 1] > distance:
                    kept[place] = kept[place - 1]
                    nearest[place] = nearest[place - 1]
                    place -= 1
                kept[place] = distance
                nearest[place] = start + j


@numba.njit(nogil=True, cache=True)
def select_nearest_rows(distances: np.ndarray, nearest: np.ndarray) -> None:
    """Do `select_nearest` for every row."""
    for row in range(len(distances)):
        select_nearest(distances[row], nearest[row])


@numba.njit(nogil=True, cache=True)
def count_rank(distances: np.ndarray, target: int) -> int:
    """Rank of one point, 1 being the nearest, in order of (distance, index)."""
    # Each count is a function of one contiguous slice: written out here, the loops do not
    # vectorise and take six times as long.
    limit = distances[target]
    before = _count_up_to(distances[:target], limit)
    return 1 + before + _count_below(distances[target + 1 :], limit)


@numba.njit(nogil=True, cache=True)
def _add_squares(coordinates: np.ndarray, centre: float, out: np.ndarray) -> None:
    for j in range(out.size):
        out[j] += (coordinates[j] - centre) ** 2


@numba.njit(nogil=True, cache=True)
def _squared_distances(y: np.ndarray, i: int, out: np.ndarray) -> None:
    """Squared distances of point ``i`` from all; infinite from itself. ``y`` is (d, n)."""
    out[:] = 0.0
    for axis in range(y.shape[0]):
        _add_squares(y[axis], y[axis, i], out)
    out[i] = math.inf


@numba.njit(nogil=True, cache=True)
def score_rows(
    input_sums: np.ndarray,
    points: np.ndarray,
    y: np.ndarray,
    contributions: np.ndarray,
    neighbors: np.ndarray,
    neighbors_known: bool,
) -> None:
    """Compare the input and output ranks around a block of points.

    With U and V the k nearest in input and output, ρ and r the ranks there, each point gets
    Σ_{V∖U} (ρ − k), Σ_{U∖V} (r − k), |U ∩ V|, Σ_U |ρ − r| / ρ and Σ_V |ρ − r| / r.

    Parameters
    ----------
    input_sums : ndarray of shape (rows, n)
        A row for each point, in the order of the distances, infinite at the point itself.
    points : int ndarray of shape (rows,)
        Which points the rows belong to.
    y : float64 ndarray of shape (d, n)
        The embedding, one row an axis.
    contributions : float64 ndarray of shape (rows, 5)
        Written.
    neighbors : int64 ndarray of shape (rows, k)
        U, nearest first; written unless known.
    neighbors_known : bool
    """
    k = neighbors.shape[1]
    near_out = np.empty(k, np.int64)
    output_distances = np.empty(y.shape[1], np.float64)
    for row in range(points.size):
        distances = input_sums[row]
        near_in = neighbors[row]
        if not neighbors_known:
            select_nearest(distances, near_in)
        _squared_distances(y, points[row], output_distances)
        select_nearest(output_distances, near_out)
        intrusion = extrusion = shared = 0
        error_input = error_output = 0.0
        for place in range(k):
            rank_in = place + 1
            rank_out = 0
            for other in range(k):
                if near_out[other] == near_in[place]:
                    rank_out = other + 1
                    shared += 1
                    break
            if rank_out == 0:
                rank_out = count_rank(output_distances, near_in[place])
                extrusion += rank_out - k
            error_input += abs(rank_in - rank_out) / rank_in
        for place in range(k):
            rank_out = place + 1
            rank_in = 0
            for other in range(k):
                if near_in[other] == near_out[place]:
                    rank_in = other + 1
                    break
            if rank_in == 0:
                rank_in = count_rank(distances, near_out[place])
                intrusion += rank_in - k
            error_output += abs(rank_in - rank_out) / rank_out
        contributions[row, INTRUSION] = intrusion
        contributions[row, EXTRUSION] = extrusion
        contributions[row, SHARED] = shared
        contributions[row, ERROR_INPUT] = error_input
        contributions[row, ERROR_OUTPUT] = error_output


@numba.njit(nogil=True, cache=True)
def nearest_distances(y: np.ndarray, points: np.ndarray, k: int, distances: np.ndarray) -> None:
    """Write the distance from each of some points to its k-th nearest other; ``y`` is (d, n)."""
    nearest = np.empty(k, np.int64)
    squared = np.empty(y.shape[1], np.float64)
    for row in range(points.size):
        _squared_distances(y, points[row], squared)
        select_nearest(squared, nearest)
        distances[row] = math.sqrt(squared[nearest[k - 1]])
