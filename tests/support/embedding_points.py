"""Small sets of points for the tests of the embeddings, with neighbours by brute force."""

import numpy as np

from core.neighbors import Neighbors
from core.vectors import Vectors

SMALL_SETTINGS = {"tsne": {"iterations": 60, "perplexity": 6.0}, "umap": {"epochs": 20}}


def curved_sheet(n: int = 120, seed: int = 0, p: int = 12) -> np.ndarray:
    """Noisy points of a curved two-dimensional sheet in p dimensions."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0, 1, (2, n))
    sheet = np.column_stack([np.sin(2 * a), np.cos(2 * a), b, a * b])
    x = sheet @ rng.normal(size=(4, p)) + rng.normal(0, 0.02, (n, p))
    return x.astype(np.float32)


def vectors_of(x: np.ndarray) -> Vectors:
    return Vectors.from_array(np.asarray(x, dtype=np.float32), distance="hellinger")


def neighbors_of(x: np.ndarray, k: int = 12) -> Neighbors:
    x = np.asarray(x, dtype=np.float32).astype(np.float64)
    apart = np.sqrt(((x[:, np.newaxis] - x[np.newaxis]) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    indices = np.argsort(apart, axis=1, kind="stable")[:, : min(k, len(x) - 1)]
    return Neighbors(indices.astype(np.int32), np.take_along_axis(apart, indices, axis=1), "exact")


def same_up_to_sign(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-6) -> bool:
    """Whether the columns agree, each up to its sign, as shares of the largest entry."""
    signs = np.sign((a * b).sum(axis=0))
    return bool(np.abs(a - b * signs).max() <= tolerance * np.abs(a).max())
