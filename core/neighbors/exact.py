"""Backend ``exact``: every pair is compared once, fast, and the answer refined in float64."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from core.neighbors.backend import Backend, Index, Neighbors
from core.neighbors.cost import Cost, Machine, SearchSize
from core.progress import Progress, silent

if TYPE_CHECKING:
    from core.vectors import Vectors


class Exact(Backend):
    """Compare all pairs."""

    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "Exact"
    help: ClassVar[str] = "Compares all pairs. Always right; time grows with N²."
    seeded: ClassVar[bool] = False
    distances: ClassVar[tuple[str, ...]] = ("hellinger", "tv", "js")
    automatic: ClassVar[bool] = True

    def build(
        self,
        vectors: "Vectors",
        *,
        seed: int,
        threads: int,
        progress: Progress = silent,
        **settings: Any,
    ) -> "ExactIndex":
        """Take the rows as they are."""
        return ExactIndex(backend=self, vectors=vectors, settings=settings)

    def cost(self, problem: SearchSize, machine: Machine, **settings: Any) -> Cost:
        """Half of all pairs, p differences each, and the lists' share of them."""
        from core.neighbors import quantised
        from core.neighbors._tiles import LARGEST_SIDE, by_products
        from core.neighbors.all_pairs import list_length
        from core.neighbors.kernels import TILE

        n, p, length = problem.n, problem.p, list_length(problem.k)
        pairs = n * (n + TILE) / 2
        counts = problem.norm == 1 and problem.itemsize == 1
        in_bytes = problem.norm == 1 and quantised.pays_for(n, p)
        if problem.norm == 0:
            compare = p * machine.js
        elif problem.norm == 2 and by_products(n, p):
            compare = p * machine.l2_product + machine.product_pair
        else:
            rate = machine.l1_counts if counts or in_bytes else machine.l1_float
            compare = p * rate + machine.difference_pair
        inserts = n * length * (1 + math.log(max(n / length, 1.0)))
        offering = pairs * machine.offer + inserts * machine.insert
        refining = 0.0
        if problem.norm != 0 and not counts:
            # In float64, which takes two registers for one and converts.
            refined = 2 * problem.k if in_bytes else problem.k
            refining = n * refined * (machine.fetch(n, p) + 4 * p * machine.l1_float)
        memory = n * length * 40 + problem.threads * LARGEST_SIDE**2 * 8
        seconds = (pairs * compare + offering + refining) / problem.threads
        return Cost(seconds, memory / 1e6)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExactIndex(Index):
    """The rows themselves."""

    def query_own(self, k: int, *, threads: int, progress: Progress = silent) -> Neighbors:
        """Compare every pair of rows once."""
        from core.neighbors.all_pairs import nearest_others

        return self._found(*nearest_others(self.vectors, k, threads=threads, progress=progress))

    def query(
        self, points: "Vectors", k: int, *, threads: int, progress: Progress = silent
    ) -> Neighbors:
        """Compare every point with every row."""
        from core.neighbors.query_new import nearest_rows_of_points

        return self._found(
            *nearest_rows_of_points(self.vectors, points, k, threads=threads, progress=progress)
        )
