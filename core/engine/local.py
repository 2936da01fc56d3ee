"""Work done by threads of this process, with results in memory."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np

from core.engine.engine import Engine, Job, Result, SharedArray, Task
from core.parallel import iter_results, map_in_threads
from core.progress import Progress, silent


class LocalJob(Job):
    """A job in as many threads as there are cores, or as are given."""

    def __init__(self, threads: int | None = None) -> None:
        self._map = map_in_threads(threads)

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        """Apply the function to every task and yield the results in any order."""
        return self._map(function, tasks)

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
        """Combine the results as they come."""
        return combine(iter_results(self._map, function, tasks, progress, message))

    def share(self, arrays: Mapping[str, np.ndarray], /) -> dict[str, SharedArray]:
        """Hand the arrays themselves on."""
        return {name: SharedArray(array=array) for name, array in arrays.items()}


class Local(Engine):
    """Threads of this process.

    Parameters
    ----------
    threads : int, optional
        As many as the process has cores by default.
    """

    name: ClassVar[str] = "local"
    in_process: ClassVar[bool] = True

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads

    @property
    def workers(self) -> int:
        """One: stages use all cores by themselves."""
        return 1

    @contextmanager
    def job(self, name: str) -> Iterator[Job]:
        """Begin a job; nothing of it outlives it."""
        yield LocalJob(self.threads)

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""
