"""Hessian LLE (Donoho and Grimes 2003) on given neighbours."""

from typing import TYPE_CHECKING

import numpy as np

from core.embedding.landmarks import LANDMARKS
from core.embedding.method import EmbeddingRequest
from core.embedding.neighborhoods import map_grams
from core.embedding.spectral import EigenProblem, SpectralMethod, SubsetNeighbors
from core.errors import InputError
from core.progress import Progress
from core.registry import Parameter, Value

if TYPE_CHECKING:
    from core.vectors import Vectors

# A direction in which the neighbours vary less than this share of their widest is none.
FLAT = 1e-10


class Hessian(SpectralMethod):
    """Functions on the manifold that are linear in every neighbourhood's own coordinates."""

    name = "hessian"
    title = "Hessian LLE"
    seconds_per_point = 1e-4
    seconds_per_entry = 4e-8
    help = "Functions that are as linear as can be over each neighbourhood; needs K > d(d + 3)/2"
    parameters = (
        Parameter(
            name="penalty",
            default="all",
            choices=("all", "quadratic"),
            help="Which departures from linearity count: all of them (as scikit-learn does), or "
            "the quadratic ones alone (as the original paper does; less steady on noisy data)",
        ),
        LANDMARKS,
    )

    def check(self, request: EmbeddingRequest) -> None:
        """K must exceed the number of linear and quadratic terms."""
        d = request.dim
        needed = d * (d + 3) // 2 + 1
        if request.k >= needed:
            return
        way_out = f"raise K to at least {needed}"
        if request.n <= needed:
            way_out = f"take at least {needed + 1} points (there are {request.n})"
        raise InputError(
            f"Hessian LLE in {d} dimensions needs more than d(d + 3)/2 = {needed - 1} neighbours "
            f"of each point, got {request.k}; {way_out}, or lower the dimension"
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
        """Sum over all neighbourhoods of the projection onto what is not linear there."""
        from scipy.sparse import coo_array, csr_array

        m, k = lists.indices.shape
        local = quadratic_penalty if settings["penalty"] == "quadratic" else full_penalty
        penalties = map_grams(
            lambda gram: local(gram, dim),
            vectors,
            lists.rows,
            lists.rows[lists.indices],
            threads=threads,
            progress=progress,
            message="fitting tangent planes",
        )
        heads = np.repeat(lists.indices, k, axis=1).ravel()
        tails = np.tile(lists.indices, (1, k)).ravel()
        summed = coo_array((penalties.ravel(), (heads, tails)), shape=(m, m))
        return EigenProblem(csr_array(summed), np.ones(m))


def tangents(gram: np.ndarray, dim: int) -> np.ndarray:
    """Principal coordinates of each neighbourhood, orthonormal, widest first.

    Parameters
    ----------
    gram : ndarray of shape (b, k, k)
        Inner products of the neighbours as seen from any one point.

    Returns
    -------
    ndarray of shape (b, k, dim); a direction in which the neighbours do not vary is zero
    """
    mean = gram.mean(axis=1, keepdims=True)
    centred = gram - mean - mean.transpose(0, 2, 1) + mean.mean(axis=2, keepdims=True)
    values, vectors = np.linalg.eigh(centred)
    values, vectors = values[:, ::-1][:, :dim], vectors[:, :, ::-1][:, :, :dim]
    flat = values <= FLAT * np.maximum(values[:, :1], np.finfo(float).tiny)
    return np.where(flat[:, np.newaxis], 0.0, vectors)


def full_penalty(gram: np.ndarray, dim: int) -> np.ndarray:
    """Projection (b, k, k) off the constant and the tangent coordinates.

    scikit-learn's Hessian LLE is this: its QR factorisation is the complete one, so that beside
    the d(d + 1)/2 quadratic directions all that are neither constant nor linear are penalised.
    On the ten Australian households it keeps neighbourhoods better in every case.
    """
    k = gram.shape[1]
    linear = tangents(gram, dim)
    return np.eye(k) - 1 / k - linear @ linear.transpose(0, 2, 1)


def quadratic_penalty(gram: np.ndarray, dim: int) -> np.ndarray:
    """Projection (b, k, k) onto the quadratic terms, made orthogonal to the linear ones.

    The local matrix has 1 + d + d(d + 1)/2 columns.
    """
    linear = tangents(gram, dim)
    first, second = np.triu_indices(dim)
    ones = np.ones((*linear.shape[:2], 1))
    columns = np.concatenate([ones, linear, linear[..., first] * linear[..., second]], axis=2)
    quadratic = np.linalg.qr(columns)[0][..., 1 + dim :]
    return quadratic @ quadratic.transpose(0, 2, 1)
