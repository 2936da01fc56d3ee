"""Permutation tests: how large a difference is when households are dealt out at random."""

from dataclasses import dataclass

import numpy as np

from core.progress import Progress, silent
from core.vectors import Vectors

# Columns of the vectors that are taken at a time, so that n × columns stays small.
_CELLS = 1 << 23

# Equal deals give equal statistics up to rounding.
_TIE = 1e-6


@dataclass(frozen=True, eq=False)
class Deals:
    """The two sides, and random ones of the same sizes.

    Attributes
    ----------
    first : ndarray of float64, shape (1 + permutations, n)
        The weight of every household in the mean of the first side; row 0 is how it is.
    second : ndarray of float64, same shape
    """

    first: np.ndarray
    second: np.ndarray

    @classmethod
    def of(cls, in_first: np.ndarray, permutations: int, seed: int) -> "Deals":
        """Deal out households; ``in_first``, (n,) bool, says who is on the first side."""
        rng = np.random.default_rng(seed)
        labels = np.tile(in_first, (permutations + 1, 1))
        labels[1:] = rng.permuted(labels[1:], axis=1)
        count = int(in_first.sum())
        return cls(labels / count, ~labels / (len(in_first) - count))

    def differences(self, values: np.ndarray) -> np.ndarray:
        """Mean of the first side less that of the second, for values (n, k): (deals, k)."""
        return np.asarray((self.first - self.second) @ values)

    def t_statistics(self, values: np.ndarray) -> np.ndarray:
        """Welch's t of every column of values, (n, k), for every deal: (deals, k)."""
        centred = values - values.mean(axis=0)
        squared = np.zeros((len(self.first), values.shape[1]))
        for weights in (self.first, self.second):
            size = round(1 / weights.max())
            mean = weights @ centred
            spread = np.maximum(weights @ centred**2 - mean**2, 0.0)
            squared += spread / max(size - 1, 1)
        least = np.finfo(float).tiny
        return self.differences(centred) / np.sqrt(np.maximum(squared, least))


def tail_share(statistics: np.ndarray) -> np.ndarray:
    """Return the share of deals, the real one included, that reach row 0: p of every column."""
    reach = np.abs(statistics) >= np.abs(statistics[0]) * (1 - _TIE)
    return np.asarray(reach.mean(axis=0))


def adjusted_tail_share(statistics: np.ndarray) -> np.ndarray:
    """Return p of every column, adjusted for their number by the largest of each deal.

    Westfall and Young's single step: the chance that any column reaches as much.
    """
    largest = np.abs(statistics).max(axis=1)
    reach = largest[:, None] >= np.abs(statistics[0])[None, :] * (1 - _TIE)
    return np.asarray(reach.mean(axis=0))


def group_distances(
    vectors: Vectors, rows: np.ndarray, deals: Deals, *, progress: Progress = silent
) -> np.ndarray:
    """Return the statistical distance between both sides' mean distributions, for every deal.

    Every household counts alike. Of several blocks, such as the slots of the week, it is the mean
    for total variation and Jensen–Shannon divergence, and the root of the mean square for
    Hellinger: between 0 and 1.

    Parameters
    ----------
    vectors : Vectors
    rows : ndarray of int, shape (n,)
        The households that are dealt out.
    deals : Deals
    """
    width = vectors.x.shape[1]
    step = max(1, _CELLS // max(len(rows), len(deals.first)))
    total = np.zeros(len(deals.first))
    first, second = deals.first.astype(np.float32), deals.second.astype(np.float32)
    for start in range(0, width, step):
        points = vectors.coordinates(rows, slice(start, start + step), dtype=np.float32)
        shares = 2 * points**2 if vectors.distance == "hellinger" else points
        total += _divergence(first @ shares, second @ shares, vectors.distance)
        progress(min(1.0, (start + step) / width), "Comparing groups")
    mean = total / vectors.blocks
    is_root = vectors.distance == "hellinger" or (vectors.distance == "js" and vectors.blocks == 1)
    return np.sqrt(mean) if is_root else mean


def _divergence(p: np.ndarray, q: np.ndarray, distance: str) -> np.ndarray:
    """Sum what the columns add to the distance, or to its square, of each pair of rows."""
    if distance == "tv":
        return np.abs(p - q).sum(axis=1, dtype=np.float64) / 2
    if distance == "hellinger":
        return ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=1, dtype=np.float64) / 2
    from scipy.special import rel_entr

    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    middle = (p + q) / 2
    divergence = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / (2 * np.log(2))
    return np.maximum(divergence, 0.0)
