"""Backend ``nndescent``: neighbours of neighbours, by PyNNDescent."""

import warnings
from typing import Any, ClassVar

import numpy as np

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.neighbors.exact import complete
from core.neighbors.interface import Backend, Neighbors
from core.neighbors.kernels import coordinates, distances, prepare, settle
from core.progress import Progress
from core.registry import Parameter

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
        progress(0.0, "descending")
        from pynndescent import NNDescent as Search

        points = coordinates(vectors)
        n = len(points)
        graph_k = min(n, max(settings["graph_k"], k) + 1)
        with warnings.catch_warnings():
            # It warns of short rows; they are completed and told of below.
            warnings.simplefilter("ignore", UserWarning)
            search = Search(
                points,
                metric=_METRICS[vectors.norm],
                n_neighbors=graph_k,
                n_iters=settings["n_iters"] or None,
                random_state=seed,
                n_jobs=threads,
            )
            progress(0.9, "settling")
            candidates = search.neighbor_graph[0].astype(np.int32)
        candidates[candidates == np.arange(n)[:, None]] = -1
        rows = prepare(vectors)
        indices, sums = settle(rows, candidates, k, threads=threads)
        short = np.flatnonzero(indices[:, -1] < 0)
        complete(rows, short, indices, sums, threads=threads)
        progress(1.0)
        notices = (
            f"NN-descent found too few neighbours for {len(short):,} of {n:,} points, as happens "
            "among duplicates; those were compared with all points instead.",
        )
        found = distances(sums, rows.norm, vectors.scale)
        return Neighbors(indices, found, self.name, settings, notices if len(short) > 0 else ())

    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
        """The neighbours of each point are compared with one another, about once in all."""
        kept = max(settings["graph_k"], problem.k) + 1
        # Few pairs are new after the eighth round.
        share = min(settings["n_iters"] or 8, 8) / 8
        compared = problem.n * kept**2 * share
        # Two rows from anywhere at a time: a difference takes three times that of the tiled kernel.
        compare = machine.far_row + 6 * problem.p * machine.l1_float
        seconds = compared * compare / problem.threads
        return Cost(COMPILING_SECONDS + seconds, problem.n * (problem.p * 8 + kept * 24) / 1e6)
