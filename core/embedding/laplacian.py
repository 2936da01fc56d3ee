"""Laplacian eigenmaps (Belkin and Niyogi 2003) on given neighbours."""

from typing import TYPE_CHECKING

import numpy as np

from core.embedding.graph import union_graph
from core.embedding.landmarks import LANDMARKS
from core.embedding.method import EmbeddingRequest
from core.embedding.spectral import EigenProblem, SpectralMethod, SubsetNeighbors
from core.progress import Progress
from core.registry import Parameter, Value

if TYPE_CHECKING:
    from core.vectors import Vectors

# An edge much longer than σ would weigh nothing and fall out of the graph; it stays an edge.
LIGHTEST = 1e-6


class Laplacian(SpectralMethod):
    """Neighbours stay together: the smoothest functions on the union graph."""

    name = "laplacian"
    title = "Laplacian eigenmaps"
    seconds_per_point = 1e-4
    help = "The smoothest functions on the neighbour graph"
    parameters = (
        Parameter(
            name="weights",
            default="unit",
            choices=("unit", "heat"),
            help="What an edge weighs: 1, or exp(−d²/2σ²)",
        ),
        Parameter(
            name="sigma",
            default=0.0,
            low=0.0,
            high=1e6,
            help="σ of the heat kernel in the distance's own units; 0 takes the median distance "
            "between neighbours",
        ),
        LANDMARKS,
    )

    def resolved(self, request: EmbeddingRequest) -> tuple[dict[str, Value], tuple[str, ...]]:
        """With the heat kernel, fill in σ and say it."""
        settings = dict(request.settings)
        if settings["weights"] == "unit":
            return settings, ()
        how = "as asked"
        if not settings["sigma"]:
            apart = request.distances[request.distances > 0]
            # Groups of duplicates alone: every edge weighs 1 whatever σ is.
            settings["sigma"] = float(np.median(apart)) if len(apart) else 1.0
            how = "the median distance between neighbours"
        return settings, (f"the heat kernel has σ = {settings['sigma']:.4g}, {how}",)

    def problem(
        self,
        lists: SubsetNeighbors,
        vectors: "Vectors",
        *,
        dim: int,
        threads: int,
        progress: Progress,
        settings: dict[str, Value],
    ) -> EigenProblem:
        """I − D^−½ A D^−½, whose null vector is √degree."""
        from scipy.sparse import csr_array, diags_array, eye_array

        progress(0.0, "weighing the graph")
        graph = union_graph(lists.indices, lists.distances)
        weights = np.ones(len(graph.lengths))
        if settings["weights"] == "heat":
            weights = np.exp(-((graph.lengths / float(settings["sigma"])) ** 2) / 2)
            weights = np.maximum(weights, LIGHTEST)
        adjacency = graph.matrix(weights)
        root = np.sqrt(adjacency.sum(axis=1))
        scale = diags_array(1 / root)
        normalised = eye_array(graph.n, format="csr") - scale @ adjacency @ scale
        return EigenProblem(csr_array(normalised), root)
