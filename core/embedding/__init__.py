"""From a neighbour graph to a map: six methods, each fed the graph it is given.

``embed("isomap", neighbors, vectors)`` gives coordinates; ``METHODS`` lists the methods with
their parameters.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.embedding.alignment import align
from core.embedding.graph import union_graph
from core.embedding.hessian import Hessian
from core.embedding.isomap import Isomap
from core.embedding.laplacian import Laplacian
from core.embedding.lle import LocallyLinear
from core.embedding.method import Checkpoints, Embedding, EmbeddingRequest, Method
from core.embedding.tsne import TSNE
from core.embedding.umap_layout import UMAP
from core.errors import InputError
from core.fields import FIELDS
from core.neighbors import Neighbors
from core.parallel import available_cores
from core.progress import Progress, silent
from core.registry import Registry, Value

if TYPE_CHECKING:
    from core.vectors import Vectors

__all__ = ["METHODS", "Checkpoints", "Embedding", "Method", "align", "embed", "n_neighbors_needed"]

METHODS: Registry[Method] = Registry("method")
for _method in (Isomap(), LocallyLinear(), Laplacian(), Hessian(), TSNE(), UMAP()):
    METHODS.register(_method)


def n_neighbors_needed(method: str, k: int, n: int, settings: Mapping[str, Any]) -> int:
    """How many neighbours of each of n points a method needs, where the analyst chose k."""
    return METHODS[method].n_neighbors_needed(k, METHODS.settings(method, settings), n)


def embed(
    method: str,
    neighbors: Neighbors,
    vectors: "Vectors",
    *,
    dim: int = 2,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
    checkpoints: Checkpoints | None = None,
    **settings: Any,
) -> Embedding:
    """Embed points in ``dim`` dimensions.

    Parameters
    ----------
    method : str
        A name in ``METHODS``.
    neighbors : Neighbors
        Indices and distances of shape (n, k), k as ``n_neighbors_needed`` says.
    vectors : "Vectors"
        The same n points; read by methods that need coordinates.
    dim : int
        Coordinates wanted, from 1 to 100.
    seed : int
        Seed of whatever is random; the same seed gives the same picture.
    threads : int, optional
        Threads to use; all that this process may use by default.
    progress : Progress
        Called with the share of the work that is done; raises Cancelled to stop it.
    checkpoints : Checkpoints, optional
        Where long layouts keep their state, and go on from.
    **settings
        The method's parameters.

    Returns
    -------
    Embedding
    """
    from threadpoolctl import threadpool_limits

    values = METHODS.settings(method, settings)
    request = replace(
        _checked(neighbors, vectors, dim, seed, threads, progress, values), checkpoints=checkpoints
    )
    progress(0.0, f"{METHODS[method].title}")
    # Threads share out pieces of work whose results do not depend on the thread. Inside a
    # piece BLAS keeps to one: with more it would round differently.
    with threadpool_limits(1, user_api="blas"):
        result = _in_one_place(method, request) or METHODS[method].fit(request)
    if not np.isfinite(result.y).all():
        raise InputError(
            f"{METHODS[method].title} gave coordinates that are not numbers for {request.n} points "
            f"with {request.k} neighbours each; another K or another method may do"
        )
    progress(1.0, "embedded")
    return result


def _checked(
    neighbors: Neighbors,
    vectors: "Vectors",
    dim: int,
    seed: int,
    threads: int | None,
    progress: Progress,
    settings: Mapping[str, Value],
) -> EmbeddingRequest:
    indices = np.asarray(neighbors.indices, dtype=np.int64)
    distances = np.asarray(neighbors.distances, dtype=np.float64)
    n = len(vectors.x)
    if n == 0:
        raise InputError("there are no points to embed; choose at least one household")
    if indices.ndim != 2 or indices.shape != distances.shape or len(indices) != n:
        raise InputError(
            f"neighbours of {n} points must be two arrays of {n} rows, got shapes "
            f"{indices.shape} and {distances.shape}"
        )
    dim = FIELDS["dim"].validate(dim)
    if n > 1 and indices.shape[1] == 0:
        raise InputError("every point needs at least one neighbour; raise K to at least 1")
    own = (indices == np.arange(n)[:, np.newaxis]).any()
    if own or (indices < 0).any() or (indices >= n).any():
        raise InputError(
            f"neighbours must be row numbers from 0 to {n - 1} of other points; search again"
        )
    if not np.isfinite(distances).all() or (distances < 0).any():
        raise InputError("distances to neighbours must be finite and not negative; search again")
    workers = threads or available_cores()
    return EmbeddingRequest(indices, distances, vectors, dim, seed, workers, progress, settings)


def _in_one_place(method: str, request: EmbeddingRequest) -> Embedding | None:
    """Answer for a single point, or for points that all have the same distribution."""
    if request.distances.any():
        return None
    components, _ = union_graph(request.indices, request.distances).components()
    if components > 1:
        return None
    what = "there is one point" if request.n == 1 else f"all {request.n} points are identical"
    y = np.zeros((request.n, request.dim))
    notice = f"{what}: a map has nothing to separate"
    return Embedding(y, method, dict(request.settings), components, notices=(notice,))
