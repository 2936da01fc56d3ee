"""Locally linear embedding (Roweis and Saul 2000) on given neighbours."""

from typing import TYPE_CHECKING

import numpy as np

from core.embedding.landmarks import LANDMARKS
from core.embedding.neighborhoods import barycentric_weights, map_grams
from core.embedding.spectral import EigenProblem, SpectralMethod, SubsetNeighbors
from core.progress import Progress
from core.registry import Parameter, Value

if TYPE_CHECKING:
    from core.vectors import Vectors


class LocallyLinear(SpectralMethod):
    """Each point is rebuilt from its neighbours, here and on the map, with the same weights."""

    name = "lle"
    title = "LLE"
    seconds_per_point = 1e-4
    seconds_per_entry = 4e-8
    help = "Keeps the weights that rebuild each point from its neighbours"
    parameters = (
        Parameter(
            name="ridge",
            default=1e-3,
            low=1e-9,
            high=1.0,
            help="Share of the local trace added to the diagonal when solving for the weights",
        ),
        LANDMARKS,
    )

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
        """(I − W)ᵀ(I − W) for weights W that sum to one."""
        from scipy.sparse import csr_array, eye_array

        m, k = lists.indices.shape
        ridge = float(settings["ridge"])
        weights = map_grams(
            lambda gram: barycentric_weights(gram, ridge),
            vectors,
            lists.rows,
            lists.rows[lists.indices],
            threads=threads,
            progress=progress,
            message="solving for the weights",
        )
        indptr = np.arange(0, m * k + 1, k)
        rebuild = csr_array((weights.ravel(), lists.indices.ravel(), indptr), shape=(m, m))
        residual = eye_array(m, format="csr") - rebuild
        return EigenProblem(csr_array(residual.T @ residual), np.ones(m))
