"""ISOMAP (Tenenbaum, de Silva and Langford 2000) on given neighbours."""

from collections.abc import Mapping

import numpy as np

from core.embedding import landmarks
from core.embedding.graph import JoinedGraph, join, union_graph
from core.embedding.method import Embedding, EmbeddingRequest, Method
from core.parallel import slices
from core.progress import Progress, part
from core.registry import Value

# Rows that are centred between two reports of progress.
CENTRED_ROWS = 1024
_SECONDS_PER_WAY = 1.1e-7


class Isomap(Method):
    """Distances along the graph, kept as well as a flat map can."""

    name = "isomap"
    title = "ISOMAP"
    seconds_per_point = 5e-5
    help = "Keeps the distances along the neighbour graph"
    parameters = (landmarks.LANDMARKS,)

    def seconds(self, n: int, p: int, settings: Mapping[str, Value]) -> float:
        """About how long a map of n points takes; every point has a way to every landmark."""
        marks = landmarks.geodesic_count(n, int(settings["landmarks"]))
        return super().seconds(n, p, settings) + _SECONDS_PER_WAY * n * marks

    def is_seeded(self, settings: Mapping[str, Value], n: int) -> bool:
        """Only landmarks are drawn."""
        return landmarks.geodesic_count(n, int(settings["landmarks"])) < n

    def fit(self, request: EmbeddingRequest) -> Embedding:
        """Classical scaling of the geodesics, from all points or from landmarks."""
        from core.embedding._eigen import largest
        from core.embedding._geodesics import geodesics

        graph = union_graph(request.indices, request.distances)
        components, labels = graph.components()
        joined = join(graph, labels, request.vectors, part(request.progress, 0.0, 0.1))
        notices = _notices(components, joined)
        count = landmarks.geodesic_count(request.n, int(request.settings["landmarks"]))
        count = min(request.n, max(count, request.dim + 1))
        full = count == request.n
        marks = np.arange(count) if full else landmarks.choose(request.n, count, request.seed)
        lengths = geodesics(
            joined.graph,
            marks,
            threads=request.threads,
            progress=part(request.progress, 0.1, 0.8),
            # Landmarks leave a wide matrix behind; a share of 6e-8 is nothing to a geodesic.
            dtype=np.float64 if full else np.float32,
        )
        # The square matrix is centred in place: in full it is most of the memory there is.
        between = lengths if full else lengths[:, marks].astype(np.float64)
        means = _centre(between, part(request.progress, 0.8, 0.85))
        solve = part(request.progress, 0.85, 1.0)
        coordinates = min(request.dim, count - 1)
        values, vectors = largest(between, coordinates, solve)
        values = np.maximum(values, 0)
        y = np.zeros((request.n, request.dim))
        if full:
            y[:, :coordinates] = vectors * np.sqrt(values)
        else:
            y[:, :coordinates] = _triangulate(lengths, means, values, vectors)
            notices.append(
                f"geodesics are measured from {count:,} landmarks to all {request.n:,} points, "
                "which are placed by them (landmark MDS)"
            )
        if coordinates < request.dim:
            notices.append(
                f"{request.n} points have at most {coordinates} coordinates; the rest are zero"
            )
        eigenvalues = np.zeros(request.dim)
        eigenvalues[:coordinates] = values
        return Embedding(
            y,
            self.name,
            dict(request.settings),
            components,
            None if full else count,
            tuple(notices),
            eigenvalues,
        )


def _notices(components: int, joined: JoinedGraph) -> list[str]:
    if components == 1:
        return []
    kind = "a spanning tree of the shortest links" if joined.spanning_tree else "the shortest links"
    sampled = " between samples of their points" if joined.sampled else ""
    return [
        f"the neighbour graph has {components} components: they are joined by {kind}{sampled} "
        f"({joined.links:,} of them); a larger K may join them"
    ]


def _centre(lengths: np.ndarray, progress: Progress) -> np.ndarray:
    """Turn distances into inner products −½ J D² J in place; return the mean squared distances.

    Parameters
    ----------
    lengths : ndarray of shape (m, m)
    """
    m = len(lengths)
    means = np.zeros(m)
    for rows in slices(m, CENTRED_ROWS):
        block = lengths[rows]
        np.square(block, out=block)
        means += block.sum(axis=0) / m
        progress(rows.stop / m / 2, "centring")
    for rows in slices(m, CENTRED_ROWS):
        block = lengths[rows]
        block -= means
        block -= block.mean(axis=1)[:, np.newaxis]
        block *= -0.5
        progress(0.5 + rows.stop / m / 2, "centring")
    return means


def _triangulate(
    lengths: np.ndarray, means: np.ndarray, values: np.ndarray, vectors: np.ndarray
) -> np.ndarray:
    """Place points by their distances to the landmarks (landmark MDS).

    Parameters
    ----------
    lengths : ndarray of shape (landmarks, n)
    means : ndarray of shape (landmarks,)
        Mean squared distance from each landmark to the others.
    values, vectors : the landmarks' eigenpairs

    Returns
    -------
    ndarray of shape (n, coordinates)
    """
    # A coordinate without extent among the landmarks has none beyond them.
    real = values > 1e-12 * max(values[0], np.finfo(float).tiny)
    inverse = np.where(real, vectors / np.sqrt(np.where(real, values, 1)), 0)
    y = np.empty((lengths.shape[1], len(values)))
    for start in range(0, len(y), 8192):
        block = slice(start, start + 8192)
        squared = np.square(lengths[:, block], dtype=np.float64)
        y[block] = -0.5 * (squared - means[:, np.newaxis]).T @ inverse
    return y
