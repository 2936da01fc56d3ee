"""What a neighbour backend is, what it builds, and what a search returns."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from core.neighbors.cost import Cost, Machine, SearchSize
from core.progress import Progress, silent
from core.registry import Parameter, Registry, Value
from core.summary import Summarized

if TYPE_CHECKING:
    from core.vectors import Vectors


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors(Summarized):
    """The K nearest rows of every point.

    Attributes
    ----------
    indices : ndarray of shape (n, k), int32
        Neighbours of each point, by (distance, index).
    distances : ndarray of shape (n, k), float64
        In the units of the statistical distance.
    backend : str
        The backend that found them.
    parameters : dict
        The backend's settings, defaults included.
    notices : tuple of str
        What the user should know.
    """

    indices: np.ndarray
    distances: np.ndarray
    backend: str
    parameters: dict[str, Value] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of points."""
        return self.indices.shape[0]

    @property
    def k(self) -> int:
        """Number of neighbours of each point."""
        return self.indices.shape[1]

    @cached_property
    def digest(self) -> str:
        """Stands for indices and distances; of a million points it takes half a second."""
        content = hashlib.sha256(str(self.indices.shape).encode())
        for array in (self.indices, self.distances):
            content.update(np.ascontiguousarray(array).data)
        return content.hexdigest()

    def nearest(self, k: int) -> "Neighbors":
        """Return the first k neighbours of each point, or itself where there are no more."""
        if k >= self.k:
            return self
        return replace(self, indices=self.indices[:, :k], distances=self.distances[:, :k])


@dataclass(frozen=True, eq=False, kw_only=True)
class Index(ABC):
    """Rows made ready for searching, by one backend.

    Attributes
    ----------
    backend : Backend
    vectors : Vectors
        The n rows.
    settings : mapping
        A value for each of the backend's parameters.
    """

    backend: "Backend"
    vectors: "Vectors"
    settings: Mapping[str, Any]

    @abstractmethod
    def query_own(self, k: int, *, threads: int, progress: Progress = silent) -> Neighbors:
        """Find the k nearest other rows of every row, 1 ≤ k < n; a row is left out by its index."""

    @abstractmethod
    def query(
        self, points: "Vectors", k: int, *, threads: int, progress: Progress = silent
    ) -> Neighbors:
        """Find the k rows nearest to each point, 1 ≤ k ≤ n.

        Points are vectors of the same columns and weights as the rows. What is found for a point
        by ``exact`` does not depend on the others.
        """

    def change(self, **settings: Any) -> Self:
        """Return the same index with other settings, of those that do not need another one."""
        fixed = [each.name for each in self.backend.parameters if not each.at_query]
        for name in settings.keys() & set(fixed):
            raise ValueError(f"{name} needs another index; build it")
        values = BACKENDS.settings(self.backend.name, {**self.settings, **settings})
        return replace(self, settings=values)

    def _found(
        self, indices: np.ndarray, sums: np.ndarray, notices: tuple[str, ...] = ()
    ) -> Neighbors:
        """Neighbours of sums of the kernels."""
        found = self.vectors.to_distances(sums)
        return Neighbors(indices, found, self.backend.name, dict(self.settings), notices)


class Backend(ABC):
    """A way of finding neighbours: one subclass in one module, registered in ``core.neighbors``.

    Its module is imported for the names and the help of its parameters; whatever takes long to
    import belongs into the methods of its index.

    Attributes
    ----------
    deterministic : bool
        Whether the same input and seed always give the same answer.
    seeded : bool
        Whether another seed may give another answer.
    distances : tuple of str
        The statistical distances it can search.
    automatic : bool
        Whether ``auto`` may choose it: with its default parameters it finds at least 0.95 of the
        true neighbours of such data.
    build_share : float
        The share of a search that the building of the index takes, roughly.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    deterministic: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    distances: ClassVar[tuple[str, ...]] = ("hellinger", "tv")
    automatic: ClassVar[bool] = False
    build_share: ClassVar[float] = 0.0

    @abstractmethod
    def build(
        self,
        vectors: "Vectors",
        *,
        seed: int,
        threads: int,
        progress: Progress = silent,
        **settings: Any,
    ) -> Index:
        """Make n ≥ 1 rows ready for searching; settings are validated."""

    @abstractmethod
    def cost(self, problem: SearchSize, machine: Machine, **settings: Any) -> Cost:
        """Predict seconds and memory from this backend's own operation counts."""


BACKENDS: Registry[Backend] = Registry("neighbour backend")
