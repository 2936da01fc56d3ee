"""What LLE, Hessian LLE and Laplacian eigenmaps share.

Each turns neighbour lists into a positive semi-definite matrix with one known null vector; the
coordinates are its next eigenvectors. A component of the graph has its own null vector, so each
is embedded on its own.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from core.embedding import landmarks
from core.embedding._packing import pack
from core.embedding.graph import Graph, union_graph
from core.embedding.method import Embedding, EmbeddingRequest, Method
from core.progress import Progress, part
from core.registry import Value

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from core.vectors import Vectors

# The barycentric ridge by which points are placed among landmarks, as in LLE itself.
RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class SubsetNeighbors:
    """Neighbour lists among some of the points.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        The points' row numbers in the vectors.
    indices : ndarray of shape (m, k)
        Neighbours as positions in ``rows``.
    distances : ndarray of shape (m, k)
    """

    rows: np.ndarray
    indices: np.ndarray
    distances: np.ndarray

    def part(self, members: np.ndarray) -> "SubsetNeighbors":
        """Keep the lists of these members, whose neighbours are all among them."""
        place = np.empty(len(self.rows), dtype=np.int64)
        place[members] = np.arange(len(members))
        return SubsetNeighbors(
            self.rows[members], place[self.indices[members]], self.distances[members]
        )


@dataclass(frozen=True, eq=False)
class EigenProblem:
    """Find the smallest eigenvectors of ``matrix`` besides ``kernel``, and divide by ``kernel``.

    For LLE and Hessian LLE the null vector is constant (of ones). For the Laplacian it is √degree:
    L v = λ D v is the symmetric problem D^−½ L D^−½ u = λ u with v = u / √degree.
    """

    matrix: "csr_array"
    kernel: np.ndarray


class SpectralMethod(Method):
    """A method whose coordinates are eigenvectors of a matrix made of neighbour lists."""

    def is_seeded(self, settings: Mapping[str, Value], n: int) -> bool:
        """Only landmarks are drawn; no component has more points than there are."""
        return landmarks.spectral_count(n, int(settings["landmarks"])) < n

    def check(self, request: EmbeddingRequest) -> None:
        """Refuse what the method cannot do."""

    def resolved(self, request: EmbeddingRequest) -> tuple[dict[str, Value], tuple[str, ...]]:
        """Return the settings with automatic values filled in, and what to say about them."""
        return dict(request.settings), ()

    @abstractmethod
    def problem(
        self,
        lists: SubsetNeighbors,
        vectors: "Vectors",
        *,
        dim: int,
        threads: int,
        progress: Progress,
        settings: dict[str, Value],
    ) -> EigenProblem:
        """Return the eigenproblem of one component."""

    def fit(self, request: EmbeddingRequest) -> Embedding:
        """Embed each component of the graph and pack them side by side."""
        self.check(request)
        settings, said = self.resolved(request)
        notices = list(said)
        graph = union_graph(request.indices, request.distances)
        count, labels = graph.components()
        order = np.argsort(labels, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        everything = SubsetNeighbors(np.arange(request.n), request.indices, request.distances)
        y = np.zeros((request.n, request.dim))
        eigenvalues = None
        fitted = 0
        done = 0
        parts = []
        for group in members:
            share = part(request.progress, done / request.n, (done + len(group)) / request.n)
            lists = everything.part(group) if count > 1 else everything
            placed, values, used = self._component(
                lists, graph, replace(request, progress=share, settings=settings)
            )
            parts.append(placed)
            eigenvalues = values
            fitted += used
            done += len(group)
        packed = pack(parts) if count > 1 else parts
        for group, placed in zip(members, packed, strict=True):
            y[group] = placed
        if count > 1:
            sizes = sorted((len(group) for group in members), reverse=True)
            listed = ", ".join(f"{size:,}" for size in sizes[:5]) + (" …" if count > 5 else "")
            notices.append(
                f"the neighbour graph has {count} components (of {listed} points): each is "
                "embedded on its own and they are packed side by side, so distances between them "
                "mean nothing; a larger K may join them"
            )
        if min(len(group) for group in members) <= request.dim:
            notices.append(
                f"a component of m points has at most m − 1 coordinates; the rest of the "
                f"{request.dim} are zero"
            )
        if fitted < request.n:
            notices.append(
                f"{fitted:,} landmarks of {request.n:,} points were fitted; the others are placed "
                "by their nearest landmarks with barycentric weights"
            )
        return Embedding(
            y,
            self.name,
            settings,
            count,
            fitted if fitted < request.n else None,
            tuple(notices),
            eigenvalues if count == 1 else None,
        )

    def _component(
        self, lists: SubsetNeighbors, graph: Graph, request: EmbeddingRequest
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Coordinates (m, dim) of one component, its eigenvalues, and how many were fitted."""
        m = len(lists.rows)
        if not lists.distances.any():
            # All its points are one: they share a place.
            return np.zeros((m, request.dim)), np.zeros(request.dim), m
        chosen = landmarks.spectral_count(m, int(request.settings["landmarks"]))
        chosen = min(m, max(chosen, request.k + 1, request.dim + 1))
        if chosen == m:
            y, values = self._solve(lists, request)
            return y, values, m
        marks = landmarks.choose(m, chosen, request.seed)
        own_graph = graph if m == graph.n else union_graph(lists.indices, lists.distances)
        indices, distances, nearest = landmarks.landmark_lists(
            own_graph, marks, request.k, progress=part(request.progress, 0.0, 0.1)
        )
        share = part(request.progress, 0.1, 0.6)
        among = SubsetNeighbors(lists.rows[marks], indices, distances)
        y, values = self._solve(among, replace(request, progress=share))
        placed = landmarks.extend(
            y,
            marks,
            nearest,
            lists.rows,
            request.vectors,
            ridge=RIDGE,
            threads=request.threads,
            progress=part(request.progress, 0.6, 1.0),
        )
        return placed, values, chosen

    def _solve(
        self, lists: SubsetNeighbors, request: EmbeddingRequest
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and eigenvalues of neighbour lists; zero where there are no more."""
        from core.embedding._eigen import smallest

        m = len(lists.rows)
        problem = self.problem(
            lists,
            request.vectors,
            dim=request.dim,
            threads=request.threads,
            progress=part(request.progress, 0.0, 0.5),
            settings=dict(request.settings),
        )
        count = min(request.dim, m - 1)
        y, values = np.zeros((m, request.dim)), np.zeros(request.dim)
        found, vectors = smallest(
            problem.matrix,
            problem.kernel,
            count,
            part(request.progress, 0.5, 1.0),
            threads=request.threads,
        )
        values[:count] = found
        y[:, :count] = vectors / problem.kernel[:, np.newaxis]
        return y, values
