"""Where work that falls into pieces is done: threads of this process, or workers of a cluster.

Work is a pure function of a task. It is mapped over tasks, or mapped and then reduced by a
function that may take results in any grouping and order; nothing more is asked of an engine, and
nothing outside this package knows which one it has.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self, TypeVar

import numpy as np

from core.array_files import load_array
from core.progress import Progress, silent

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SharedArray:
    """An array that all tasks of a job read: in memory, or a file where tasks are elsewhere."""

    array: np.ndarray | None = None
    path: Path | None = None

    def read(self) -> np.ndarray:
        """Return the array; a file is mapped, so that only what is used is read.

        Nothing should be written to it; in a file it would not be seen by others. A mapping that
        cannot be written to would be another type to compiled kernels.
        """
        if self.path is not None:
            return np.asarray(load_array(self.path, mmap_mode="c"))
        assert self.array is not None  # noqa: S101 (one of the two, by construction)
        return self.array


class Job(ABC):
    """Pieces of work that belong together.

    Functions must be importable and say in their annotation what they return: an array, or a
    dataclass of arrays and numbers. Tasks hold paths and small numbers, never readings.
    """

    @abstractmethod
    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        """Apply the function to every task and yield the results in any order."""

    @abstractmethod
    def reduce(
        self,
        function: Callable[[Task], Result],
        combine: Callable[[Iterable[Result]], Result],
        tasks: Sequence[Task],
        /,
        *,
        progress: Progress = silent,
        message: str = "",
    ) -> Result:
        """Apply the function to every task and combine the results into one."""

    @abstractmethod
    def share(self, arrays: Mapping[str, np.ndarray], /) -> dict[str, SharedArray]:
        """Make arrays readable for the tasks of this job."""


class Engine(ABC):
    """A place where jobs are done; open it with ``with``."""

    name: ClassVar[str]
    # Whether jobs are done by this process, whose stages use all cores by themselves.
    in_process: ClassVar[bool]

    @property
    @abstractmethod
    def workers(self) -> int:
        """Tasks that are done at once, each on one core; 1 for work of this process."""

    @abstractmethod
    def job(self, name: str) -> AbstractContextManager[Job]:
        """Begin a job, or take one of this name up again.

        The name stands for everything that the results depend on. Where results are kept in
        files, a job that is broken off leaves them for the next one of its name, and one that
        ends well removes them.
        """

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None:
        """Let go of whatever the engine holds."""
