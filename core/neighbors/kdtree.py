"""Backend ``kdtree``: the paper's k-d tree, exact for ε = 0, within (1+ε) of the truth above it."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from core.neighbors.backend import Backend, Index, Neighbors
from core.neighbors.cost import Cost, Machine, SearchSize
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent
from core.registry import Parameter

if TYPE_CHECKING:
    from core.neighbors._kdtree_build import Tree
    from core.neighbors._kdtree_search import Space
    from core.neighbors.kernels import Rows
    from core.vectors import Vectors

# Sums of rows this long are dearer than the memory to remember them, up to this much of it.
_LONG = 256
_MEMO_BYTES = 2**30
# Points of so few columns may well fill them evenly.
_EVEN_COLUMNS = 10
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
            at_query=True,
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
    build_share: ClassVar[float] = 0.1

    def build(
        self,
        vectors: "Vectors",
        *,
        seed: int,
        threads: int,
        progress: Progress = silent,
        **settings: Any,
    ) -> "KDTreeIndex":
        """Halve the rows down to the leaves."""
        from core.neighbors._kdtree_build import build
        from core.neighbors.kernels import prepare

        rows = prepare(vectors)
        tree = build(rows, settings["leaf_size"], threads=threads, progress=progress)
        return KDTreeIndex(backend=self, vectors=vectors, settings=settings, rows=rows, tree=tree)

    def cost(self, problem: SearchSize, machine: Machine, **settings: Any) -> Cost:
        """Count the pairs that are not pruned if the points fill a cube evenly."""
        from core.neighbors._kdtree_build import tree_depth

        n, p, k = problem.n, problem.p, problem.k
        counts = problem.norm == 1 and problem.itemsize == 1
        remembered = _remembers(n, p)
        depth = tree_depth(n, settings["leaf_size"])
        share = expected_share(problem, depth, settings["epsilon"])
        if p > _EVEN_COLUMNS:
            share *= 0.7  # distributions are far from even, as measured on each unit
        difference = machine.l1_counts if counts else machine.l1_float
        pairs = n * max(share * n, k)
        compare = p * difference + machine.difference_pair
        work = pairs * (compare / (1 + remembered) + machine.offer)
        # Of m rows in no order, k·(1 + ln(m/k)) enter a list of the k nearest so far. Whatever
        # enters is refined in float64: fetching a long row is less than reading it.
        entries = n * k * (1 + math.log(pairs / n / k))
        refine = 0.0 if counts else machine.fetch(n, p) + 4 * p * machine.l1_float
        enter = entries * (machine.insert + refine)
        # A box is about two differences of float32, of long rows for a glimpse, and costs as much
        # as some pairs besides; every level of the tree bounds all rows.
        glimpse = 1 / 5 if p >= _LONG else 1
        boxes = n * (2 * depth + 2 * share * 2**depth)
        bound = boxes * (2 * p * glimpse * machine.l1_float + 4 * machine.difference_pair)
        bound += n * (depth + 1) * 2 * p * machine.l1_float
        entry = problem.itemsize * n * p
        memory = 4 * entry / settings["leaf_size"] + (p < _LONG) * entry
        memory += n * k * 12 + remembered * 8 * n * n
        return Cost((work + enter + bound) / problem.threads, memory / 1e6)


@dataclass(frozen=True, eq=False, kw_only=True)
class KDTreeIndex(Index):
    """A tree over the rows."""

    rows: "Rows"
    tree: "Tree"

    def query_own(self, k: int, *, threads: int, progress: Progress = silent) -> Neighbors:
        """Search the tree for the rows of a leaf at a time."""
        indices, sums, _ = search(
            self.rows,
            self.tree,
            k,
            epsilon=self.settings["epsilon"],
            threads=threads,
            progress=progress,
        )
        return self._found(indices, sums)

    def query(
        self, points: "Vectors", k: int, *, threads: int, progress: Progress = silent
    ) -> Neighbors:
        """Search the tree for some of the points at a time."""
        from core.neighbors._kdtree_build import build
        from core.neighbors._kdtree_search import search_points
        from core.neighbors._topk import empty_lists
        from core.neighbors.kernels import prepare
        from core.neighbors.query_new import are_bytes, with_points

        tree = self.tree
        if self.rows.x.dtype == np.uint8 and not are_bytes(points):
            # Boxes of bytes are laid out unlike the numbers of these points.
            tree = build(prepare(self.vectors, counts=False), self.settings["leaf_size"])
        n, m = len(self.vectors.x), len(points.x)
        sums, indices = empty_lists(m, k, np.float64)
        for piece, rows in with_points(self.vectors, points):
            space = _space(rows, tree, places=tree.order, epsilon=self.settings["epsilon"])
            new, found, apart = np.arange(n, len(rows.x)), indices[piece], sums[piece]

            def work(some: slice) -> None:
                search_points(space, new[some], apart[some], found[some])  # noqa: B023 (done here)

            run_tasks(
                work,
                slices(len(new), self.settings["leaf_size"]),
                threads=threads,
                progress=part(progress, piece.start / m, piece.stop / m),
                message="searching the tree",
            )
        return self._found(indices, sums)


def expected_share(problem: SearchSize, depth: int, epsilon: float) -> float:
    """Share of the leaves that a query meets if the points fill a cube evenly, roughly.

    Columns depend on each other: more than ten of them fill about √(10·p) dimensions.
    The k-th neighbour is then at the radius of a ball that holds k of n points. Each level of
    the tree halves another dimension. A leaf's box is away from a query by a gap in each of them,
    and the sum of the gaps' powers is nearly normal.
    """
    n, k, norm = problem.n, problem.k, problem.norm
    p = min(problem.p, round(math.sqrt(_EVEN_COLUMNS * problem.p)))
    if depth == 0 or norm == 0:
        return 1.0
    if norm == 1:
        log_ball = p * math.log(2) - math.lgamma(p + 1)
    else:
        log_ball = p / 2 * math.log(math.pi) - math.lgamma(p / 2 + 1)
    radius = math.exp((math.log(k / n) - log_ball) / p)
    limit = (radius / (1 + epsilon)) ** norm
    mean = variance = 0.0
    halvings, further = divmod(depth, p)
    for times, dimensions in ((halvings, p - further), (halvings + 1, further)):
        first, second = _gap_moments(times, norm)
        mean += dimensions * first
        variance += dimensions * (second - first**2)
    return 0.5 * math.erfc((mean - limit) / math.sqrt(2 * variance))


def _gap_moments(halvings: int, norm: int) -> tuple[float, float]:
    """Mean of g^norm and of its square, g being the gap between a point of [0, 1] and a cell.

    Both are drawn evenly, the cell from 2^halvings.
    """
    cells = 2.0**halvings
    apart = np.arange(1, cells)
    chance = 2 * (cells - apart) / cells**2

    def moment(power: int) -> float:
        # The gap is even between (apart − 1)/cells and apart/cells.
        area = (apart ** (power + 1) - (apart - 1) ** (power + 1)) / (power + 1)
        return float(np.sum(chance * area) / cells**power)

    return moment(norm), moment(2 * norm)


def search(
    rows: "Rows", tree: "Tree", k: int, *, epsilon: float, threads: int, progress: Progress
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
    from core.neighbors._kdtree_search import search_leaf
    from core.neighbors._topk import empty_lists

    n, p = rows.x.shape
    remembered = n if _remembers(n, p) else 0
    # The rows of a leaf are best read one after the other; of long ones each is that by itself.
    together = p < _LONG
    space = _space(
        replace(rows, x=rows.x[tree.order]) if together else rows,
        tree,
        places=np.arange(n) if together else tree.order,
        epsilon=epsilon,
        remembered=remembered,
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
    run_tasks(
        search_leaves,
        [leaves[first : first + step] for first in range(0, len(leaves), step)],
        threads=threads,
        progress=progress,
        message="searching the tree",
    )
    return indices, sums, int(compared.sum())


def _space(
    rows: "Rows", tree: "Tree", *, places: np.ndarray, epsilon: float, remembered: int = 0
) -> "Space":
    from core.neighbors._kdtree_search import Space

    # Sums of tiles and of boxes are rounded; what is found must not depend on that.
    slack = 1 + 2 * rows.relative_error
    return Space(
        x=rows.x,
        bounds=rows.bounds,
        weights=rows.weights,
        norm=rows.norm,
        order=tree.order,
        places=places,
        spans=tree.spans,
        lower=tree.lower,
        upper=tree.upper,
        memo=np.full((remembered, remembered), np.nan),
        slack=slack,
        reach=(slack + 2.0**-32) / (1 + epsilon) ** rows.norm,
    )


def _remembers(n: int, p: int) -> bool:
    return p >= _LONG and 8 * n * n <= _MEMO_BYTES
