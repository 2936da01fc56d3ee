"""The gradient of t-SNE by all pairs, for more dimensions than openTSNE's approximations have."""

from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_matrix

from core.parallel import run_tasks, slices

# Points up to which n² steps an iteration are bearable: some minutes in all.
EXACT_LIMIT = 10_000
ROWS = 64


def exact_gradient(
    embedding: np.ndarray, P: csr_matrix, *, n_jobs: int = 1, **_: Any
) -> tuple[float, np.ndarray]:
    """Divergence and gradient in openTSNE's scale (a quarter of the usual), by all pairs.

    Parameters
    ----------
    embedding : ndarray of shape (n, dim)
    P : csr_matrix of shape (n, n)
        Joint probabilities.
    """
    y = np.ascontiguousarray(embedding, dtype=np.float64)
    n = len(y)
    attraction, repulsion = np.zeros_like(y), np.zeros_like(y)
    weight, cost = np.zeros(n), np.zeros(n)

    def work(some: slice) -> None:
        rows = (some.start, some.stop)
        _forces(y, P.indptr, P.indices, P.data, rows, attraction, repulsion, weight, cost)

    run_tasks(work, slices(n, ROWS), threads=n_jobs)
    # Row sums are added up in one order, so the threads do not show in the result.
    total = weight.sum()
    divergence = cost.sum() + P.data.sum() * np.log(total)
    return float(divergence), attraction - repulsion / total


@njit(nogil=True, cache=True)
def _forces(y, indptr, indices, data, rows, attraction, repulsion, weight, cost):  # type: ignore[no-untyped-def]
    n, dim = y.shape
    for i in range(rows[0], rows[1]):
        for j in range(n):
            if j == i:
                continue
            squared = 0.0
            for c in range(dim):
                squared += (y[i, c] - y[j, c]) ** 2
            q = 1.0 / (1.0 + squared)
            weight[i] += q
            for c in range(dim):
                repulsion[i, c] += q * q * (y[i, c] - y[j, c])
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            squared = 0.0
            for c in range(dim):
                squared += (y[i, c] - y[j, c]) ** 2
            q = 1.0 / (1.0 + squared)
            if data[e] > 0:
                cost[i] += data[e] * np.log(data[e] / q)
            for c in range(dim):
                attraction[i, c] += data[e] * q * (y[i, c] - y[j, c])
