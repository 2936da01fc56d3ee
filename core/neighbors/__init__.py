"""The K nearest neighbours of every point, by a backend of one's choice.

A backend is one module of this package with one subclass of :class:`Backend`; it is registered
in the list below, in the order in which people see it.
"""

from typing import Any

import numpy as np

from core.distance import Vectors
from core.errors import InputError
from core.neighbors.exact import Exact
from core.neighbors.interface import BACKENDS, Backend, Neighbors
from core.neighbors.kdtree import KDTree
from core.neighbors.threads import available_threads
from core.progress import Progress, silent

__all__ = ["BACKENDS", "Backend", "Neighbors", "find_neighbors"]

for _backend in (Exact(), KDTree()):
    BACKENDS.register(_backend)


def find_neighbors(
    vectors: Vectors,
    *,
    k: int = 20,
    backend: str = "auto",
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
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
        A name in ``BACKENDS``, or ``auto`` for the one that is predicted to be fastest among
        those that are exact or nearly so.
    seed : int
        For backends that draw random numbers.
    threads : int, optional
        All cores of this process by default.
    progress : Progress
        Told how far the search is; raises to cancel it.
    **settings
        The backend's own parameters.
    """
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    n = len(vectors.x)
    if n == 0:
        raise InputError("there are no points to find neighbours of")
    if vectors.x.dtype.kind == "f" and not np.isfinite(vectors.x.sum()):
        raise InputError("the vectors hold NaN or infinity; neighbours need finite numbers")
    chosen = BACKENDS[backend]
    if vectors.distance not in chosen.distances:
        able = ", ".join(
            name for name, other in BACKENDS.items() if vectors.distance in other.distances
        )
        raise InputError(
            f"backend {chosen.name!r} cannot search by {vectors.distance!r}; choose {able}"
        )
    values = BACKENDS.settings(backend, settings)
    return chosen.query(
        vectors,
        min(k, n - 1),
        seed=seed,
        threads=threads or available_threads(),
        progress=progress,
        **values,
    )
