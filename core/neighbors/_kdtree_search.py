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

from core.neighbors._simd import l1_box, l2_box
from core.neighbors._topk import insert
from core.neighbors.kernels import pair_sum, tile_sums

# The share of a row's columns after which a box may be found not worth measuring to the end, and
# how far, of what it takes to be pruned, it should have come by then.
_GLIMPSE = 0.1
_HOPEFUL = 0.9


class Space(NamedTuple):
    """What the search of every leaf reads.

    Attributes
    ----------
    x, bounds, weights, norm
        Those of ``Rows``; x may be in another order.
    order, spans, lower, upper
        Those of ``Tree``.
    places : ndarray of shape (n,), int64
        Where in x each row of ``order`` is.
    memo : ndarray of shape (n, n) or (0, 0), float64
        Sums between the places of ``order`` as far as they are known, else NaN; a place has met
        all of a leaf or none of it. |a − b| is symmetric: what one leaf compared, the other need
        not.
    slack : float
        Only tile sums above ``slack`` · δ* are surely above δ*; 1 where tiles are final.
    reach : float
        Boxes are pruned above ``reach`` · δ*: 1 / (1+ε)^norm and a slack.
    """

    x: np.ndarray
    bounds: np.ndarray
    weights: np.ndarray
    norm: int
    order: np.ndarray
    places: np.ndarray
    spans: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    memo: np.ndarray
    slack: float
    reach: float


@njit(cache=True, nogil=True)
def search_leaf(space, leaf, finished, sums, indices):  # type: ignore[no-untyped-def]
    """Find the neighbours of one leaf's rows, each without itself.

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
    start, stop = space.spans[leaf, 0], space.spans[leaf, 1]
    # The lists are of this thread alone: arrays that threads share are slow to refer to.
    near = np.full((stop - start, sums.shape[1]), np.inf)
    names = np.full((stop - start, sums.shape[1]), -1, np.int32)
    rows = space.places[start:stop].copy()
    compared = _walk(space, leaf, start, rows, finished, near, names)
    for q in range(stop - start):
        sums[space.order[start + q]] = near[q]
        indices[space.order[start + q]] = names[q]
    return compared


@njit(cache=True, nogil=True)
def search_points(space, points, sums, indices):  # type: ignore[no-untyped-def]
    """Find the rows of the tree that are nearest to some points.

    Parameters
    ----------
    space : Space
        Without a memo.
    points : ndarray of int64
        Where in x the points are; none of them is in the tree.
    sums, indices : ndarrays of shape (points, k)
        Lists of the nearest, filled.

    Returns
    -------
    compared : int
        How many pairs of a point and a leaf were not pruned.
    """
    finished = np.zeros(len(space.spans), np.bool_)
    near = np.full(sums.shape, np.inf)
    names = np.full(sums.shape, -1, np.int32)
    compared = _walk(space, 0, 0, points, finished, near, names)
    sums[:] = near
    indices[:] = names
    return compared


@njit(cache=True, nogil=True)
def _walk(space, leaf, start, rows, finished, near, names):  # type: ignore[no-untyped-def]
    """Search the tree for the nearest of some queries, which share one walk.

    Parameters
    ----------
    leaf : int
        The leaf that holds the queries, or 0, the root, if none does.
    start : int
        Where in ``Space.order`` that leaf begins.
    rows : ndarray of shape (queries,), int64
        Where in x the queries are.
    finished
        As in :func:`search_leaf`.
    near, names : ndarrays of shape (queries, k)
        Lists of the nearest, filled.
    """
    # What threads share is unpacked once.
    x, order, places, spans = space.x, space.order, space.places, space.spans
    bounds, weights, norm = space.bounds, space.weights, space.norm
    slack, reach = space.slack, space.reach
    boxes = x, space.lower, space.upper, bounds, weights, norm
    first_leaf, size = len(spans) // 2, len(rows)
    limits = np.full(size, np.inf)
    # Sizes of leaves differ by at most one.
    block = np.empty((size, spans[first_leaf, 1] - spans[first_leaf, 0] + 1))
    active, chosen = np.arange(size), np.empty(size, np.int64)
    # The queries that each waiting node may concern, and how far its box is from them.
    concerned, gaps = np.empty(64 * size, np.int64), np.zeros(64 * size)
    concerned[:size] = active
    used = size
    # By distance of the box; equally near ones in the order in which the search unwinds.
    queue = [(0.0, 0, leaf, 0, size)]
    compared = 0
    while len(queue) > 0:
        _, height, node, begin, end = heapq.heappop(queue)
        n_active = 0
        for place in range(begin, end):  # limits have shrunk since the box was measured
            active[n_active] = concerned[place]
            n_active += gaps[place] <= limits[concerned[place]]
        if n_active == 0:
            continue
        if node < first_leaf:
            for child in (2 * node + 1, 2 * node + 2):
                if used + n_active > len(gaps):
                    concerned, gaps = _lengthened(concerned, gaps)
                end, gap = _measure(
                    child, *boxes, rows, active, n_active, limits, concerned, gaps, used
                )
                if end > used:
                    heapq.heappush(queue, (gap, height, child, used, end))
                    used = end
            continue
        compared += n_active
        first, last = spans[node, 0], spans[node, 1]
        others, asking = places[first:last], chosen[:n_active]
        for a in range(n_active):
            chosen[a] = rows[active[a]]
        if len(space.memo) == 0:
            tile_sums(x, asking, others, bounds, weights, norm, block)
        else:
            _recall(space, start, active[:n_active], first, others, asking, finished[node], block)
        for a in range(n_active):
            q = active[a]
            within, found = slack * near[q, -1], block[a]
            for r in range(last - first):
                if found[r] > within:
                    continue
                j = order[first + r]
                # No sum is below zero: where a list ends with duplicates, indices decide.
                if others[r] == rows[q] or (within == 0.0 and j > names[q, -1]):
                    continue
                exact = found[r]
                if slack > 1:
                    exact = pair_sum(x, rows[q], others[r], bounds, weights, norm)
                insert(near, names, q, exact, j)
                within = slack * near[q, -1]
            limits[q] = reach * near[q, -1]
        if node == leaf:
            # The siblings of this leaf and of all nodes above it hold every other row.
            while node > 0:
                sibling = node + 1 if node % 2 == 1 else node - 1
                node, height = (node - 1) // 2, height + 1
                if used + size > len(gaps):
                    concerned, gaps = _lengthened(concerned, gaps)
                end, gap = _measure(
                    sibling, *boxes, rows, active, size, limits, concerned, gaps, used
                )
                if end > used:
                    heapq.heappush(queue, (gap, height, sibling, used, end))
                    used = end
    return compared


@njit(cache=True, nogil=True)
def _recall(space, start, active, first, rows, queries, known, block):  # type: ignore[no-untyped-def]
    """Fill ``block[a, r]`` with sums as far as they are remembered, and remember the others.

    Parameters
    ----------
    start, active
        Where the leaf of the queries begins in ``Space.order``, and which of it are asking.
    first, rows
        Where another leaf begins there, and its rows.
    queries : ndarray of shape (active,), int64
        The rows that are asking.
    known : bool
        Whether the search of the other leaf has ended.
    block : ndarray of shape (active, rows) or larger, float64
    """
    missing = np.empty(len(rows), np.int64)
    n_missing = 0
    for r in range(len(rows)):
        if known and not np.isnan(space.memo[first + r, start]):
            for a in range(len(active)):
                block[a, r] = space.memo[first + r, start + active[a]]
        else:
            missing[n_missing] = r
            n_missing += 1
    missing = missing[:n_missing]
    tile = np.empty((n_missing, len(active)))
    tile_sums(space.x, rows[missing], queries, space.bounds, space.weights, space.norm, tile)
    for m in range(n_missing):
        block[: len(active), missing[m]] = tile[m]
    for a in range(len(active)):
        for r in range(len(rows)):
            space.memo[start + active[a], first + r] = block[a, r]


@njit(cache=True, nogil=True)
def _lengthened(concerned, gaps):  # type: ignore[no-untyped-def]
    """Return both twice as long."""
    return (
        np.concatenate((concerned, np.empty_like(concerned))),
        np.concatenate((gaps, np.empty_like(gaps))),
    )


@njit(cache=True, nogil=True)
def _measure(  # type: ignore[no-untyped-def]
    node,
    x,
    lower,
    upper,
    bounds,
    weights,
    norm,
    rows,
    active,
    n_active,
    limits,
    concerned,
    gaps,
    end,
):
    """Write down, from ``end`` on, the active queries that a node's box is not too far from.

    Returns
    -------
    end : int
        One past the last place that was filled.
    nearest : float
        The least of their sums.
    """
    nearest = np.inf
    for a in range(n_active):
        q = active[a]
        gap = _box_sum(x, rows[q], lower, upper, node, bounds, weights, norm, limits[q])
        concerned[end], gaps[end] = q, gap
        if gap <= limits[q]:
            end += 1
            nearest = min(nearest, gap)
    return end, nearest


@njit(cache=True, nogil=True)
def _box_sum(x, row, lower, upper, node, bounds, weights, norm, limit):  # type: ignore[no-untyped-def]
    """Sum from a row to a node's box, as far as it is measured: never more than the true one.

    It ends where the sum is above the limit. A long row is not measured to its end either when a
    glimpse does not bring it as far as it should: that would rarely prune the box.
    """
    total, glimpse = 0.0, _GLIMPSE * len(weights)
    for chunk in range(len(weights)):
        start, stop = bounds[chunk], bounds[chunk + 1]
        if norm == 1:
            total += weights[chunk] * l1_box(x, row, lower, upper, node, start, stop)
        else:
            total += weights[chunk] * l2_box(x, row, lower, upper, node, start, stop)
        hopeful = _HOPEFUL * limit * (chunk + 1)
        if total > limit or (chunk + 1 >= glimpse and total * len(weights) < hopeful):
            return total
    return total
