"""What a neighbour backend is, and what it returns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from core.distance import Vectors
from core.neighbors.cost import Cost, Machine, Problem
from core.progress import Progress
from core.registry import Parameter, Registry, Value


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The K nearest other points of every point.

    Attributes
    ----------
    indices : ndarray of shape (n, k), int32
        Neighbours of each row, by (distance, index); a point is never its own neighbour.
    distances : ndarray of shape (n, k), float64
        In the units of the statistical distance.
    backend : str
        Who found them.
    parameters : dict
        The backend's settings, defaults included.
    notices : tuple of str
        What the person who asked should know.
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


class Backend(ABC):
    """A way of finding neighbours: one subclass in one module, registered in ``core.neighbors``.

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
    """

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    deterministic: ClassVar[bool] = True
    seeded: ClassVar[bool] = True
    distances: ClassVar[tuple[str, ...]] = ("hellinger", "tv")
    automatic: ClassVar[bool] = False

    @abstractmethod
    def query(
        self,
        vectors: Vectors,
        k: int,
        *,
        seed: int,
        threads: int,
        progress: Progress,
        **settings: Any,
    ) -> Neighbors:
        """Find the k nearest other rows of every row; 1 ≤ k < n, settings are validated."""

    @abstractmethod
    def cost(self, problem: Problem, machine: Machine, **settings: Any) -> Cost:
        """Predict seconds and memory from this backend's own operation counts."""


BACKENDS: Registry[Backend] = Registry("neighbour backend")
