"""How many segments there are, and who is in which: those that two halves of the weeks agree on.

K-means (scikit-learn) on the principal axes of the Hellinger coordinates. Density clustering
(HDBSCAN) was measured and is not stable on real households: see benchmarks/results/segments.md.
"""

from dataclasses import dataclass

import numpy as np

from core.errors import InputError
from core.progress import Progress, silent
from core.segments.week_points import WeekPoints

AXES = 6
MOST_SEGMENTS = 10
RESTARTS = 10

# Two halves of the weeks must agree so far on a number of segments: adjusted Rand index.
LEAST_AGREEMENT = 0.8
# And nearly as far as on the best number: a true segment that is cut in two at random leaves the
# others as they were, and the index high.
AGREEMENT_SLACK = 0.08
HALVINGS = 6

# A household that is elsewhere in more than this share of the halves is between segments.
MOST_ELSEWHERE = 0.3

# A segment holds at least so many households, in all and as a share.
LEAST_SIZE = 5
LEAST_SHARE = 0.02

# A segment is cut into at most so many parts.
MOST_PARTS = 4


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which segment each household is in.

    Attributes
    ----------
    label : ndarray of int, shape (n,)
        From 0, the largest segment first; −1 for households between segments.
    agreement : dict of int to float
        For every number of segments that was tried, the adjusted Rand index between two halves of
        the weeks, over all households, averaged over halvings.
    stays : ndarray of shape (n,)
        The share of halves in which a household is in the same segment.
    found : int
        The number of segments that the weeks agree on.
    part : ndarray of int, shape (n,)
        Segments cut into parts on which the halves agree as well, from 0, those of the first
        segment first; a segment on whose parts they do not agree is one part. −1 as in ``label``.
    """

    label: np.ndarray
    agreement: dict[int, float]
    stays: np.ndarray
    found: int
    part: np.ndarray


def cluster_weeks(
    points: WeekPoints, *, detail: int = 0, seed: int = 1, progress: Progress = silent
) -> Clustering:
    """Find segments; ``detail`` asks for so many more, or fewer, than the weeks agree on."""
    n = len(points.households)
    most = min(MOST_SEGMENTS, n // (2 * LEAST_SIZE))
    if most < 2:
        raise InputError(
            f"{n} households with enough weeks are too few for segments; at least "
            f"{4 * LEAST_SIZE} are needed"
        )
    whole = points.coordinates()
    center, axes = _principal_axes(whole)
    halves = _halves(points)
    projected = [(_project(points.coordinates(half), center, axes)) for half in halves]
    agreement: dict[int, float] = {}
    labels: dict[int, list[np.ndarray]] = {}
    for count in range(2, most + 1):
        labels[count] = [_k_means(part, count, seed) for part in projected]
        agreement[count] = _agreement(labels[count])
        progress(count / (most + 1), "Finding segments")
    found = _finest_stable(agreement)
    count = int(np.clip(found + detail, 2, most))
    placed = _project(whole, center, axes)
    label = _k_means(placed, count, seed)
    same = np.stack([_matched(label, other) == label for other in labels[count]])
    present = np.stack([other >= 0 for other in labels[count]])
    stays = (same & present).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    label = _by_size(np.where(stays < 1 - MOST_ELSEWHERE, -1, label))
    part = _parts(label, placed, projected, seed)
    progress(1.0, "Finding segments")
    return Clustering(label, agreement, stays, found, part)


def _parts(
    label: np.ndarray, points: np.ndarray, halves: list[np.ndarray], seed: int
) -> np.ndarray:
    """Cut every segment into as many parts as the halves agree on."""
    part = np.full(len(label), -1)
    for segment in range(int(label.max()) + 1):
        own = np.flatnonzero(label == segment)
        cut = np.zeros(len(own), int)
        for count in range(min(MOST_PARTS, len(own) // (2 * LEAST_SIZE)), 1, -1):
            found = _k_means(points[own], count, seed)
            if (
                np.bincount(found).min() >= LEAST_SIZE
                and _agreement([_k_means(half[own], count, seed) for half in halves])
                >= LEAST_AGREEMENT
            ):
                cut = _by_size(found)
                break
        part[own] = part.max() + 1 + cut
    return part


def _finest_stable(agreement: dict[int, float]) -> int:
    """Return the largest number that the halves agree on; the best one where they do not."""
    best = max(agreement, key=lambda count: agreement[count])
    least = max(LEAST_AGREEMENT, agreement[best] - AGREEMENT_SLACK)
    return max((count for count, value in agreement.items() if value >= least), default=best)


def _principal_axes(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the first axes, with fixed signs."""
    center = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - center, full_matrices=False)
    axes = axes[:AXES]
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    return center, axes * signs[:, None]


def _project(points: np.ndarray, center: np.ndarray, axes: np.ndarray) -> np.ndarray:
    return np.asarray((points - center) @ axes.T)


def _halves(points: WeekPoints) -> list[np.ndarray]:
    """Return pairs of halves: of every two weeks that follow each other, one is in each.

    So both have the same seasons. They are the same whatever the seed: how many segments there are
    is not for it to say.
    """
    rng = np.random.default_rng(0)
    weeks = np.flatnonzero(points.known.any(axis=0))
    pairs = weeks[: len(weeks) // 2 * 2].reshape(-1, 2)
    found = []
    for _ in range(HALVINGS):
        first = np.zeros(points.known.shape[1], bool)
        first[pairs[np.arange(len(pairs)), rng.integers(0, 2, len(pairs))]] = True
        found += [first, ~first]
    return found


def _k_means(points: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Cluster the points that are known; −1 for the others."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    label = np.full(len(points), -1)
    known = np.isfinite(points).all(axis=1)
    if known.sum() < count:
        return label
    # Threads that wait for each other take longer than so few points.
    with threadpool_limits(limits=1):
        fitted = KMeans(count, n_init=RESTARTS, random_state=seed).fit(points[known])
    label[known] = fitted.labels_
    return label


def _agreement(labels: list[np.ndarray]) -> float:
    """Return the mean adjusted Rand index of pairs of halves."""
    pairs = zip(labels[::2], labels[1::2], strict=True)
    return float(np.mean([_adjusted_rand(*pair) for pair in pairs]))


def _adjusted_rand(one: np.ndarray, two: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    both = (one >= 0) & (two >= 0)
    return float(adjusted_rand_score(one[both], two[both])) if both.any() else 0.0


def _matched(label: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Rename the clusters of ``other`` so that as many households as possible agree."""
    from scipy.optimize import linear_sum_assignment

    count = int(max(label.max(), other.max())) + 1
    common = np.zeros((count, count), int)
    both = other >= 0
    np.add.at(common, (other[both], label[both]), 1)
    _, renamed = linear_sum_assignment(-common)
    return np.where(both, renamed[np.maximum(other, 0)], -1)


def _by_size(label: np.ndarray) -> np.ndarray:
    """Number the segments from the largest; those that are too small are no segments."""
    sizes = np.bincount(label[label >= 0])
    order = np.argsort(-sizes, kind="stable")
    least = max(LEAST_SIZE, LEAST_SHARE * len(label))
    new = np.full(len(sizes), -1)
    kept = order[sizes[order] >= least]
    new[kept] = np.arange(len(kept))
    return np.where(label >= 0, new[np.maximum(label, 0)], -1)
