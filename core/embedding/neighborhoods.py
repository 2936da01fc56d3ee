"""Local linear algebra: what the neighbourhood of each point looks like in coordinates.

A neighbourhood of k points in p dimensions is k × k inner products; p can be 33,600, so nothing
larger than a few neighbourhoods is ever gathered at once.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_limits

from core.distance import Vectors
from core.progress import Progress

# Elements of the coordinates that one task gathers: 16 MB of float64, so that they stay in cache
# between the gathering and the multiplication.
GATHER = 2_000_000


def coordinates(vectors: Vectors, rows: np.ndarray) -> np.ndarray:
    """Rows as float64 points: p under total variation and Jensen–Shannon, √(p/2) under Hellinger.

    Parameters
    ----------
    rows : ndarray of any shape of row numbers

    Returns
    -------
    ndarray of shape (*rows.shape, p)
    """
    x = vectors.x[rows].astype(np.float64)
    if vectors.block_weights is not None:
        x *= np.repeat(vectors.block_weights, x.shape[-1] // vectors.blocks)
    return x


def map_grams(
    function: Callable[[np.ndarray], np.ndarray],
    vectors: Vectors,
    rows: np.ndarray,
    neighbors: np.ndarray,
    *,
    threads: int,
    progress: Progress,
    message: str,
) -> np.ndarray:
    """Apply a function to the inner products of x_j − x_i over the neighbours j of each row i.

    Parameters
    ----------
    function : callable
        From Gram matrices of shape (b, k, k) to an array whose first axis is b.
    rows : ndarray of shape (m,)
    neighbors : ndarray of shape (m, k)
        Row numbers of the neighbours of each row.

    Returns
    -------
    ndarray whose first axis is m
    """
    m, k = neighbors.shape
    step = max(1, GATHER // max(1, k * vectors.x.shape[1]))

    def task(start: int) -> np.ndarray:
        part = slice(start, start + step)
        local = coordinates(vectors, neighbors[part])
        local -= coordinates(vectors, rows[part])[:, np.newaxis]
        return function(local @ local.transpose(0, 2, 1))

    # Each task is a chain of small products: threads over tasks, not inside them.
    results = []
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task, start) for start in range(0, m, step)]
        try:
            for done, future in enumerate(futures):
                results.append(future.result())
                progress((done + 1) / len(futures), message)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return np.concatenate(results)


def barycentric_weights(gram: np.ndarray, ridge: float) -> np.ndarray:
    """Weights that sum to one and best rebuild each point from its neighbours.

    Parameters
    ----------
    gram : ndarray of shape (b, k, k)
        Inner products of the neighbours as seen from the point.
    ridge : float
        Share of the trace that is added to the diagonal: with more neighbours than dimensions
        the weights are not determined otherwise.

    Returns
    -------
    ndarray of shape (b, k); not convex: weights may be negative
    """
    k = gram.shape[1]
    trace = np.trace(gram, axis1=1, axis2=2)
    # Neighbours that all coincide with the point say nothing: any ridge makes them equal.
    gram[:, np.arange(k), np.arange(k)] += (ridge * np.where(trace > 0, trace, 1))[:, np.newaxis]
    weights = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)
