"""A spectral start for large graphs: solved on a small graph, refined on larger ones.

The wanted vectors are the smoothest functions on the graph: eigenvectors of the walk
D^−½ W D^−½ after the first, as in Laplacian eigenmaps. Points are joined into groups of neighbours,
the groups into groups of groups, until few are left. There the eigenproblem is solved densely. Its
answer is handed down level by level, and smoothed on each by steps of a lazy walk, which leave
smooth functions nearly as they are. It is a start for a layout, not an eigenvector to many digits.
"""

from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from scipy.sparse.csgraph import connected_components

from core.embedding._eigen import smallest
from core.embedding._packing import pack
from core.progress import Progress, silent

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The dense problem at the end takes a second.
COARSEST = 1_500
SMOOTHING_STEPS = 20


def spectral_start(
    weights: "csr_array", dim: int, *, seed: int, progress: Progress = silent
) -> np.ndarray:
    """Find first places for the points of a graph, its components side by side.

    Parameters
    ----------
    weights : csr_array of shape (n, n)
        Symmetric and not negative.

    Returns
    -------
    ndarray of shape (n, dim)
        At most ten from the centre, with a little noise that parts points, as in umap-learn.
    """
    count, labels = connected_components(weights, directed=False)
    rng = np.random.default_rng(seed)
    if count == 1:
        y = _smoothest(weights, dim, progress)
    else:
        order = np.argsort(labels, kind="stable")
        together = weights[order][:, order]
        ends = np.cumsum(np.bincount(labels))
        parts = []
        for done, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
            progress(done / count, "finding a start")
            parts.append(
                _smoothest(together[start:stop, start:stop], dim, silent)
                if stop - start > dim + 1
                else rng.uniform(-1, 1, (stop - start, dim))
            )
        y = np.empty((len(labels), dim))
        y[order] = np.concatenate(pack(parts))
    y -= (y.min(axis=0) + y.max(axis=0)) / 2
    y *= 10 / (np.abs(y).max() or 1.0)
    return y + rng.normal(0, 1e-4, y.shape)


def _smoothest(weights: "csr_array", dim: int, progress: Progress) -> np.ndarray:
    """The eigenvectors of a connected graph, to the digits that a start needs."""
    from scipy.sparse import csr_array, diags_array, eye_array

    levels = [weights]
    groupings: list[np.ndarray] = []
    while levels[-1].shape[0] > COARSEST:
        progress(0.1 + 0.1 * len(groupings), "finding a start")
        group = join_groups(levels[-1])
        if group.max() + 1 > 0.8 * len(group):
            break  # hardly any edges to join by
        groupings.append(group)
        levels.append(_coarsened(levels[-1], group))
    walks = []
    for level in levels:
        root = np.sqrt(level.sum(axis=1))
        scale = diags_array(1 / root)
        walks.append((csr_array(scale @ level @ scale), root))
    walk, root = walks.pop()
    laplacian = csr_array(eye_array(walk.shape[0], format="csr") - walk)
    _, vectors = smallest(laplacian, root, dim, silent)
    for group in reversed(groupings):
        progress(1 - 0.1 * (len(walks) + 1), "finding a start")
        coarse_root = root
        walk, root = walks.pop()
        # A function on the groups, as a vector of the walk on their points.
        vectors = (vectors / coarse_root[:, np.newaxis])[group] * root[:, np.newaxis]
        vectors = _smoothed(walk, root, vectors)
    return np.asarray(vectors / root[:, np.newaxis])


def _coarsened(weights: "csr_array", group: np.ndarray) -> "csr_array":
    """Sum the weights between groups; those inside one stay as its loop, so degrees add up."""
    from scipy.sparse import csr_array

    n = len(group)
    joined = csr_array(
        (np.ones(n, np.float32), group, np.arange(n + 1)), shape=(n, group.max() + 1)
    )
    return csr_array(joined.T @ (weights @ joined))


def _smoothed(walk: "csr_array", root: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Steps of the lazy walk on vectors kept apart from one another and from the constant."""
    first = (root / np.linalg.norm(root))[:, np.newaxis]
    for _ in range(SMOOTHING_STEPS):
        vectors = (vectors + walk @ vectors) / 2
        vectors -= first * (first.T @ vectors)
        vectors, _ = np.linalg.qr(vectors)
    # In order, by their smoothness.
    _, turn = np.linalg.eigh(vectors.T @ (walk @ vectors))
    return np.asarray(vectors @ turn[:, ::-1])


def join_groups(weights: "csr_array") -> np.ndarray:
    """Join points with all of their neighbours, as long as none is taken; the rest join these.

    Returns
    -------
    ndarray of shape (n,), int32
        Groups from 0 on.
    """
    return _join(weights.indptr.astype(np.int64), weights.indices, weights.data)


@njit(nogil=True, cache=True)
def _join(indptr, indices, data):  # type: ignore[no-untyped-def]
    n = len(indptr) - 1
    group = np.full(n, -1, np.int32)
    count = 0
    for i in range(n):
        free = group[i] < 0
        for edge in range(indptr[i], indptr[i + 1]):
            if group[indices[edge]] >= 0:
                free = False
                break
        if free:
            group[i] = count
            for edge in range(indptr[i], indptr[i + 1]):
                group[indices[edge]] = count
            count += 1
    roots = group.copy()
    for i in range(n):
        if group[i] >= 0:
            continue
        heaviest = -1.0
        for edge in range(indptr[i], indptr[i + 1]):
            if roots[indices[edge]] >= 0 and data[edge] > heaviest:
                heaviest = data[edge]
                group[i] = roots[indices[edge]]
        if group[i] < 0:  # no neighbour at all
            group[i] = count
            count += 1
    return group
