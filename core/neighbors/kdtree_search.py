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
    order, spans
        Those of ``Tree``.
    varying, lower, upper, box_bounds
        The columns in which not all rows agree, the boxes of ``Tree`` in these, and where among
        them each chunk starts.
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
    varying: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    box_bounds: np.ndarray
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
    x, order, spans = space.x, space.order, space.spans
    start, stop = spans[leaf]
    rows, size, first_leaf = order[start:stop], stop - start, len(spans) // 2
    # Lists of this thread alone: what threads share costs them dearly to refer to.
    near = np.full((size, sums.shape[1]), np.inf)
    names = np.full((size, sums.shape[1]), -1, np.int32)
    radii = np.full(size, np.inf)
    columns = np.empty((len(space.varying), size), np.float32)
    for q in range(size):
        for c in range(len(space.varying)):
            columns[c, q] = x[rows[q], space.varying[c]]
    boxes = columns, space.lower, space.upper, space.box_bounds, space.weights, space.norm
    limits, totals, parts = np.full(size, np.inf), np.empty(size), np.empty(size, np.float32)
    active = np.empty(size, np.int64)
    # Sizes of leaves differ by at most one.
    block = np.empty((size + 1, size))
    # By distance of the box; equally near ones in the order in which the search unwinds.
    queue = [(np.float32(0), 0, leaf)]
    compared = 0
    while len(queue) > 0:
        gap, height, node = heapq.heappop(queue)
        if node < first_leaf:
            for child in (2 * node + 1, 2 * node + 2):
                n_active, gap = _find_active(child, *boxes, limits, totals, parts, active)
                if n_active > 0:
                    heapq.heappush(queue, (gap, height, child))
            continue
        n_active, gap = _find_active(node, *boxes, limits, totals, parts, active)
        if n_active == 0:
            continue
        compared += n_active
        _compare(space, start, active[:n_active], node, finished[node], block)
        first, last = spans[node]
        for r in range(last - first):
            for a in range(n_active):
                q = active[a]
                if block[r, a] <= space.slack * radii[q]:
                    i, j = rows[q], order[first + r]
                    # No sum is below zero: where a list ends with duplicates, indices decide.
                    if i == j or (radii[q] == 0.0 and j > names[q, -1]):
                        continue
                    exact = block[r, a]
                    if space.slack > 1:
                        exact = pair_sum(x[i], x[j], space.bounds, space.weights, space.norm)
                    insert(near, names, q, exact, j)
                    radii[q] = near[q, -1]
        limits[:] = space.reach * radii
        if node == leaf:
            # The siblings of this leaf and of all nodes above it hold every other row.
            while node > 0:
                sibling = node + 1 if node % 2 == 1 else node - 1
                node, height = (node - 1) // 2, height + 1
                n_active, gap = _find_active(sibling, *boxes, limits, totals, parts, active)
                if n_active > 0:
                    heapq.heappush(queue, (gap, height, sibling))
    for q in range(size):
        sums[rows[q]] = near[q]
        indices[rows[q]] = names[q]
    return compared


@njit(cache=True, nogil=True)
def _compare(space, start, active, other, known, block):  # type: ignore[no-untyped-def]
    """Fill ``block[r, a]`` with the sums of all rows of a leaf and the active queries."""
    first, last = space.spans[other]
    rows, queries = space.order[first:last], space.order[start + active]
    if len(space.memo) == 0:
        tile_sums(space.x, rows, queries, space.bounds, space.weights, space.norm, block)
        return
    missing = np.empty(len(rows), np.int64)
    n_missing = 0
    for r in range(len(rows)):
        if known and not np.isnan(space.memo[first + r, start]):
            for a in range(len(active)):
                block[r, a] = space.memo[first + r, start + active[a]]
        else:
            missing[n_missing] = r
            n_missing += 1
    missing = missing[:n_missing]
    tile = np.empty((n_missing, len(active)))
    tile_sums(space.x, rows[missing], queries, space.bounds, space.weights, space.norm, tile)
    for m in range(n_missing):
        block[missing[m], : len(active)] = tile[m]
    for a in range(len(active)):
        for r in range(len(rows)):
            space.memo[start + active[a], first + r] = block[r, a]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def _find_active(  # type: ignore[no-untyped-def]
    node, columns, lower, upper, bounds, weights, norm, limits, totals, parts, active
):
    """Find the queries whose sum to a node's box is not surely above their limit.

    Long rows are not measured to their end when a glimpse brings no query as far as it should:
    that would rarely prune the box.

    Parameters
    ----------
    columns : ndarray of shape (varying columns, queries), float32
        The queries transposed, so that a register holds eight of them.
    limits : ndarray of shape (queries,), float64
    totals, parts : ndarrays of shape (queries,), float64 and float32
        To work in.
    active : ndarray of shape (queries,), int64
        Filled with these queries.

    Returns
    -------
    n_active : int
    nearest : float32
        The smallest of all sums, as far as they were measured.
    """
    size, zero = len(limits), np.float32(0)
    totals[:] = 0
    for chunk in range(len(weights)):
        parts[:] = 0
        for c in range(bounds[chunk], bounds[chunk + 1]):
            low, high = np.float32(lower[node, c]), np.float32(upper[node, c])
            if norm == 1:
                for q in range(size):
                    parts[q] += max(max(low - columns[c, q], columns[c, q] - high), zero)
            else:
                for q in range(size):
                    parts[q] += max(max(low - columns[c, q], columns[c, q] - high), zero) ** 2
        totals += weights[chunk] * parts
        seen = (chunk + 1) / len(weights)
        if _GLIMPSE <= seen < 1 and not np.any(totals >= _HOPEFUL * seen * limits):
            break
    n_active = 0
    for q in range(size):
        active[n_active] = q
        n_active += totals[q] <= limits[q]
    return n_active, np.float32(totals.min())
