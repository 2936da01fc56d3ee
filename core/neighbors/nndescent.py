"""Backend ``nndescent``: neighbours of neighbours, by PyNNDescent."""

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from core.neighbors.backend import Backend, Index, Neighbors
from core.neighbors.cost import Cost, Machine, SearchSize
from core.progress import Progress, silent
from core.registry import Parameter

if TYPE_CHECKING:
    from core.vectors import Vectors

_METRICS = {1: "manhattan", 2: "sqeuclidean"}
# PyNNDescent does not keep what it compiles: every process pays for it once.
COMPILING_SECONDS = 20.0


class NNDescent(Backend):
    """PyNNDescent's graph, with more neighbours than asked for."""

    name: ClassVar[str] = "nndescent"
    title: ClassVar[str] = "NN-descent"
    help: ClassVar[str] = (
        "Starts from random trees and improves each point's list by the lists of its neighbours. "
        "Repeatable for a seed and a number of threads."
    )
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            name="graph_k",
            default=24,
            low=2,
            high=500,
            unit="neighbours",
            help="Neighbours kept while searching, at least k: more find more true neighbours.",
        ),
        Parameter(
            name="n_iters",
            default=0,
            low=0,
            high=100,
            help="Rounds of improvement; 0 lets the number of points decide.",
        ),
    )
    deterministic: ClassVar[bool] = False
    automatic: ClassVar[bool] = True

    def build(
        self,
        vectors: "Vectors",
        *,
        seed: int,
        threads: int,
        progress: Progress = silent,
        **settings: Any,
    ) -> "DescentGraph":
        """Take the rows; the graph is made for the number of neighbours that is asked for."""
        return DescentGraph(backend=self, vectors=vectors, settings=settings, seed=seed)

    def cost(self, problem: SearchSize, machine: Machine, **settings: Any) -> Cost:
        """The neighbours of each point are compared with one another, about once in all."""
        kept = max(settings["graph_k"], problem.k) + 1
        # Few pairs are new after the eighth round.
        share = min(settings["n_iters"] or 8, 8) / 8
        compared = problem.n * kept**2 * share
        # Two rows from anywhere at a time: a difference takes three times that of the tiled kernel.
        compare = machine.far_row + 6 * problem.p * machine.l1_float
        seconds = compared * compare / problem.threads
        return Cost(COMPILING_SECONDS + seconds, problem.n * (problem.p * 8 + kept * 24) / 1e6)


@dataclass(frozen=True, eq=False, kw_only=True)
class DescentGraph(Index):
    """PyNNDescent's graphs, by how many neighbours of each row they hold."""

    seed: int
    _graphs: dict[int, Any] = field(default_factory=dict)

    def query_own(self, k: int, *, threads: int, progress: Progress = silent) -> Neighbors:
        """Read the graph."""
        from core.neighbors.all_pairs import complete
        from core.neighbors.kernels import prepare, refine_float64

        n = len(self.vectors.x)
        graph = self._graph(k, threads, progress)
        progress(0.9, "refining the nearest")
        candidates = graph.neighbor_graph[0].astype(np.int32)
        candidates[candidates == np.arange(n)[:, None]] = -1
        rows = prepare(self.vectors)
        indices, sums = refine_float64(rows, candidates, k, threads=threads)
        short = np.flatnonzero(indices[:, -1] < 0)
        complete(rows, short, indices, sums, threads=threads)
        progress(1.0)
        return self._found(indices, sums, _notices(len(short), n))

    def query(
        self, points: "Vectors", k: int, *, threads: int, progress: Progress = silent
    ) -> Neighbors:
        """Compare every point with every row.

        PyNNDescent would compile its search of new points for half a minute in every process,
        which is longer than comparing them all takes.
        """
        from core.neighbors.query_new import nearest_rows_of_points

        return self._found(
            *nearest_rows_of_points(self.vectors, points, k, threads=threads, progress=progress)
        )

    def _graph(self, k: int, threads: int, progress: Progress) -> Any:
        progress(0.0, "descending")
        n = len(self.vectors.x)
        held = min(n, max(self.settings["graph_k"], k) + 1)
        if held not in self._graphs:
            from pynndescent import NNDescent as Descent

            with warnings.catch_warnings():
                # It warns of short rows; they are completed, and a notice says so.
                warnings.simplefilter("ignore", UserWarning)
                self._graphs[held] = Descent(
                    self.vectors.coordinates(dtype=np.float32),
                    metric=_METRICS[self.vectors.norm],
                    n_neighbors=held,
                    n_iters=self.settings["n_iters"] or None,
                    random_state=self.seed,
                    n_jobs=threads,
                )
        return self._graphs[held]


def _notices(short: int, m: int) -> tuple[str, ...]:
    if not short:
        return ()
    return (
        f"NN-descent found too few neighbours for {short:,} of {m:,} points, as happens "
        "among duplicates; those were compared with all points instead.",
    )
