"""Local linear algebra: what the neighbourhood of each point looks like in coordinates.

A neighbourhood of k points in p dimensions is k × k inner products; p can be 33,600, so nothing
larger than a few neighbourhoods is ever gathered at once.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from core.parallel import run_tasks, slices
from core.progress import Progress

if TYPE_CHECKING:
    from core.vectors import Vectors

# Coordinates gathered at once, and columns of them: few enough to stay in cache between the
# gathering and the multiplication.
GATHER = 500_000
COLUMNS = 4096


def map_grams(
    function: Callable[[np.ndarray], np.ndarray],
    vectors: "Vectors",
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
    p = vectors.x.shape[1]
    pieces = slices(m, max(1, GATHER // max(1, k * p)))
    results: dict[int, np.ndarray] = {}

    def work(number: int) -> None:
        piece = pieces[number]
        gram = np.zeros((piece.stop - piece.start, k, k))
        for columns in slices(p, COLUMNS):
            local = vectors.coordinates(neighbors[piece], columns)
            local -= vectors.coordinates(rows[piece], columns)[:, np.newaxis]
            gram += local @ local.transpose(0, 2, 1)
        results[number] = function(gram)

    run_tasks(work, range(len(pieces)), threads=threads, progress=progress, message=message)
    return np.concatenate([results[number] for number in range(len(pieces))])


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
