"""Backend ``annoy``: a forest of random projection trees, as the paper uses it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from core.neighbors.backend import Backend, Index, Neighbors
from core.neighbors.cost import Cost, Machine, SearchSize
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent
from core.registry import Parameter

if TYPE_CHECKING:
    from core.vectors import Vectors

_METRICS: dict[int, Literal["manhattan", "euclidean"]] = {1: "manhattan", 2: "euclidean"}
# Rows between two reports of progress.
_STEP = 256
# Rows that Annoy draws to find a split.
_SAMPLED = 200


class Annoy(Backend):
    """Annoy's forest, asked again with a wider search where it returns too few."""

    name: ClassVar[str] = "annoy"
    title: ClassVar[str] = "Annoy"
    help: ClassVar[str] = (
        "A forest of random splits; each query inspects about search_k points of it. The trees "
        "are built by one thread, so that a seed always gives the same forest."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            name="n_trees",
            default=50,
            low=1,
            high=1000,
            help="Trees in the forest: more find more true neighbours and take longer to build.",
        ),
        Parameter(
            name="search_k",
            default=50,
            low=1,
            high=10_000_000,
            unit="points",
            help="Points inspected for each query: more find more true neighbours.",
            at_query=True,
        ),
    )
    build_share: ClassVar[float] = 0.4

    def build(
        self,
        vectors: "Vectors",
        *,
        seed: int,
        threads: int,
        progress: Progress = silent,
        **settings: Any,
    ) -> "AnnoyForest":
        """Grow the forest."""
        from annoy import AnnoyIndex

        points = vectors.coordinates(dtype=np.float32)
        n, width = points.shape
        forest = AnnoyIndex(width, _METRICS[vectors.norm])
        forest.set_seed(seed)
        for i in range(n):
            forest.add_item(i, points[i].tolist())
            if i % _STEP == 0:
                progress(0.5 * i / n, "filling the forest")
        # Annoy reports nothing until all its trees are built.
        progress(0.5, f"growing {settings['n_trees']} trees")
        forest.build(settings["n_trees"], n_jobs=1)
        return AnnoyForest(backend=self, vectors=vectors, settings=settings, forest=forest)

    def cost(self, problem: SearchSize, machine: Machine, **settings: Any) -> Cost:
        """Splits found, rows sent down every tree, and rows compared for each query."""
        n, p, n_trees = problem.n, problem.p, settings["n_trees"]
        leaf = _leaf_size(p)
        depth = math.log2(n / leaf) if n > leaf else 0.0
        # Annoy adds up one number at a time where our kernels add eight.
        one_by_one = 6 * p * machine.l1_float
        meet = machine.fetch(n, p) + one_by_one
        # Leaves are some 0.7 full. A split is found by holding a sample of rows against two means.
        n_splits = n_trees * n / (0.7 * leaf) if n > leaf else 0.0
        build = n_splits * _SAMPLED * (meet + 2 * one_by_one) + n_trees * n * depth * meet
        inspected = n if n <= leaf else max(settings["search_k"], problem.k, 0.7 * leaf)
        # A query looks at the root of every tree, and on the way to the first leaf.
        ask = n * (inspected + n_trees + depth) * meet
        seconds = n * p * machine.python_float + build + ask / problem.threads
        memory = n * p * 4 * 2 + n_trees * n * 4 * 2
        return Cost(seconds, memory / 1e6)


def _leaf_size(width: int) -> int:
    """How many points a leaf of Annoy holds: row numbers in the room of one vector."""
    return width + 2


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnoyForest(Index):
    """Annoy's trees."""

    forest: Any

    def query_own(self, k: int, *, threads: int, progress: Progress = silent) -> Neighbors:
        """Ask the forest for every row."""
        from core.neighbors.all_pairs import complete
        from core.neighbors.kernels import prepare, refine_float64

        n = len(self.vectors.x)

        def others(i: int, search_k: int) -> list[int]:
            # Itself is left out by index.
            found = self.forest.get_nns_by_item(i, k + 1, search_k)
            return [j for j in found if j != i][:k]

        candidates, widened = self._ask(others, n, k, threads, part(progress, 0.0, 0.8))
        rows = prepare(self.vectors)
        indices, sums = refine_float64(
            rows, candidates, k, threads=threads, progress=part(progress, 0.8, 1.0)
        )
        complete(rows, np.flatnonzero(indices[:, -1] < 0), indices, sums, threads=threads)
        progress(1.0)
        return self._found(indices, sums, self._notices(n, widened))

    def query(
        self, points: "Vectors", k: int, *, threads: int, progress: Progress = silent
    ) -> Neighbors:
        """Ask the forest for every point."""
        from core.neighbors.query_new import refine_points

        x = points.coordinates(dtype=np.float32)

        def nearest(i: int, search_k: int) -> list[int]:
            found: list[int] = self.forest.get_nns_by_vector(x[i].tolist(), k, search_k)
            return found

        candidates, widened = self._ask(nearest, len(x), k, threads, part(progress, 0.0, 0.9))
        indices, sums, _ = refine_points(self.vectors, points, candidates, k, threads=threads)
        progress(1.0)
        return self._found(indices, sums, self._notices(len(x), widened))

    def _ask(
        self,
        find: Callable[[int, int], list[int]],
        m: int,
        k: int,
        threads: int,
        progress: Progress,
    ) -> tuple[np.ndarray, int]:
        """Ask for k rows near each of m points; more widely for those that get too few.

        Returns
        -------
        candidates : ndarray of shape (m, k), int32
            −1 where there are no more.
        widened : int
            How many points were asked for again.
        """
        candidates = np.full((m, k), -1, dtype=np.int32)
        widened = np.zeros(m, np.bool_)
        # n_trees · n points are all there is to inspect.
        everything = len(self.vectors.x) * self.settings["n_trees"]

        def ask(piece: slice) -> None:
            for i in range(m)[piece]:
                search_k = self.settings["search_k"]
                found = find(i, search_k)
                widened[i] = len(found) < k
                while len(found) < k and search_k < everything:
                    search_k *= 2
                    found = find(i, search_k)
                candidates[i, : len(found)] = found

        # Annoy lets other threads work while it searches.
        run_tasks(
            ask, slices(m, _STEP), threads=threads, progress=progress, message="asking the forest"
        )
        return candidates, int(widened.sum())

    def _notices(self, m: int, widened: int) -> tuple[str, ...]:
        notices = []
        n, width = self.vectors.x.shape
        if n <= (leaf := _leaf_size(width)):
            notices.append(
                f"Annoy keeps up to {leaf:,} points of {width:,} columns in one leaf, so each of "
                f"the {m:,} points was compared with all: brute force in disguise."
            )
        if widened:
            notices.append(
                f"Annoy returned too few neighbours for {widened:,} of {m:,} points at search_k = "
                f"{self.settings['search_k']:,}; those were searched again with more."
            )
        return tuple(notices)
