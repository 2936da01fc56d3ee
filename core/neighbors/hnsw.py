"""Backend ``hnsw``: hierarchical navigable small worlds, by hnswlib."""

from typing import Any, ClassVar

import numpy as np

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.neighbors.exact import complete
from core.neighbors.interface import Backend, Neighbors
from core.neighbors.kernels import coordinates, distances, prepare, settle
from core.neighbors.threads import slices
from core.progress import Progress, part
from core.registry import Parameter

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
        ),
    )
    deterministic: ClassVar[bool] = False
    distances: ClassVar[tuple[str, ...]] = ("hellinger",)

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
        """Find k near rows of every row."""
        import hnswlib

        points = coordinates(vectors)
        n, width = points.shape
        builders = 1 if n <= _REPEATABLE else threads
        index = hnswlib.Index("l2", width)
        index.init_index(
            n, M=settings["m"], ef_construction=settings["ef_construction"], random_seed=seed
        )
        build = part(progress, 0.0, 0.6)
        for piece in slices(n, _STEP):
            index.add_items(points[piece], np.arange(n)[piece], num_threads=builders)
            build(piece.stop / n, "building the graph")
        index.set_ef(max(settings["ef_search"], k + 1))
        candidates = np.full((n, k), -1, dtype=np.int32)
        ask = part(progress, 0.6, 1.0)
        for piece in slices(n, _STEP):
            try:
                found, _ = index.knn_query(points[piece], k + 1, num_threads=threads)
            except RuntimeError:  # hnswlib's word for a walk that met fewer than k + 1 points
                pass
            else:
                candidates[piece] = _without_self(found, np.arange(n)[piece])
            ask(piece.stop / n, "asking the graph")
        rows = prepare(vectors)
        indices, sums = settle(rows, candidates, k, threads=threads)
        stranded = np.flatnonzero(indices[:, -1] < 0)
        complete(rows, stranded, indices, sums, threads=threads)
        notices = []
        if builders > 1:
            notices.append(
                f"HNSW was built by {builders} threads: another run may differ a little."
            )
        if len(stranded) > 0:
            notices.append(
                f"HNSW's graph did not reach {k} neighbours from some of {len(stranded):,} points, "
                "as happens among duplicates; those were compared with all points instead."
            )
        found = distances(sums, rows.norm, vectors.scale)
        return Neighbors(indices, found, self.name, settings, tuple(notices))

    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
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


def _without_self(found: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Leave each row's own index out of its k + 1 finds, or the last where it is not among them."""
    keep = found != own[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(found), -1)
