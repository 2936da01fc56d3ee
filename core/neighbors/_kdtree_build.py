"""The k-d tree of the paper: nested halves of the rows, each with its tightest bounding box.

Every node is split along its widest dimension at the median. The paper's split value is the
midpoint of the two middle order statistics (it prints a minus where a plus is meant). Taking the
lower half *by rank* gives the same two halves wherever those two differ; where they are equal it
still halves, ties by row, while the printed rule ``z < c`` could leave a child empty. The search
looks at boxes only, so neither the dimension nor the value is kept.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from core.neighbors.kernels import Rows
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent

# Columns that a thread bounds at a time: their two bounds stay in its L1 cache.
_COLUMNS = 2048


@dataclass(frozen=True, eq=False)
class Tree:
    """A complete binary tree over n rows; the children of node g are 2g + 1 and 2g + 2.

    Attributes
    ----------
    order : ndarray of shape (n,), int64
        The rows, such that every node is one stretch of them.
    spans : ndarray of shape (nodes, 2), int64
        Where in ``order`` each node starts and ends.
    lower, upper : ndarray of shape (nodes, width)
        Each node's bounding box, in the type of the rows.
    """

    order: np.ndarray
    spans: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def first_leaf(self) -> int:
        """The leaves are the nodes from this one on."""
        return len(self.spans) // 2

    @property
    def n_leaves(self) -> int:
        """How many leaves there are: a power of two."""
        return len(self.spans) - self.first_leaf


def tree_depth(n: int, leaf_size: int) -> int:
    """Levels of halving until no leaf holds more than ``leaf_size`` of n rows."""
    depth = 0
    while n > leaf_size << depth:
        depth += 1
    return depth


def build(rows: Rows, leaf_size: int, *, threads: int = 1, progress: Progress = silent) -> Tree:
    """Halve the rows until no leaf holds more than ``leaf_size``; sizes of leaves differ by ≤ 1.

    From a ``leaf_size`` of 2 on no leaf is empty. Each level streams the rows once; threads share
    its columns.
    """
    n, width = rows.x.shape
    depth = tree_depth(n, leaf_size)
    nodes = 2 ** (depth + 1) - 1
    tree = Tree(
        order=np.arange(n),
        spans=np.zeros((nodes, 2), np.int64),
        lower=np.empty((nodes, width), rows.x.dtype),
        upper=np.empty((nodes, width), rows.x.dtype),
    )
    tree.spans[0] = 0, n
    weights = np.repeat(rows.weights, np.diff(rows.bounds))
    for level in range(depth + 1):
        first = 2**level - 1
        last = 2 * first + 1
        _bound_level(
            rows.x,
            tree,
            range(first, last),
            threads=threads,
            progress=part(progress, level / (depth + 1), (level + 1) / (depth + 1)),
        )
        if level < depth:
            _halve_nodes(
                rows.x, weights, tree.order, tree.spans, first, last, tree.lower, tree.upper
            )
    return tree


def _bound_level(
    x: np.ndarray, tree: Tree, nodes: range, *, threads: int, progress: Progress
) -> None:
    def bound(columns: slice) -> None:
        _bound_nodes(
            x,
            tree.order,
            tree.spans,
            nodes.start,
            nodes.stop,
            columns.start,
            columns.stop,
            tree.lower,
            tree.upper,
        )

    run_tasks(
        bound,
        slices(x.shape[1], _COLUMNS),
        threads=threads,
        progress=progress,
        message="growing the tree",
    )


@njit(cache=True, nogil=True)
def _bound_nodes(x, order, spans, first, last, start, stop, lower, upper):  # type: ignore[no-untyped-def]
    """Fill columns ``start`` … ``stop`` − 1 of the boxes of nodes ``first`` … ``last`` − 1."""
    for node in range(first, last):
        low, high = lower[node, start:stop], upper[node, start:stop]
        low[:] = x[order[spans[node, 0]], start:stop]
        high[:] = low
        for place in range(spans[node, 0] + 1, spans[node, 1]):
            row = x[order[place], start:stop]
            for c in range(len(row)):
                low[c] = min(low[c], row[c])
                high[c] = max(high[c], row[c])


@njit(cache=True, nogil=True)
def _halve_nodes(x, weights, order, spans, first, last, lower, upper):  # type: ignore[no-untyped-def]
    """Make the children of nodes ``first`` … ``last`` − 1: halves along the widest dimension."""
    for node in range(first, last):
        start, stop = spans[node]
        widest, width = 0, -1.0
        for c in range(len(weights)):
            of_column = weights[c] * (float(upper[node, c]) - float(lower[node, c]))
            if of_column > width:
                widest, width = c, of_column
        _halve(x, widest, order[start:stop])
        middle = start + (stop - start) // 2
        spans[2 * node + 1] = start, middle
        spans[2 * node + 2] = middle, stop


@njit(cache=True, nogil=True)
def _halve(x, dimension, rows):  # type: ignore[no-untyped-def]
    """Order the ascending rows of a node such that its lower half comes first, by (value, row)."""
    half = len(rows) // 2
    values = np.empty(len(rows), x.dtype)
    for i in range(len(rows)):
        values[i] = x[rows[i], dimension]
    median = np.partition(values, half)[half]
    ties_below = half - np.sum(values < median)
    given = rows.copy()
    left, right = 0, half
    # Rows that stay in their order keep ascending in both halves.
    for i in range(len(given)):
        below = values[i] < median
        if values[i] == median and ties_below > 0:
            ties_below -= 1
            below = True
        if below:
            rows[left] = given[i]
            left += 1
        else:
            rows[right] = given[i]
            right += 1
