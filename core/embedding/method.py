"""What an embedding method is, what it is asked and what it answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from core.progress import Progress
from core.registry import Parameter, Value
from core.summary import Summarized

if TYPE_CHECKING:
    from core.vectors import Vectors


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Summarized):
    """Points on the map.

    Attributes
    ----------
    y : ndarray of shape (n, dim)
        float64 coordinates; always finite.
    method : str
        The method's name.
    parameters : mapping
        Every parameter of the method, with the value that was used.
    components : int
        How many connected components the union of the neighbour lists has.
    landmarks : int or None
        How many points were fitted, where the others were placed by them; None: all were fitted.
    notices : tuple of str
        What the analyst should know about this result.
    eigenvalues : ndarray of shape (dim,), optional
        For the spectral methods, the eigenvalue behind each coordinate (one component only).
    """

    y: np.ndarray
    method: str
    parameters: Mapping[str, Value]
    components: int
    landmarks: int | None = None
    notices: tuple[str, ...] = ()
    eigenvalues: np.ndarray | None = None


class Checkpoints(Protocol):
    """Where a long layout keeps its state, so that one that is killed can go on."""

    def load(self) -> tuple[int, np.ndarray] | None:
        """Return the number of finished steps and the places after them, if any are kept."""

    def offer(self, steps: int, places: Callable[[], np.ndarray]) -> None:
        """Keep the places after so many steps, if it is time to."""


@dataclass(frozen=True, eq=False)
class EmbeddingRequest:
    """One embedding that is asked for; checked, so that methods need not check again.

    Attributes
    ----------
    indices : ndarray of shape (n, k), int64
        Row numbers of the neighbours.
    distances : ndarray of shape (n, k), float64
        Their statistical distances.
    vectors : "Vectors"
        The n points.
    dim, seed, threads : int
        Coordinates wanted, seed of whatever is random, threads to use.
    progress : Progress
        Called with the share of the work that is done; it may raise Cancelled.
    settings : mapping
        A value for each of the method's parameters.
    checkpoints : Checkpoints, optional
        For methods that can go on from a checkpoint.
    """

    indices: np.ndarray
    distances: np.ndarray
    vectors: "Vectors"
    dim: int
    seed: int
    threads: int
    progress: Progress
    settings: Mapping[str, Value]
    checkpoints: Checkpoints | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.indices)

    @property
    def k(self) -> int:
        """Neighbours of each point."""
        return self.indices.shape[1]


class Method(ABC):
    """A way from neighbour lists to coordinates."""

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    # Roughly, on two cores: enough to distinguish seconds from minutes before a run.
    seconds_per_point: ClassVar[float]
    seconds_per_entry: ClassVar[float] = 0.0

    def seconds(self, n: int, p: int, settings: Mapping[str, Value]) -> float:
        """About how long a map of n points with p columns takes."""
        return n * (self.seconds_per_point + p * self.seconds_per_entry)

    def n_neighbors_needed(self, k: int, settings: Mapping[str, Value], n: int) -> int:
        """How many neighbours of each of n points to search for, where the analyst chose k."""
        return min(k, n - 1)

    def revision(self, settings: Mapping[str, Value], n: int) -> int:
        """How often the map of n points has changed since version 0.1, for the same inputs."""
        return 0

    def is_seeded(self, settings: Mapping[str, Value], n: int) -> bool:
        """Whether another seed may give another map of n points."""
        return True

    @abstractmethod
    def fit(self, request: EmbeddingRequest) -> Embedding:
        """Embed at least two points that are not all in one place."""
