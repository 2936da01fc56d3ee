"""Backend ``hnsw``: hierarchical navigable small worlds, by hnswlib."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from core.errors import InputError
from core.neighbors.backend import Backend, Index, Neighbors
from core.neighbors.cost import Cost, Machine, SearchSize
from core.parallel import slices
from core.progress import Progress, part, silent
from core.registry import Parameter

if TYPE_CHECKING:
    from core.vectors import Vectors

_STEP = 2000
# Up to so many points a repeatable answer is worth a build by one thread.
_REPEATABLE = 50_000


class HNSW(Backend):
    """hnswlib's graph; it compares by L2 only."""

    name: ClassVar[str] = "hnsw"
    title: ClassVar[str] = "HNSW"
    help: ClassVar[str] = (
        "A layered graph that is walked towards each query. Hellinger only: hnswlib has no L1. "
        f"Repeatable up to {_REPEATABLE:,} points, where one thread builds it."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            name="m",
            default=16,
            low=2,
            high=100,
            unit="links",
            help="Links of each point: more find more true neighbours and take more memory.",
        ),
        Parameter(
            name="ef_construction",
            default=200,
            low=10,
            high=2000,
            help="Candidates looked at when a point is linked.",
        ),
        Parameter(
            name="ef_search",
            default=100,
            low=10,
            high=5000,
            help="Candidates looked at for each query; never fewer than k + 1.",
            at_query=True,
        ),
    )
    deterministic: ClassVar[bool] = False
    build_share: ClassVar[float] = 0.6
    distances: ClassVar[tuple[str, ...]] = ("hellinger",)

    def build(
        self,
        vectors: "Vectors",
        *,
        seed: int,
        threads: int,
        progress: Progress = silent,
        **settings: Any,
    ) -> "HNSWGraph":
        """Link the rows one after the other."""
        try:
            import hnswlib
        except ImportError:
            raise InputError(
                "neighbours by hnsw need hnswlib, which is not installed: pip install "
                "'wattfold[hnsw]' (it takes a C++ compiler), or choose exact, nndescent or annoy"
            ) from None
        points = vectors.coordinates(dtype=np.float32)
        n, width = points.shape
        builders = 1 if n <= _REPEATABLE else threads
        graph = hnswlib.Index("l2", width)
        graph.init_index(
            n, M=settings["m"], ef_construction=settings["ef_construction"], random_seed=seed
        )
        for piece in slices(n, _STEP):
            graph.add_items(points[piece], np.arange(n)[piece], num_threads=builders)
            progress(piece.stop / n, "building the graph")
        return HNSWGraph(
            backend=self, vectors=vectors, settings=settings, graph=graph, builders=builders
        )

    def cost(self, problem: SearchSize, machine: Machine, **settings: Any) -> Cost:
        """Each candidate of an insertion or a query leads to some of its links."""
        n, p, m = problem.n, problem.p, settings["m"]
        builders = 1 if n <= _REPEATABLE else problem.threads
        asked = max(settings["ef_search"], problem.k + 1)
        # Most links lead to points already seen; about a quarter did not, in measurements. Nobody
        # meets more points than there are, which is half of them at an insertion.
        inserting = min(settings["ef_construction"] * m / 4, n / 2) / builders
        asking = min(asked * m / 4, n) / problem.threads
        # A point that is met is fetched with its links, and each is looked up among the seen.
        meet = 4 * machine.fetch(n, p) + 2 * p * machine.l1_float
        return Cost(n * (inserting + asking) * meet, n * (p * 4 + m * 8 + 16) / 1e6)


@dataclass(frozen=True, eq=False, kw_only=True)
class HNSWGraph(Index):
    """hnswlib's graph, and how many threads built it."""

    graph: Any
    builders: int

    def query_own(self, k: int, *, threads: int, progress: Progress = silent) -> Neighbors:
        """Walk the graph towards every row."""
        from core.neighbors.all_pairs import complete
        from core.neighbors.kernels import prepare, refine_float64

        own = np.arange(len(self.vectors.x))
        found = self._ask(self.vectors, k + 1, threads, progress)
        candidates = _without_self(found, own)
        rows = prepare(self.vectors)
        indices, sums = refine_float64(rows, candidates, k, threads=threads)
        stranded = np.flatnonzero(indices[:, -1] < 0)
        complete(rows, stranded, indices, sums, threads=threads)
        return self._found(indices, sums, self._notices(k, len(stranded)))

    def query(
        self, points: "Vectors", k: int, *, threads: int, progress: Progress = silent
    ) -> Neighbors:
        """Walk the graph towards every point."""
        from core.neighbors.query_new import refine_points

        candidates = self._ask(points, k, threads, part(progress, 0.0, 0.9))
        indices, sums, stranded = refine_points(
            self.vectors, points, candidates, k, threads=threads
        )
        progress(1.0)
        return self._found(indices, sums, self._notices(k, stranded))

    def _ask(self, points: "Vectors", count: int, threads: int, progress: Progress) -> np.ndarray:
        """Up to ``count`` rows near each point, −1 where the graph did not reach as many."""
        x = points.coordinates(dtype=np.float32)
        self.graph.set_ef(max(self.settings["ef_search"], count))
        candidates = np.full((len(x), count), -1, dtype=np.int32)
        for piece in slices(len(x), _STEP):
            with suppress(RuntimeError):  # hnswlib's word for a walk that met fewer points
                candidates[piece], _ = self.graph.knn_query(x[piece], count, num_threads=threads)
            progress(piece.stop / len(x), "asking the graph")
        return candidates

    def _notices(self, k: int, stranded: int) -> tuple[str, ...]:
        notices = []
        if self.builders > 1:
            notices.append(
                f"HNSW was built by {self.builders} threads: another run may differ a little."
            )
        if stranded:
            notices.append(
                f"HNSW's graph did not reach {k} neighbours from some of {stranded:,} points, "
                "as happens among duplicates; those were compared with all points instead."
            )
        return tuple(notices)


def _without_self(found: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Leave each row's own index out of its k + 1 finds, or the last where it is not among them."""
    keep = found != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(found), -1)
