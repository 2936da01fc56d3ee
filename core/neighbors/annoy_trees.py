"""Backend ``annoy``: a forest of random projection trees, as the paper uses it."""

import math
from typing import Any, ClassVar, Literal

import numpy as np

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.neighbors.exact import complete
from core.neighbors.interface import Backend, Neighbors
from core.neighbors.kernels import coordinates, distances, prepare, settle
from core.progress import Progress, part
from core.registry import Parameter

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
        ),
    )

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
        from annoy import AnnoyIndex

        points = coordinates(vectors)
        n, width = points.shape
        index = AnnoyIndex(width, _METRICS[vectors.norm])
        index.set_seed(seed)
        for i in range(n):
            index.add_item(i, points[i].tolist())
            if i % _STEP == 0:
                progress(0.2 * i / n, "filling the forest")
        # Nothing is heard of Annoy until all its trees stand.
        progress(0.2, f"growing {settings['n_trees']} trees")
        index.build(settings["n_trees"], n_jobs=1)

        candidates = np.full((n, k), -1, dtype=np.int32)
        widened = 0
        ask = part(progress, 0.4, 0.9)
        for i in range(n):
            search_k = settings["search_k"]
            found = _others(index, i, k, search_k)
            widened += len(found) < k
            # n_trees · n points are all there is to inspect.
            while len(found) < k and search_k < n * settings["n_trees"]:
                search_k *= 2
                found = _others(index, i, k, search_k)
            candidates[i, : len(found)] = found
            if i % _STEP == 0:
                ask(i / n, "asking the forest")
        rows = prepare(vectors)
        indices, sums = settle(
            rows, candidates, k, threads=threads, progress=part(progress, 0.9, 1.0)
        )
        complete(rows, np.flatnonzero(indices[:, -1] < 0), indices, sums, threads=threads)
        progress(1.0)
        return Neighbors(
            indices,
            distances(sums, rows.norm, vectors.scale),
            self.name,
            settings,
            tuple(_notices(n, width, widened, settings["search_k"])),
        )

    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
        """Splits found, rows sent down every tree, and rows compared for each query."""
        n, p, n_trees = problem.n, problem.p, settings["n_trees"]
        leaf = p + 2
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
        seconds = n * p * machine.python_float + build + ask
        memory = n * p * 4 * 2 + n_trees * n * 4 * 2
        return Cost(seconds, memory / 1e6)


def _others(index: Any, i: int, k: int, search_k: int) -> list[int]:
    """Up to k rows near row i, itself left out by index."""
    return [j for j in index.get_nns_by_item(i, k + 1, search_k) if j != i][:k]


def _notices(n: int, width: int, widened: int, search_k: int) -> list[str]:
    notices = []
    # A leaf of Annoy takes the room of one vector: width + 2 row numbers.
    if n <= width + 2:
        notices.append(
            f"Annoy keeps up to {width + 2:,} points of {width:,} columns in one leaf, so each of "
            f"the {n:,} points was compared with all: brute force in disguise."
        )
    if widened:
        notices.append(
            f"Annoy returned too few neighbours for {widened:,} of {n:,} points at search_k = "
            f"{search_k:,}; those were searched again with more."
        )
    return notices
