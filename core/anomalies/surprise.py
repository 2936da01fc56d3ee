"""How far every point is from what its neighbours lead one to expect, and when in the week.

Density and distance call a point unusual when it is far from the others, and so they mostly name
the rare but plain: the largest consumers, the few shops. Surprise asks another question:

1. Which mixture of its neighbours' distributions comes nearest to a point? A point inside the
   manifold is nearly such a mixture, however sparse the manifold is there. Several neighbours
   have to take part, lest two anomalies of a kind explain each other.
2. How far is the point from that mixture, in total variation, in each slot of the week, beyond
   what so small samples differ by chance, and beyond how far its neighbours are from theirs?
3. In which part of the week is that largest? Short windows find an event of an evening, long
   ones a small change all week through.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from core.embedding.neighborhoods import GATHER
from core.errors import InputError
from core.neighbors import Neighbors
from core.parallel import run_tasks, slices
from core.progress import Progress, silent
from core.summary import Summarized
from core.vectors import Vectors

# The shortest window, in slots: one slot alone is mostly chance.
_SHORTEST = 2

# Windows of every length count in units of how far their top tenth stands above their median.
_TAIL = 0.9

# Less excess, in total variation, than can be told from rounding.
_ROUNDING = 1e-6

# The most that a neighbour counts in a mixture, in equal shares of all K.
_MOST_SHARES = 3

# Below this share of all bins, demand is not said to be higher or lower.
_NOTABLE_SHIFT = 0.02

# The mixture is settled when moving weight would gain less than this share of the squared
# distance to a neighbour.
_SETTLED = 1e-6
_STEPS_PER_NEIGHBOR = 200


@dataclass(frozen=True, eq=False, repr=False)
class Surprise(Summarized):
    """What every point has that its neighbours do not lead one to expect.

    Attributes
    ----------
    score : float64 ndarray of shape (n,)
        How far the strongest window is above the median of windows of its length, in units of how
        far their top tenth is. It is the largest over several lengths: more than a tenth of the
        points have 1.
    first, length : int64 ndarrays of shape (n,)
        The window that gives the score: so many blocks from the first on, the last followed by
        the first again.
    excess : float32 ndarray of shape (n, blocks)
        Total variation between a point and the best mixture of its neighbours in each block,
        less what sampling explains, less the same of those neighbours.
    shift : float32 ndarray of shape (n, blocks)
        Mean bin of the point less that of the mixture, as a share of all bins, from −1 to 1:
        positive where the point's demand is higher than expected.
    """

    score: np.ndarray
    first: np.ndarray
    length: np.ndarray
    excess: np.ndarray
    shift: np.ndarray

    def window(self, point: int) -> np.ndarray:
        """Return the blocks of a point's window, in their order."""
        return (self.first[point] + np.arange(self.length[point])) % self.excess.shape[1]

    def window_shift(self, point: int) -> float:
        """Return the mean shift in a point's window."""
        return float(self.shift[point, self.window(point)].mean())


def measure_surprise(
    vectors: Vectors,
    neighbors: Neighbors,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Surprise:
    """Compare every point with the best mixture of its neighbours.

    Parameters
    ----------
    vectors : Vectors
        n rows with their ``block_sizes``.
    neighbors : Neighbors
        Of the same n rows.
    threads : int, optional
        All cores by default. The result does not depend on them.
    progress : Progress
        Told how far the work is; may raise to stop it.

    Returns
    -------
    Surprise
    """
    indices, sizes = _checked(vectors, neighbors)
    weights, excess, shift = _own(
        vectors, sizes, slice(0, len(indices)), indices, threads=threads, progress=progress
    )
    excess -= _of_neighbors(excess, indices, weights)
    score, first, length = _scan(excess)
    return Surprise(score, first, length, excess, shift)


@dataclass(frozen=True, eq=False)
class Expectation:
    """What a map leads one to expect of new points.

    Attributes
    ----------
    own : float32 ndarray of shape (n, blocks)
        Every point's excess over the best mixture of its neighbours, before theirs is taken off.
    scale : float64 ndarray of shape (lengths, 3)
        Lengths of windows, and the median and the top tenth of the points' strongest of each.
    score : float64 ndarray of shape (n,)
        The surprise of the points themselves.
    """

    own: np.ndarray
    scale: np.ndarray
    score: np.ndarray


def make_expectation(vectors: Vectors, neighbors: Neighbors) -> Expectation:
    """Measure what :func:`surprise_of_new` needs of a map, given as for `measure_surprise`."""
    indices, sizes = _checked(vectors, neighbors)
    weights, own, _ = _own(vectors, sizes, slice(0, len(indices)), indices)
    excess = own - _of_neighbors(own, indices, weights)
    return Expectation(own, _scale(excess), _scan(excess)[0])


def surprise_of_new(
    vectors: Vectors,
    indices: np.ndarray,
    expectation: Expectation,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Surprise:
    """Compare new points with the best mixture of their neighbours on a map.

    Parameters
    ----------
    vectors : Vectors
        The map's n points and, after them, m new ones, with their ``block_sizes``.
    indices : ndarray of shape (m, k)
        The new points' neighbours among the first n.
    expectation : Expectation
        Of the map.

    Returns
    -------
    Surprise
        Of the m new points, each scored by itself on the map's scale.
    """
    n = len(expectation.own)
    sizes = vectors.block_sizes
    if sizes is None or len(vectors.x) != n + len(indices):
        raise InputError(
            f"surprise needs {n} points of the map and {len(indices)} new ones with the sample "
            f"size of every block, got {len(vectors.x)} points"
        )
    rows = slice(n, n + len(indices))
    weights, excess, shift = _own(vectors, sizes, rows, indices, threads=threads, progress=progress)
    # One neighbour after the other: a sum in one call may round differently with its size.
    for place in range(indices.shape[1]):
        excess -= (weights[:, place, np.newaxis] * expectation.own[indices[:, place]]).astype(
            np.float32
        )
    score, first, length = _scan(excess, expectation.scale)
    return Surprise(score, first, length, excess, shift)


def _checked(vectors: Vectors, neighbors: Neighbors) -> tuple[np.ndarray, np.ndarray]:
    """The neighbours and the sizes of all blocks."""
    n = len(vectors.x)
    indices = neighbors.indices
    if len(indices) != n:
        raise InputError(f"{n} points need neighbours of each, got those of {len(indices)}")
    sizes = vectors.block_sizes
    if sizes is None or sizes.shape != (n, vectors.blocks):
        raise InputError(
            "surprise needs the sample size of every block of the vectors; make them with "
            "make_vectors, or give block_sizes"
        )
    return indices, sizes


def _own(
    vectors: Vectors,
    sizes: np.ndarray,
    rows: slice,
    indices: np.ndarray,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, excess and shift of some rows, each compared with its own neighbours alone."""
    m, count = indices.shape
    excess = np.zeros((m, vectors.blocks), np.float32)
    shift = np.zeros((m, vectors.blocks), np.float32)
    weights = np.zeros((m, count))
    if count:

        def work(piece: slice) -> None:
            there = slice(rows.start + piece.start, rows.start + piece.stop)
            weights[piece], excess[piece], shift[piece] = _compare(
                vectors, sizes, there, indices[piece]
            )

        pieces = slices(m, max(1, GATHER // (count * vectors.x.shape[1])))
        # Each piece is a chain of small products: threads over pieces, not inside them.
        with threadpool_limits(1):
            run_tasks(
                work,
                pieces,
                threads=threads,
                progress=progress,
                message="Comparing with neighbours",
            )
    return weights, excess, shift


def explain(surprise: Surprise, point: int) -> str:
    """Say in words how a point differs from what its neighbours suggest."""
    shift = surprise.window_shift(point)
    if abs(shift) < _NOTABLE_SHIFT:
        return "uses about as much as similar ones, but in a different pattern"
    return f"uses {'more' if shift > 0 else 'less'} than similar ones"


def _compare(
    vectors: Vectors, sizes: np.ndarray, rows: slice, indices: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights (b, k) of the best mixture, excess (b, blocks) over chance, and shift."""
    point = _probabilities(vectors, np.arange(rows.start, rows.stop))
    towards = _probabilities(vectors, indices)
    towards -= point[:, np.newaxis]
    most = min(1.0, _MOST_SHARES / indices.shape[1])
    weights = _nearest_mixture(towards @ towards.transpose(0, 2, 1), most)
    gap = (weights[:, np.newaxis] @ towards)[:, 0]
    stacked = (len(point), vectors.blocks, -1)
    gap, expected = gap.reshape(stacked), (point + gap).reshape(stacked)
    # The variance of both samples, the mixture's as if its parts had one distribution.
    variance = 1 / sizes[rows] + (weights[..., np.newaxis] ** 2 / sizes[indices]).sum(axis=1)
    excess = np.abs(gap).sum(axis=2) / 2 - _by_chance(expected, variance)
    bins = np.linspace(0, 1, gap.shape[2])
    return weights, excess, -(gap @ bins)


def _probabilities(vectors: Vectors, rows: np.ndarray) -> np.ndarray:
    """Rows as stacked distributions, whatever the distance: mixtures are mixtures of these."""
    x = vectors.coordinates(rows)
    if vectors.distance == "hellinger":
        np.square(x, out=x)
        x *= 2
    return x


def _by_chance(expected: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The total variation that sampling alone gives, (b, blocks).

    A share of mean q in m readings is off by √(2 q(1−q) / πm) on average, as a normal variable
    is, but never by more than 2 q(1−q), which is nearer where q·m is below one.
    """
    spread = expected * (1 - expected)
    np.maximum(spread, 0, out=spread)
    normal = np.sqrt(spread * (2 / np.pi * variance[..., np.newaxis]))
    return np.minimum(normal, 2 * spread).sum(axis=2) / 2


@numba.njit(nogil=True, cache=True)
def _nearest_mixture(gram: np.ndarray, most: float) -> np.ndarray:
    """Weights of sum one, each from 0 to ``most``, that make wᵀ G w least, for a stack (b, k, k).

    G holds the inner products of the neighbours as seen from the point. Weight moves from the
    neighbour that adds most to the one that adds least, as far as it helps, until nothing does.
    """
    b, k, _ = gram.shape
    weights = np.zeros((b, k))
    for row in range(b):
        g, w = gram[row], weights[row]
        left, slope = 1.0, np.zeros(k)
        for j in np.argsort(np.diag(g)):  # the nearest neighbours, as much as each may have
            w[j] = min(most, left)
            slope += w[j] * g[j]
            left -= w[j]
        settled = _SETTLED * np.diag(g).min()
        for _ in range(_STEPS_PER_NEIGHBOR * k):
            low, high = -1, -1
            for j in range(k):
                if w[j] < most and (low < 0 or slope[j] < slope[low]):
                    low = j
                if w[j] > 0 and (high < 0 or slope[j] > slope[high]):
                    high = j
            if low < 0 or slope[high] - slope[low] <= settled:
                break
            gain = slope[high] - slope[low]
            curvature = g[low, low] + g[high, high] - 2 * g[low, high]
            room = min(w[high], most - w[low])
            step = gain / curvature if gain < room * curvature else room
            w[low] = min(most, w[low] + step)
            w[high] = max(0.0, w[high] - step)
            slope += step * (g[low] - g[high])
    return weights


def _of_neighbors(excess: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The neighbours' own excess, weighted as in the mixture, (n, blocks)."""
    found = np.empty_like(excess)
    for piece in slices(len(excess), max(1, GATHER // max(1, indices.shape[1] * excess.shape[1]))):
        found[piece] = np.einsum("ik,ikh->ih", weights[piece], excess[indices[piece]])
    return found


def _scan(
    excess: np.ndarray, scale: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score, first block and length of the strongest cyclic window of every point."""
    n = len(excess)
    scale = _scale(excess) if scale is None else scale
    score, first, length = np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for (size, start, strongest), (_, middle, high) in zip(_strongest(excess), scale, strict=True):
        strength = (strongest - middle) / max(high - middle, _ROUNDING)
        better = strength > score
        score[better], first[better], length[better] = strength[better], start[better], size
    return score, first, length


def _scale(excess: np.ndarray) -> np.ndarray:
    """Of windows of every length, the median and the top tenth of the points' strongest."""
    return np.array(
        [(size, *np.quantile(strongest, (0.5, _TAIL))) for size, _, strongest in _strongest(excess)]
    )


def _strongest(excess: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield each length of windows, where the strongest of every point begins and its mean."""
    n, blocks = excess.shape
    total = np.zeros((n, 2 * blocks))
    twice = np.concatenate([excess, excess[:, :-1]], axis=1, dtype=np.float64)
    np.cumsum(twice, axis=1, out=total[:, 1:])
    for size in _window_lengths(blocks):
        means = (total[:, size : size + blocks] - total[:, :blocks]) / size
        start = means.argmax(axis=1)
        yield size, start, means[np.arange(n), start]


def _window_lengths(blocks: int) -> list[int]:
    """Doubling up to half of the blocks, then all of them."""
    lengths = []
    size = _SHORTEST
    while size <= blocks // 2:
        lengths.append(size)
        size *= 2
    return [*lengths, blocks]
