"""Neighbours by the paper's k-d tree: exact for ε = 0, within (1+ε) of the truth above it."""

import math
from typing import Any, ClassVar

import numpy as np

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.neighbors.interface import Backend, Neighbors
from core.neighbors.kdtree_build import Tree, build, tree_depth
from core.neighbors.kdtree_search import Space, search_leaf
from core.neighbors.kernels import Rows, distances, prepare
from core.neighbors.nearest import empty_lists
from core.neighbors.threads import share
from core.progress import Progress, part
from core.registry import Parameter

# Sums of rows this long are dearer than the memory to remember them, up to this much of it.
_LONG = 256
_MEMO_BYTES = 2**30
# Differences that one task takes if nothing is pruned, some 20 ms: long for Python, short for
# Cancel.
_WORK = 3e8


class KDTree(Backend):
    """A tree of bounding boxes, of which those beyond δ*/(1+ε) are not searched."""

    name: ClassVar[str] = "kdtree"
    title: ClassVar[str] = "k-d tree"
    help: ClassVar[str] = (
        "Halves the points along their widest dimension and skips boxes that are too far. Each "
        "distance found is at most (1+ε) times the true one; ε = 0 is exact. It pays in few "
        "dimensions; whole weeks have too many, and nearly every box is near."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            name="epsilon",
            default=1.0,
            low=0.0,
            high=1e6,
            help="A distance found is at most (1+ε) times the true one; 0 is exact.",
        ),
        Parameter(
            name="leaf_size",
            default=64,
            low=2,
            high=1024,
            unit="points",
            help="Most points in a leaf: smaller leaves skip more, larger ones compare faster.",
        ),
    )
    seeded: ClassVar[bool] = False

    def query(
        self,
        vectors: Vectors,
        k: int,
        *,
        seed: int,
        threads: int,
        progress: Progress,
        **settings: Any,
    ) -> Neighbors:
        """Find the k nearest other rows of every row."""
        rows = prepare(vectors)
        tree = build(
            rows, settings["leaf_size"], threads=threads, progress=part(progress, 0.0, 0.1)
        )
        indices, sums, _ = search(
            rows,
            tree,
            k,
            epsilon=settings["epsilon"],
            threads=threads,
            progress=part(progress, 0.1, 1.0),
        )
        found = distances(sums, rows.norm, vectors.scale)
        return Neighbors(indices, found, self.name, settings)

    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
        """All pairs, as if nothing were pruned: how much is, only the data can tell."""
        n, p, k, leaf_size = problem.n, problem.p, problem.k, settings["leaf_size"]
        counts = problem.norm == 1 and problem.itemsize == 1
        remembered = _remembers(n, p)
        # A short row takes a whole register a chunk, and adding it up.
        difference = machine.l1_counts if counts else machine.l1_float
        pairs = n * n / 2 if remembered else n * n
        compare = pairs * (p + 32) * difference + n * n * machine.offer
        # Of n rows in no order, k·(1 + ln(n/k)) enter a list of the k nearest so far.
        entries = n * k * (1 + math.log(n / k))
        # Whatever enters is settled in float64: fetching a long row is less than reading it.
        settle = 0.0 if counts else machine.far_row + 4 * p * machine.l1_float
        enter = entries * (machine.insert + settle)
        # Every row is held against every leaf's box, long ones for a glimpse; every level bounds
        # all rows. Either takes about two differences of float32.
        glimpse = 1 / 5 if p >= _LONG else 1
        levels = tree_depth(n, leaf_size) + 1
        bound = (n * n / leaf_size * glimpse + n * levels) * p * 2 * machine.l1_float
        boxes, copy = (
            4 * n * p * problem.itemsize / leaf_size,
            (p < _LONG) * n * p * problem.itemsize,
        )
        memory = boxes + copy + n * k * 12 + remembered * 8 * n * n
        return Cost((compare + enter + bound) / problem.threads, memory / 1e6)


def search(
    rows: Rows, tree: Tree, k: int, *, epsilon: float, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray, int]:
    """Search the tree for the k nearest other rows of every row.

    Returns
    -------
    indices : ndarray of shape (n, k), int32
    sums : ndarray of shape (n, k), float64
        By (sum, index); each root of a sum is at most (1+ε) times the true one.
    compared : int
        How many pairs of a row and a leaf were not pruned, of n · ``tree.n_leaves``.
    """
    n, p = rows.x.shape
    remembered = n if _remembers(n, p) else 0
    # Sums of tiles and of boxes are rounded; what is found must not depend on that.
    slack = 1 + 2 * rows.relative_error
    # The rows of a leaf are best read one after the other; of long ones each is that by itself.
    together = p < _LONG
    space = Space(
        x=rows.x[tree.order] if together else rows.x,
        bounds=rows.bounds,
        weights=rows.weights,
        norm=rows.norm,
        order=tree.order,
        places=np.arange(n) if together else tree.order,
        spans=tree.spans,
        lower=tree.lower,
        upper=tree.upper,
        memo=np.full((remembered, remembered), np.nan),
        slack=slack,
        reach=(slack + 2.0**-32) / (1 + epsilon) ** rows.norm,
    )
    sums, indices = empty_lists(n, k, np.float64)
    if k == 0:  # a single row has no other
        return indices, sums, 0
    finished = np.zeros(len(tree.spans), np.bool_)
    compared = np.zeros(len(tree.spans), np.int64)

    def search_leaves(leaves: range) -> None:
        for leaf in leaves:
            # A copy: the memo of a leaf must have ended before its mark is seen.
            compared[leaf] = search_leaf(space, leaf, finished.copy(), sums, indices)
            finished[leaf] = remembered > 0

    leaves = range(tree.first_leaf, len(tree.spans))
    step = max(1, int(_WORK * tree.n_leaves / (n * n * p)))
    share(
        search_leaves,
        [leaves[first : first + step] for first in range(0, len(leaves), step)],
        threads=threads,
        progress=progress,
        message="searching the tree",
    )
    return indices, sums, int(compared.sum())


def _remembers(n: int, p: int) -> bool:
    return p >= _LONG and 8 * n * n <= _MEMO_BYTES
