"""Leading principal components of the vectors, as a start for t-SNE."""

import numpy as np

from core.embedding._eigen import oriented
from core.embedding.neighborhoods import GATHER
from core.progress import Progress
from core.vectors import Vectors

# Randomised subspace iteration (Halko, Martinsson and Tropp 2011): a start needs no more.
OVERSAMPLING = 8
ITERATIONS = 4


def principal_components(vectors: Vectors, dim: int, seed: int, progress: Progress) -> np.ndarray:
    """Scores on the leading principal components, reading the vectors a few rows at a time.

    Returns
    -------
    ndarray of shape (n, dim); zero beyond the number of components there are
    """
    n, p = vectors.x.shape
    step = max(1, GATHER // p)
    blocks = [np.arange(start, min(n, start + step)) for start in range(0, n, step)]
    mean = sum(vectors.coordinates(rows).sum(axis=0) for rows in blocks) / n
    width = min(dim + OVERSAMPLING, n, p)
    basis = np.random.default_rng(seed).standard_normal((p, width))
    for iteration in range(ITERATIONS + 1):
        basis = np.linalg.qr(basis)[0]
        scores = np.empty((n, width))
        product = np.zeros((p, width))
        for rows in blocks:
            centred = vectors.coordinates(rows) - mean
            scores[rows] = centred @ basis
            product += centred.T @ scores[rows]
            progress((iteration + rows[-1] / n) / (ITERATIONS + 1), "finding principal components")
        basis = product
    # Rayleigh–Ritz: rotate the scores to their own principal axes.
    left, values, _ = np.linalg.svd(scores, full_matrices=False)
    count = min(dim, width)
    y = np.zeros((n, dim))
    y[:, :count] = oriented(left[:, :count]) * values[:count]
    return y
