"""Exact neighbours under the Jensen–Shannon divergence, which is no norm of differences."""

from threading import RLock

import numpy as np
from numba import njit

from core.distance import Vectors
from core.neighbors.nearest import empty_lists, offer_tile
from core.neighbors.threads import share, slices
from core.progress import Progress

_BLOCK = 64


def find_divergence_neighbors(
    vectors: Vectors, k: int, *, threads: int, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Indices and distances of the k nearest rows: √JSD, or Σ JSD over several blocks.

    Every pair is evaluated once, in float64 and in the order of its columns, so lists of k by
    (distance, index) are the answer.
    """
    n = len(vectors.x)
    x = np.ascontiguousarray(vectors.x, dtype=np.float32)
    sums, indices = empty_lists(n, k, np.float64)
    limits = sums[:, -1].copy()
    blocks = slices(n, _BLOCK)
    locks = [RLock() for _ in blocks]

    def compare(pair: tuple[int, int]) -> None:
        a, b = blocks[pair[0]], blocks[pair[1]]
        tile = np.empty((a.stop - a.start, b.stop - b.start))
        _divergences(x[a], x[b], tile)
        with locks[pair[0]], locks[pair[1]]:
            offer_tile(tile, a.start, b.start, sums, indices, limits)

    pairs = [(i, i + d) for d in range(len(blocks)) for i in range(len(blocks) - d)]
    share(compare, pairs, threads=threads, progress=progress, message="comparing all pairs")
    found = np.maximum(sums, 0.0) * vectors.scale
    return indices, np.sqrt(found) if vectors.blocks == 1 else found


@njit(cache=True, nogil=True)
def _divergences(a, b, out):  # type: ignore[no-untyped-def]
    """Fill ``out[i, j]`` with the JSD in base 2 of rows of a and b, block sums included.

    A term is ½(p·log₂(p/m) + q·log₂(q/m)) with m = (p + q)/2: exactly zero where p = q, so
    duplicates are at distance zero, and half of what is there where the other is empty.
    """
    for i in range(len(a)):
        for j in range(len(b)):
            total = 0.0
            for g in range(a.shape[1]):
                p, q = np.float64(a[i, g]), np.float64(b[j, g])
                if p == q:
                    continue
                if p == 0.0 or q == 0.0:
                    total += p + q
                else:
                    double = 2.0 / (p + q)
                    total += p * np.log2(p * double) + q * np.log2(q * double)
            out[i, j] = total / 2
