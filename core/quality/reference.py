"""What embeddings are measured against: distances and neighbourhoods of the vectors themselves.

Distances between vectors of tens of thousands of entries are the expensive part of every quality
measure, and they do not depend on the embedding. So they are prepared once, and each embedding
of the same vectors costs one pass over its own ranks.
"""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from core.errors import InputError
from core.parallel import run_tasks, slices
from core.progress import Progress, part, silent
from core.quality._difference_sums import RowSums
from core.quality.ranks import select_nearest_rows
from core.vectors import Vectors, statistical_distance

# Up to this many points, every point is measured; beyond it, a sample of them against all.
ALL_POINTS_LIMIT = 10_000
DEFAULT_SAMPLE = 1_000

# Sums are kept for the next embedding while they fit into this much memory; neighbourhoods are
# gathered by pieces that stay in a processor's cache.
KEEP_BYTES = 512 * 2**20
_GATHER_BYTES = 4 * 2**20


@dataclass(frozen=True, eq=False)
class QualityReference:
    """The vectors as seen from the points at which embeddings are measured.

    Attributes
    ----------
    vectors : Vectors
        All n of them.
    k : int
        Size of a neighbourhood, less than n.
    points : int64 ndarray of shape (s,)
        The points that are measured, in order; all n of them, or a sample.
    row_sums : RowSums
        Compares rows of the vectors.
    sums : float32 ndarray of shape (s, n), optional
        Of each measured point with all, in the order of their distances, infinite with itself.
        Absent where it would not fit into memory; `sum_rows` then computes them again.
    neighbors : int64 ndarray of shape (s, k), optional
        The exact neighbourhoods, nearest first; present where ``sums`` are.
    grams : float32 ndarray of shape (s, k, k), optional
        Centred Gram matrices of the exact neighbourhoods; present where ``sums`` are.
    notices : tuple of str
        What a reader of the result should know.
    """

    vectors: Vectors
    k: int
    points: np.ndarray
    row_sums: RowSums
    sums: np.ndarray | None
    neighbors: np.ndarray | None
    grams: np.ndarray | None
    notices: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of vectors."""
        return len(self.vectors.x)

    @property
    def is_sample(self) -> bool:
        """Whether some points are not measured."""
        return len(self.points) < self.n

    @property
    def blocks(self) -> list[slice]:
        """Slices of ``points`` whose rows of sums are worked on together."""
        return slices(len(self.points), self.row_sums.block_rows())

    def sum_rows(self, block: slice) -> np.ndarray:
        """Sums of a block of the measured points with all, in the order of their distances."""
        if self.sums is not None:
            return self.sums[block]
        return self.row_sums.of(self.points[block])


def prepare_reference(
    vectors: Vectors,
    *,
    k: int,
    sample: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
) -> QualityReference:
    """Prepare for measuring embeddings of ``vectors``.

    Parameters
    ----------
    k : int
        Size of a neighbourhood; clamped to n − 1 with a notice.
    sample : int, optional
        How many points to measure, each against all. By default all of up to 10,000 points, and
        1,000 of more.
    seed : int
        Chooses the sample.
    threads : int, optional
        How many threads; by default one per processor.
    """
    n = len(vectors.x)
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}")
    if sample is not None and sample < 1:
        raise InputError(f"sample must be at least 1 point, got {sample}")
    notices = []
    if k > n - 1:
        notices.append(f"K = {k} is more than the other points; quality is measured at {n - 1}")
        k = n - 1
    points = _choose_points(n, sample, seed)
    if len(points) < n:
        notices.append(f"quality is estimated on {len(points):,} of {n:,} points, each against all")
    row_sums = RowSums(vectors)
    sums = neighbors = grams = None
    if k > 0 and len(points) * n * 4 <= KEEP_BYTES:
        sums = _sums_of(row_sums, points, threads=threads, progress=part(progress, 0.0, 0.8))
        neighbors = _select(sums, k, threads=threads, progress=part(progress, 0.8, 0.85))
        grams = local_grams(vectors, neighbors, threads=threads, progress=part(progress, 0.85, 1.0))
    return QualityReference(vectors, k, points, row_sums, sums, neighbors, grams, tuple(notices))


def _sums_of(
    row_sums: RowSums, points: np.ndarray, *, threads: int | None, progress: Progress
) -> np.ndarray:
    if len(points) == row_sums.n:
        return row_sums.of_all(threads=threads, progress=progress)
    sums = np.empty((len(points), row_sums.n), np.float32)

    def fill(block: slice) -> None:
        sums[block] = row_sums.of(points[block])

    blocks = slices(len(points), row_sums.block_rows())
    run_tasks(fill, blocks, threads=threads, progress=progress)
    return sums


def _select(sums: np.ndarray, k: int, *, threads: int | None, progress: Progress) -> np.ndarray:
    neighbors = np.empty((len(sums), k), np.int64)

    def select(block: slice) -> None:
        select_nearest_rows(sums[block], neighbors[block])

    blocks = slices(len(sums), 256)
    run_tasks(select, blocks, threads=threads, progress=progress)
    return neighbors


def _choose_points(n: int, sample: int | None, seed: int) -> np.ndarray:
    if sample is None:
        sample = n if n <= ALL_POINTS_LIMIT else DEFAULT_SAMPLE
    if sample >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))


def local_grams(
    vectors: Vectors,
    neighbors: np.ndarray,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    """Gram matrices of the centred neighbourhoods, (s, k, k).

    Under total variation neighbours are by L1 while the local fit is in L2 on p, as it is for
    the methods that solve local least squares. √JSD is a distance of a Hilbert space (Fuglede
    and Topsøe 2004), whose Gram matrices follow from the distances.
    """
    count, k = neighbors.shape
    grams = np.empty((count, k, k), np.float32)

    def fill(block: slice) -> None:
        near = neighbors[block]
        if not vectors.is_normed:
            found = statistical_distance(vectors, near[:, :, None], near[:, None, :])
            # √JSD of a single block, and of several Σ JSD, which is a squared distance already.
            squared = found**2 if vectors.blocks == 1 else found
            grams[block] = centre_grams(-squared / 2)
        else:
            # About the first neighbour, identical points are exactly zero; about a rounded mean
            # they would have a shape made of noise.
            local = vectors.coordinates(near).astype(np.float32)
            local -= local[:, :1].copy()
            grams[block] = centre_grams(local @ local.transpose(0, 2, 1))

    size = max(1, _GATHER_BYTES // (4 * k * vectors.x.shape[1]))
    # The threads are ours; BLAS starting its own in each of them would be hundreds of times slower.
    with threadpool_limits(1, user_api="blas"):
        run_tasks(fill, slices(count, size), threads=threads, progress=progress)
    return grams


def centre_grams(grams: np.ndarray) -> np.ndarray:
    """Gram matrices (s, k, k) of the same points about their mean."""
    mean = grams.mean(axis=1, keepdims=True)
    return grams - mean - mean.transpose(0, 2, 1) + mean.mean(axis=2, keepdims=True)
