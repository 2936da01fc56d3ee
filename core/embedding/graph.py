"""The neighbour graph: neighbour lists made symmetric, its components, and links between them.

An edge of length zero joins two duplicates and is an edge like any other. Sparse arithmetic
(maximum, sums, eliminate_zeros) would drop it, so edges are kept as plain CSR arrays and merged
by sorting.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from core.vectors import Vectors

# Joining components compares their points pair by pair; this many coordinate differences take
# some twenty seconds on one core. Beyond it components are compared by a sample of their points.
LINK_BUDGET = 2e10
# With more components than this, each pair's own link is too many: a spanning tree has to do.
MANY_COMPONENTS = 500


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph in CSR form; each edge is stored from both its ends.

    Attributes
    ----------
    indptr : ndarray of shape (n + 1,), int64
    indices : ndarray of shape (edges,), int32
    lengths : ndarray of shape (edges,), float64
        May hold zeros.
    """

    indptr: np.ndarray
    indices: np.ndarray
    lengths: np.ndarray

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.indptr) - 1

    def matrix(self, weights: np.ndarray) -> "csr_array":
        """Return the (n, n) adjacency matrix with a weight for each stored edge."""
        from scipy.sparse import csr_array

        return csr_array((weights, self.indices, self.indptr), shape=(self.n, self.n))

    def components(self) -> tuple[int, np.ndarray]:
        """Count the connected components and label each point with its own."""
        from scipy.sparse.csgraph import connected_components

        count, labels = connected_components(self.matrix(np.ones(len(self.lengths))), False)
        return int(count), labels


def from_edges(head: np.ndarray, tail: np.ndarray, lengths: np.ndarray, n: int) -> Graph:
    """Make the undirected graph of these edges; of edges given twice, the shortest counts."""
    heads = np.concatenate([head, tail]).astype(np.int64)
    tails = np.concatenate([tail, head]).astype(np.int64)
    both = np.concatenate([lengths, lengths]).astype(np.float64)
    key = heads * n + tails
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    shortest = np.minimum.reduceat(both[order], first) if len(first) else both
    heads, tails = np.divmod(key[first], max(n, 1))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=n))])
    return Graph(indptr.astype(np.int64), tails.astype(np.int32), shortest)


def union_graph(indices: np.ndarray, distances: np.ndarray) -> Graph:
    """Join two points when either is a neighbour of the other.

    Parameters
    ----------
    indices, distances : ndarray of shape (n, k)
        Neighbour lists.
    """
    n, k = indices.shape
    return from_edges(np.repeat(np.arange(n), k), indices.ravel(), distances.ravel(), n)


def count_components(indices: np.ndarray) -> int:
    """Count the connected components of the union graph without making it.

    Parameters
    ----------
    indices : ndarray of shape (n, k)
        Neighbour lists.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n, k = indices.shape
    ends = (np.ones(n * k, np.int8), indices.ravel(), np.arange(0, n * k + 1, k or 1))
    lists = csr_array(ends if k else (n, n), shape=(n, n))
    return int(connected_components(lists, directed=False, return_labels=False))


@dataclass(frozen=True, eq=False)
class JoinedGraph:
    """A connected graph, and how it became one."""

    graph: Graph
    links: int = 0
    spanning_tree: bool = False
    sampled: bool = False


def join(graph: Graph, labels: np.ndarray, vectors: "Vectors", progress: Progress) -> JoinedGraph:
    """Connect the components of a graph by the shortest links between them.

    Each pair of components gets the link between its two closest points; more than
    ``MANY_COMPONENTS`` get a minimum spanning tree of such links instead.
    """
    count = int(labels.max()) + 1
    if count == 1:
        return JoinedGraph(graph)
    groups, sampled = _candidates(labels, vectors.x.shape[1])
    spanning_tree = count > MANY_COMPONENTS
    find = _spanning_links if spanning_tree else _all_links
    head, tail, lengths = find(groups, vectors, progress)
    old = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    joined = from_edges(
        np.concatenate([old, head]),
        np.concatenate([graph.indices, tail]),
        np.concatenate([graph.lengths, lengths]),
        graph.n,
    )
    return JoinedGraph(joined, len(head), spanning_tree, sampled)


def _candidates(labels: np.ndarray, p: int) -> tuple[list[np.ndarray], bool]:
    """Members of each component, or an even sample of them where all would be too many."""
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    sizes = np.array([len(group) for group in members])

    def cost(limit: int) -> float:
        kept = np.minimum(sizes, limit).astype(np.float64)
        return float((kept.sum() ** 2 - (kept**2).sum()) / 2 * p)

    low, high = 1, int(sizes.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cost(middle) <= LINK_BUDGET else (low, middle - 1)
    return (
        [g[np.linspace(0, len(g) - 1, min(len(g), low)).astype(np.int64)] for g in members],
        bool(sizes.max() > low),
    )


Links = tuple[np.ndarray, np.ndarray, np.ndarray]


def _closest(group: np.ndarray, others: list[np.ndarray], vectors: "Vectors") -> Links:
    """For each other component: its point and the group's point that are closest, and how far."""
    near = vectors.coordinates(group)
    rows = np.concatenate(others)
    best = np.empty(len(rows))
    whose = np.empty(len(rows), dtype=np.int64)
    step = max(1, int(2e7 // max(1, near.shape[1], len(group))))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        apart = _distances(near, vectors.coordinates(rows[part]), vectors)
        whose[part] = apart.argmin(axis=0)
        best[part] = apart.min(axis=0)
    starts = np.concatenate([[0], np.cumsum([len(other) for other in others])[:-1]])
    at = np.array([s + best[s : s + len(o)].argmin() for s, o in zip(starts, others, strict=True)])
    return group[whose[at]], rows[at], best[at]


def _distances(a: np.ndarray, b: np.ndarray, vectors: "Vectors") -> np.ndarray:
    """Statistical distances between two sets of coordinates."""
    from scipy.spatial.distance import cdist

    if not vectors.is_normed:
        blocks = zip(
            np.split(a, vectors.blocks, axis=1), np.split(b, vectors.blocks, axis=1), strict=True
        )
        divergence = sum(cdist(p, q, "jensenshannon") ** 2 for p, q in blocks) / np.log(2)
        return vectors.to_distances(divergence)
    metric = "cityblock" if vectors.norm == 1 else "euclidean"
    return vectors.scale * cdist(a, b, metric)


def _all_links(groups: list[np.ndarray], vectors: "Vectors", progress: Progress) -> Links:
    found = []
    for i, group in enumerate(groups[:-1]):
        progress(i / len(groups), f"joining {len(groups)} components")
        found.append(_closest(group, groups[i + 1 :], vectors))
    head, tail, lengths = (np.concatenate(column) for column in zip(*found, strict=True))
    return head, tail, lengths


def _spanning_links(groups: list[np.ndarray], vectors: "Vectors", progress: Progress) -> Links:
    """Prim's algorithm: grow a tree by the shortest link from it to a component outside."""
    outside = np.arange(1, len(groups))
    head, tail, lengths = _closest(groups[0], groups[1:], vectors)
    found: list[tuple[int, int, float]] = []
    while True:
        progress(len(found) / len(groups), f"joining {len(groups)} components")
        at = int(lengths.argmin())
        new = int(outside[at])
        found.append((head[at], tail[at], lengths[at]))
        outside, head, tail, lengths = (np.delete(a, at) for a in (outside, head, tail, lengths))
        if not len(outside):
            break
        from_new = _closest(groups[new], [groups[i] for i in outside], vectors)
        closer = from_new[2] < lengths
        head, tail, lengths = (
            np.where(closer, new_one, old_one)
            for new_one, old_one in zip(from_new, (head, tail, lengths), strict=True)
        )
    heads, tails, how_far = zip(*found, strict=True)
    return np.array(heads), np.array(tails), np.array(how_far)
