"""Shortest paths along the neighbour graph (Dijkstra).

The kernels hold no lock, so threads run them side by side; each source is a search of its own,
so the answer does not depend on their number.
"""

import numpy as np
from numba import njit

from core.embedding.graph import Graph
from core.parallel import run_tasks, slices
from core.progress import Progress

# Points settled between two reports of progress, about a tenth of a second.
PIECE = 200_000


def geodesics(
    graph: Graph, sources: np.ndarray, *, threads: int, progress: Progress, dtype: type = np.float64
) -> np.ndarray:
    """Lengths of the shortest paths from each source to every point.

    Returns
    -------
    ndarray of shape (sources, n); infinite where there is no path
    """
    out: np.ndarray = np.empty((len(sources), graph.n), dtype=dtype)

    def work(some: slice) -> None:
        _dijkstra(graph.indptr, graph.indices, graph.lengths, sources[some], out[some])

    pieces = slices(len(sources), max(1, PIECE // graph.n))
    run_tasks(work, pieces, threads=threads, progress=progress, message="measuring along the graph")
    return out


@njit(nogil=True, cache=True)
def _dijkstra(indptr, indices, lengths, sources, out):  # type: ignore[no-untyped-def]
    """Dijkstra with a binary heap of points, each at most once in it."""
    n = len(indptr) - 1
    heap = np.empty(n, np.int32)
    place = np.empty(n, np.int32)  # where in the heap a point is
    length = np.empty(n, np.float64)
    for s in range(len(sources)):
        length[:] = np.inf
        place[:] = -1
        length[sources[s]] = 0.0
        heap[0] = sources[s]
        size = 1
        while size > 0:
            point = heap[0]
            size -= 1
            if size > 0:
                # The last entry takes the root's place and sinks.
                moved = heap[size]
                at = 0
                while True:
                    child = 2 * at + 1
                    if child >= size:
                        break
                    if child + 1 < size and length[heap[child + 1]] < length[heap[child]]:
                        child += 1
                    if length[heap[child]] >= length[moved]:
                        break
                    heap[at] = heap[child]
                    place[heap[at]] = at
                    at = child
                heap[at] = moved
                place[moved] = at
            for e in range(indptr[point], indptr[point + 1]):
                other = indices[e]
                reached = length[point] + lengths[e]
                if reached < length[other]:
                    length[other] = reached
                    at = place[other]
                    if at < 0:
                        at = size
                        size += 1
                    # The entry rises to its new place.
                    while at > 0:
                        parent = (at - 1) // 2
                        if length[heap[parent]] <= reached:
                            break
                        heap[at] = heap[parent]
                        place[heap[at]] = at
                        at = parent
                    heap[at] = other
                    place[other] = at
        out[s, :] = length


def nearest_sources(
    graph: Graph, sources: np.ndarray, k: int, *, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Find the k sources that are nearest to every point along the graph.

    One search from all sources at once: if a source is among the k nearest of a point, it is
    among the k nearest of every point on the path between them.

    Parameters
    ----------
    sources : ndarray of row numbers
    k : int

    Returns
    -------
    which : ndarray of shape (n, k)
        Positions in ``sources``, nearest first; −1 where fewer than k can be reached.
    lengths : ndarray of shape (n, k)
    """
    which = np.full((graph.n, k), -1, dtype=np.int32)
    lengths = np.full((graph.n, k), np.inf)
    which[sources, 0] = np.arange(len(sources))
    lengths[sources, 0] = 0.0
    # Entries of equal keys are a heap as they are.
    heap = (np.zeros(len(sources)), sources.astype(np.int32), which[sources, 0].copy())
    size, settled = len(sources), 0
    while size > 0:
        progress(min(1.0, settled / which.size), "finding the nearest landmarks")
        heap, size, done = _settle(
            graph.indptr, graph.indices, graph.lengths, which, lengths, heap, size, PIECE
        )
        settled += done
    return which, lengths


@njit(nogil=True, cache=True)
def _settle(indptr, indices, edge_lengths, which, lengths, heap, size, most):  # type: ignore[no-untyped-def]
    """Settle at most so many pairs of point and source; return the heap, its size, the number.

    The rows of ``which`` and ``lengths`` stay sorted; entries of the heap may be stale.
    """
    k = which.shape[1]
    keys, points, labels = heap
    settled = 0
    while size > 0 and settled < most:
        key = keys[0]
        point = points[0]
        source = labels[0]
        size -= 1
        if size > 0:
            at = 0
            while True:
                child = 2 * at + 1
                if child >= size:
                    break
                if child + 1 < size and keys[child + 1] < keys[child]:
                    child += 1
                if keys[child] >= keys[size]:
                    break
                keys[at], points[at], labels[at] = keys[child], points[child], labels[child]
                at = child
            keys[at], points[at], labels[at] = keys[size], points[size], labels[size]
        # Stale when the source has since come nearer, or was pushed out by k nearer ones.
        current = False
        for c in range(k):
            if which[point, c] == source:
                current = lengths[point, c] == key
                break
        if not current:
            continue
        settled += 1
        for e in range(indptr[point], indptr[point + 1]):
            other = indices[e]
            reached = key + edge_lengths[e]
            if reached >= lengths[other, k - 1]:
                continue
            # Insert into the sorted row in place of its own older entry, or of the farthest.
            c = k - 1
            better = True
            for j in range(k):
                if which[other, j] == source:
                    c = j
                    better = reached < lengths[other, j]
                    break
            if not better:
                continue
            while c > 0 and lengths[other, c - 1] > reached:
                lengths[other, c] = lengths[other, c - 1]
                which[other, c] = which[other, c - 1]
                c -= 1
            lengths[other, c] = reached
            which[other, c] = source
            if size == len(keys):
                keys = np.concatenate((keys, np.empty(size, np.float64)))
                points = np.concatenate((points, np.empty(size, np.int32)))
                labels = np.concatenate((labels, np.empty(size, np.int32)))
            at = size
            size += 1
            while at > 0:
                parent = (at - 1) // 2
                if keys[parent] <= reached:
                    break
                keys[at], points[at], labels[at] = keys[parent], points[parent], labels[parent]
                at = parent
            keys[at], points[at], labels[at] = reached, other, source
    return (keys, points, labels), size, settled
