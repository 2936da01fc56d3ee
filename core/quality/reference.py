"""What embeddings are measured against: distances and neighbourhoods of the vectors themselves.

Distances between vectors of tens of thousands of entries are the dear part of every quality
measure, and they do not depend on the embedding. So they are prepared once, and each embedding
of the same vectors costs one pass over its own ranks.
"""

from dataclasses import dataclass

import numpy as np

from core.blocks import run_blocks, split_rows
from core.distance import Vectors
from core.errors import InputError
from core.progress import Progress, part, silent
from core.quality.ranks import select_nearest

# Up to this many points, every point is measured; beyond it, a sample of them against all.
ALL_POINTS_LIMIT = 10_000
DEFAULT_SAMPLE = 2_000

# Distances are kept for the next embedding while they fit into this much memory; one block of
# rows, or of gathered neighbourhoods, is small enough to stay in a processor's cache.
KEEP_BYTES = 512 * 2**20
BLOCK_BYTES = 4 * 2**20


@dataclass(frozen=True, eq=False)
class Reference:
    """The vectors as seen from the points at which embeddings are measured.

    Attributes
    ----------
    vectors : Vectors
        All n of them.
    k : int
        Size of a neighbourhood, less than n.
    points : int64 ndarray of shape (s,)
        The points that are measured, in order; all n of them, or a sample.
    distances : float32 ndarray of shape (s, n), optional
        From each measured point to all, infinite to itself. Absent where it would not fit into
        memory; `distance_rows` then computes them again.
    grams : float32 ndarray of shape (s, k, k), optional
        Centred Gram matrices of the exact neighbourhoods; present where ``distances`` are.
    notices : tuple of str
        What a reader of the result should know.
    """

    vectors: Vectors
    k: int
    points: np.ndarray
    distances: np.ndarray | None
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
        """Slices of ``points`` whose distance rows are worked on together."""
        return split_rows(len(self.points), BLOCK_BYTES // (4 * self.n))

    def distance_rows(self, block: slice) -> np.ndarray:
        """Distances from a block of the measured points to all, infinite to themselves."""
        if self.distances is not None:
            return self.distances[block]
        return _distance_rows(self.vectors, self.points[block])


def prepare_reference(
    vectors: Vectors,
    *,
    k: int,
    sample: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
) -> Reference:
    """Prepare for measuring embeddings of ``vectors``.

    Parameters
    ----------
    k : int
        Size of a neighbourhood; clamped to n − 1 with a notice.
    sample : int, optional
        How many points to measure, each against all. By default all of up to 10,000 points, and
        2,000 of more.
    seed : int
        Chooses the sample.
    threads : int, optional
        How many threads; by default one a processor.
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
    reference = Reference(vectors, k, points, None, None, tuple(notices))
    if len(points) * n * 4 > KEEP_BYTES:
        return reference
    distances = np.empty((len(points), n), np.float32)
    neighbors = np.empty((len(points), k), np.int64)

    def fill(block: slice) -> None:
        distances[block] = _distance_rows(vectors, points[block])
        for row in range(block.start, block.stop):
            select_nearest(distances[row], neighbors[row])

    if k > 0:
        run_blocks(fill, reference.blocks, threads=threads, progress=part(progress, 0.0, 0.8))
    grams = local_grams(vectors, neighbors, threads=threads, progress=part(progress, 0.8, 1.0))
    return Reference(vectors, k, points, distances, grams, tuple(notices))


def _choose_points(n: int, sample: int | None, seed: int) -> np.ndarray:
    if sample is None:
        sample = n if n <= ALL_POINTS_LIMIT else DEFAULT_SAMPLE
    if sample >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, sample, replace=False))


def _distance_rows(vectors: Vectors, rows: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    metric = {0: "jensenshannon", 1: "cityblock", 2: "euclidean"}[vectors.norm]
    distances = vectors.scale * cdist(_floats(vectors, rows), _floats(vectors, slice(None)), metric)
    distances[np.arange(len(rows)), rows] = np.inf
    return distances.astype(np.float32)


def local_grams(
    vectors: Vectors,
    neighbors: np.ndarray,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> np.ndarray:
    """Gram matrices of the centred neighbourhoods, (s, k, k), in the L2 geometry of the vectors.

    Under total variation neighbours are by L1 while the local fit is in L2 on p, as it is for
    the methods that solve local least squares.
    """
    count, k = neighbors.shape
    grams = np.empty((count, k, k), np.float32)

    def fill(block: slice) -> None:
        local = centre_rows(_floats(vectors, neighbors[block]))
        grams[block] = local @ local.transpose(0, 2, 1)

    if k > 0:
        bytes_per_point = 4 * k * vectors.x.shape[1]
        run_blocks(
            fill,
            split_rows(count, BLOCK_BYTES // bytes_per_point),
            threads=threads,
            progress=progress,
        )
    return grams


def centre_rows(local: np.ndarray) -> np.ndarray:
    """Centre each neighbourhood (s, k, p); one of identical points becomes exactly zero."""
    # A mean rounds, so that identical points less their mean would leave a shape made of noise.
    shifted = local - local[:, :1]
    return shifted - shifted.mean(axis=1, keepdims=True)


def _floats(vectors: Vectors, rows: np.ndarray | slice) -> np.ndarray:
    """Gather rows as floats whose differences need no further weights."""
    chosen = vectors.x[rows].astype(np.float32)
    if vectors.block_weights is not None:
        chosen *= np.repeat(vectors.block_weights, vectors.x.shape[1] // vectors.blocks)
    return chosen
