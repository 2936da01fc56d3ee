"""The search of the paper's k-d tree, a leaf of queries at a time.

All queries of a leaf share one walk. It begins at their own leaf and unwinds to the other nodes in
the order of their boxes' distance. A box farther from a query than δ*/(1+ε), δ* being its current
k-th distance, holds nothing that the (1+ε) promise needs; the queries for which it is nearer are
compared with all rows of the leaf at once, so that rows are not streamed once a query.

Everything is a sum of w·|a − b|^norm, before the root and the scale, which turns (1+ε) into
(1+ε)^norm. Float32 tiles only propose: a candidate is entered with its float64 ``pair_sum``, so
what a leaf finds depends neither on rounding nor on threads nor on what others left in the memo.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numba import njit

from core.neighbors.kernels import pair_sum, tile_sums
from core.neighbors.nearest import insert

# The share of a row's columns after which a box may be found not worth measuring to the end, and
# how far, of what it takes to be pruned, it should have come by then.
_GLIMPSE = 0.1
_HOPEFUL = 0.9


class Space(NamedTuple):
    """What the search of every leaf reads.

    Attributes
    ----------
    x, bounds, weights, norm
        Those of ``Rows``.
    order, spans, lower, upper
        Those of ``Tree``.
    memo : ndarray of shape (n, n) or (0, 0), float64
        Sums between the places of ``order`` as far as they are known, else NaN; a place has met
        all of a leaf or none of it. |a − b| is symmetric: what one leaf compared, the other need
        not.
    slack : float
        Only tile sums above ``slack`` · δ* are surely above δ*; 1 where tiles are settled.
    reach : float
        Boxes are pruned above ``reach`` · δ*: 1 / (1+ε)^norm and a slack.
    """

    x: np.ndarray
    bounds: np.ndarray
    weights: np.ndarray
    norm: int
    order: np.ndarray
    spans: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    memo: np.ndarray
    slack: float
    reach: float


@njit(cache=True, nogil=True)
def search_leaf(space, leaf, finished, sums, indices):  # type: ignore[no-untyped-def]
    """Find the neighbours of one leaf's rows.

    Parameters
    ----------
    space : Space
    leaf : int
        A node from ``Tree.first_leaf`` on.
    finished : ndarray of shape (nodes,), bool
        Leaves whose search has ended: what they left in the memo may be read.
    sums, indices : ndarrays of shape (n, k)
        Lists of the nearest, filled for the leaf's rows.

    Returns
    -------
    compared : int
        How many pairs of a row of this leaf and a leaf were not pruned.
    """
    x, order, spans, lower, upper = space.x, space.order, space.spans, space.lower, space.upper
    bounds, weights, norm = space.bounds, space.weights, space.norm
    start, stop = spans[leaf]
    rows, size, first_leaf = order[start:stop], stop - start, len(spans) // 2
    # Lists of this thread alone: what threads share costs them dearly to refer to.
    near = np.full((size, sums.shape[1]), np.inf)
    names = np.full((size, sums.shape[1]), -1, np.int32)
    last = near.shape[1] - 1
    active = np.empty(size, np.int64)
    # Sizes of leaves differ by at most one.
    block = np.empty((size, size + 1))
    columns = x[rows].T.astype(np.float32)
    # By distance of the box; equally near ones in the order in which the search unwinds.
    queue = [(0.0, 0, leaf)]
    node, height = leaf, 0
    while node > 0:
        sibling = node + 1 if node % 2 == 1 else node - 1
        node, height = (node - 1) // 2, height + 1
        gap = _box_gap(lower, upper, leaf, sibling, bounds, weights, norm)
        heapq.heappush(queue, (gap, height, sibling))
    farthest, compared = np.inf, 0
    while len(queue) > 0:
        gap, height, node = heapq.heappop(queue)
        if gap > space.reach * farthest:
            break
        if node < first_leaf:
            for child in (2 * node + 1, 2 * node + 2):
                gap = _box_gap(lower, upper, leaf, child, bounds, weights, norm)
                heapq.heappush(queue, (gap, height, child))
            continue
        limits = space.reach * near[:, last]
        n_active = _find_active(
            columns, limits, lower[node], upper[node], bounds, weights, norm, active
        )
        if n_active == 0:
            continue
        compared += n_active
        _compare(space, start, active[:n_active], node, finished[node], block)
        other_start, other_stop = spans[node]
        for a in range(n_active):
            q = active[a]
            limit = space.slack * near[q, last]
            for r in range(other_stop - other_start):
                if block[a, r] <= limit:
                    j = order[other_start + r]
                    # No sum is below zero: where a list ends with duplicates, indices decide.
                    if j == rows[q] or (limit == 0.0 and j > names[q, last]):
                        continue
                    exact = block[a, r]
                    if space.slack > 1:
                        exact = pair_sum(x[rows[q]], x[j], bounds, weights, norm)
                    insert(near, names, q, exact, j)
                    limit = space.slack * near[q, last]
        farthest = near[:, last].max()
    for q in range(size):
        sums[rows[q]] = near[q]
        indices[rows[q]] = names[q]
    return compared


@njit(cache=True, nogil=True)
def _compare(space, start, active, other, known, block):  # type: ignore[no-untyped-def]
    """Fill ``block[a, r]`` with the sums of the active queries and all rows of a leaf."""
    other_start, other_stop = space.spans[other]
    width = other_stop - other_start
    others = space.order[other_start:other_stop]
    queries = space.order[start + active]
    if len(space.memo) == 0:
        tile_sums(space.x, queries, others, space.bounds, space.weights, space.norm, block)
        return
    missing = np.empty(width, np.int64)
    n_missing = 0
    for r in range(width):
        if known and not np.isnan(space.memo[other_start + r, start]):
            for a in range(len(active)):
                block[a, r] = space.memo[other_start + r, start + active[a]]
        else:
            missing[n_missing] = r
            n_missing += 1
    missing = missing[:n_missing]
    tile = np.empty((len(active), n_missing))
    tile_sums(space.x, queries, others[missing], space.bounds, space.weights, space.norm, tile)
    for a in range(len(active)):
        for m in range(n_missing):
            block[a, missing[m]] = tile[a, m]
        for r in range(width):
            space.memo[start + active[a], other_start + r] = block[a, r]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _find_active(columns, limits, low, high, bounds, weights, norm, active):  # type: ignore[no-untyped-def]
    """Fill ``active`` with the queries whose sum to a box is not surely above their limit.

    Of long rows, a box is left to be compared when a glimpse does not bring any query as far as it
    should: measuring it to the end would rarely prune it.

    Parameters
    ----------
    columns : ndarray of shape (p, queries), float32
        The queries transposed, so that a register holds eight of them.
    """
    size = len(limits)
    totals, parts, zero = np.zeros(size), np.empty(size, np.float32), np.float32(0)
    for chunk in range(len(weights)):
        parts[:] = 0
        for c in range(bounds[chunk], bounds[chunk + 1]):
            a, b = np.float32(low[c]), np.float32(high[c])
            if norm == 1:
                for q in range(size):
                    parts[q] += max(max(a - columns[c, q], columns[c, q] - b), zero)
            else:
                for q in range(size):
                    parts[q] += max(max(a - columns[c, q], columns[c, q] - b), zero) ** 2
        seen, hopeful = bounds[chunk + 1] / len(columns), False
        for q in range(size):
            totals[q] += weights[chunk] * parts[q]
            hopeful |= totals[q] >= _HOPEFUL * seen * limits[q]
        if seen >= _GLIMPSE and not hopeful:
            break
    n_active = 0
    for q in range(size):
        if not totals[q] > limits[q]:
            active[n_active] = q
            n_active += 1
    return n_active


@njit(cache=True, nogil=True)
def _box_gap(lower, upper, one, other, bounds, weights, norm):  # type: ignore[no-untyped-def]
    """Sum between the boxes of two nodes: no two of their rows have a smaller one."""
    total = 0.0
    for chunk in range(len(weights)):
        start, stop = bounds[chunk], bounds[chunk + 1]
        total += weights[chunk] * _gap(lower, upper, one, lower, upper, other, start, stop, norm)
    return total


@njit(cache=True, nogil=True, fastmath=True)
def _gap(lower_a, upper_a, a, lower_b, upper_b, b, start, stop, norm):  # type: ignore[no-untyped-def]
    """Σ gap^norm between two boxes over one chunk of columns, in float32."""
    total, zero = np.float32(0), np.float32(0)
    # Signed columns might count from the end, which keeps the compiler from using registers.
    for c in range(np.uintp(start), np.uintp(stop)):
        below = np.float32(lower_a[a, c]) - np.float32(upper_b[b, c])
        above = np.float32(lower_b[b, c]) - np.float32(upper_a[a, c])
        gap = max(max(below, above), zero)
        total += gap if norm == 1 else gap * gap
    return total
