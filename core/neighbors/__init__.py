"""The K nearest neighbours of every point, by a backend of one's choice.

A backend is one module of this package with one subclass of :class:`Backend`; it is registered
in the list below, in the order in which people see it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError
from core.neighbors.annoy_trees import Annoy
from core.neighbors.backend import BACKENDS, Backend, Index, Neighbors
from core.neighbors.cost import Cost, SearchSize, machine
from core.neighbors.exact import Exact
from core.neighbors.hnsw import HNSW
from core.neighbors.kdtree import KDTree
from core.neighbors.nndescent import NNDescent
from core.parallel import available_cores
from core.progress import Progress, part, silent

if TYPE_CHECKING:
    from core.vectors import Vectors

__all__ = [
    "BACKENDS",
    "Backend",
    "Cost",
    "Index",
    "Neighbors",
    "build_index",
    "choose_backend",
    "find_neighbors",
    "predict",
]

# Below this an approximate answer saves too little to be worth its errors.
_PATIENCE_SECONDS = 60.0

for _backend in (Exact(), KDTree(), Annoy(), NNDescent(), HNSW()):
    BACKENDS.register(_backend)


_WHY_NOT = {
    "js": "the Jensen–Shannon divergence is no norm of differences of vectors",
    "tv": "total variation is an L1 norm, which its library does not have",
    "hellinger": "the Hellinger distance is an L2 norm, which it does not have",
}


def find_neighbors(
    vectors: "Vectors",
    *,
    k: int = 20,
    backend: str = "auto",
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
    index: Index | None = None,
    **settings: Any,
) -> Neighbors:
    """Find the k nearest neighbours of every row, itself left out by index.

    Parameters
    ----------
    vectors : Vectors
        n rows.
    k : int
        Neighbours of each row; clamped to n − 1 with a notice.
    backend : str
        A name in ``BACKENDS``, or ``auto``: see :func:`choose_backend`.
    seed : int
        For backends that draw random numbers.
    threads : int, optional
        All cores of this process by default.
    progress : Progress
        Called with the share of the work that is done; raises to cancel it.
    index : Index, optional
        What :func:`build_index` made of the same vectors, backend and settings; by default it is
        built for this search alone.
    **settings
        The backend's own parameters.
    """
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    n = len(vectors.x)
    notices: tuple[str, ...] = ()
    if 0 < n <= k:
        notices = (f"K = {k} needs more than {k} points and there are {n}; K is {n - 1} instead.",)
        k = n - 1
    threads = threads or available_cores()
    if backend == "auto" and n:
        backend = choose_backend(vectors, k=k, threads=threads)
    if index is None:
        share = BACKENDS[backend].build_share if k else 1.0
        index = build_index(
            vectors,
            backend=backend,
            seed=seed,
            threads=threads,
            progress=part(progress, 0.0, share),
            **settings,
        )
        progress = part(progress, share, 1.0)
    if k == 0:
        nobody = np.empty((1, 0))
        return Neighbors(nobody.astype(np.int32), nobody, backend, dict(index.settings), notices)
    found = index.query_own(k, threads=threads, progress=progress)
    return replace(found, notices=notices + found.notices)


def build_index(
    vectors: "Vectors",
    *,
    backend: str = "exact",
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Index:
    """Make rows ready for searches: of other rows for every row, or of rows for new points.

    An index serves any number of neighbours, and with :meth:`Index.change` other values of the
    parameters that only matter to a search. The parameters are those of :func:`find_neighbors`.
    """
    if len(vectors.x) == 0:
        raise InputError("there are no points to find neighbours of")
    if vectors.x.dtype.kind == "f" and not np.isfinite(vectors.x.sum()):
        raise InputError("the vectors hold NaN or infinity; neighbours need finite numbers")
    chosen = BACKENDS[backend]
    values = BACKENDS.settings(backend, settings)
    if vectors.distance not in chosen.distances:
        able = [name for name, other in BACKENDS.items() if vectors.distance in other.distances]
        raise InputError(
            f"{chosen.title} cannot search by {vectors.distance!r}: {_WHY_NOT[vectors.distance]}; "
            f"choose {' or '.join(able)}"
        )
    threads = threads or available_cores()
    return chosen.build(vectors, seed=seed, threads=threads, progress=progress, **values)


def predict(
    vectors: "Vectors", *, backend: str, k: int = 20, threads: int | None = None, **settings: Any
) -> Cost:
    """Predict what a search will cost on this machine, measuring the machine the first time."""
    n, p = vectors.x.shape
    problem = SearchSize(
        n=n,
        p=p,
        k=max(1, min(k, n - 1)),
        norm=vectors.norm,
        itemsize=vectors.x.dtype.itemsize,
        threads=threads or available_cores(),
    )
    values = BACKENDS.settings(backend, settings)
    return BACKENDS[backend].cost(problem, machine(), **values)


def choose_backend(vectors: "Vectors", *, k: int = 20, threads: int | None = None) -> str:
    """Name the backend that ``auto`` stands for.

    Exact, as long as it is predicted to take less than a minute; above that whichever of the
    backends that find nearly all neighbours is predicted to be fastest.
    """
    exact = predict(vectors, backend="exact", k=k, threads=threads)
    if exact.seconds <= _PATIENCE_SECONDS:
        return "exact"
    able = [
        name
        for name, other in BACKENDS.items()
        if other.automatic and vectors.distance in other.distances
    ]
    return min(able, key=lambda name: predict(vectors, backend=name, k=k, threads=threads).seconds)
