"""Recall: the share of returned neighbours that are as near as the true ones."""

import numpy as np

from core.distance import statistical_distance
from core.neighbors.interface import Neighbors
from core.neighbors.threads import available_threads, share
from core.progress import Progress, silent
from core.quality.reference import Reference

# A neighbour is right up to this much beyond the true K-th distance: under total variation a
# quarter of the rows tie at rank K, and sums of the same terms in another order differ so much.
TOLERANCE = 1e-9

# More than the relative error of a float32 sum; what lies this near to the K-th is settled in
# float64.
_DOUBT = 1e-4


def measure_recall(
    neighbors: Neighbors,
    reference: Reference,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> float | None:
    """Return the recall of the first K neighbours, K and the points being the reference's.

    None where no point has neighbours.
    """
    if reference.k == 0:
        return None
    points = reference.points
    found = neighbors.distances[points, : reference.k]
    right = np.empty(len(points), np.int64)

    def count(block: slice) -> None:
        limits = _true_distances(reference, block) + TOLERANCE
        right[block] = (found[block] <= limits[:, None]).sum(axis=1)

    share(count, reference.blocks, threads=threads or available_threads(), progress=progress)
    return float(right.mean() / reference.k)


def _true_distances(reference: Reference, block: slice) -> np.ndarray:
    """The distance from each of a block's points to its K-th nearest, in float64."""
    k = reference.k
    sums = reference.sum_rows(block)
    kth = np.partition(sums, k - 1, axis=1)[:, k - 1].astype(np.float64)
    distances = np.empty(len(sums))
    for row, (point, limit) in enumerate(zip(reference.points[block], kth, strict=True)):
        nearer = int((sums[row] < limit * (1 - _DOUBT)).sum())
        doubtful = np.flatnonzero(np.abs(sums[row] - limit) <= limit * _DOUBT)
        settled = statistical_distance(reference.vectors, int(point), doubtful)
        distances[row] = np.partition(settled, k - 1 - nearer)[k - 1 - nearer]
    return distances
