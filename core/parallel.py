"""Work shared by threads of this process, and how many cores there are for it.

Python threads over compiled kernels that release the GIL use all cores like numba's own parallel
loops, and unlike those may run in several threads of a server at once.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from typing import Protocol, TypeVar

from core.progress import Progress, silent

Task = TypeVar("Task")
Result = TypeVar("Result")


class MapTasks(Protocol):
    """A map over tasks: threads of this process, or a cluster."""

    def __call__(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        """Apply the function to every task and yield the results in any order."""
        ...


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_tasks(
    work: Callable[[Task], None],
    tasks: Iterable[Task],
    *,
    threads: int | None = None,
    progress: Progress = silent,
    message: str = "",
) -> None:
    """Do all tasks in threads (one per core by default), the calling thread among them.

    ``progress`` is called by the calling thread only, between its tasks; when it raises, the
    other workers stop after the task they are at.
    """
    queue = deque(tasks)
    total = len(queue)

    def drain(report: Progress) -> None:
        try:
            while True:
                try:
                    task = queue.popleft()
                except IndexError:
                    return
                work(task)
                report(1 - len(queue) / total, message)
        except BaseException:
            queue.clear()
            raise

    helpers = min(threads or available_cores(), total) - 1
    if helpers < 1:
        drain(progress)
        return
    with ThreadPoolExecutor(helpers) as pool:
        waiting = [pool.submit(drain, silent) for _ in range(helpers)]
        drain(progress)
        for helper in waiting:
            helper.result()


def slices(n: int, size: int) -> list[slice]:
    """Cut range(n) into slices of at most ``size``."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def map_in_threads(threads: int | None = None) -> MapTasks:
    """Return a map over this many threads; one per core by default.

    Only twice as many tasks as threads are under way or waiting to be taken, so that results
    cannot pile up.
    """
    workers = threads or available_cores()

    def run(
        function: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        left = iter(tasks)
        with ThreadPoolExecutor(workers) as pool:
            pending: set[Future[Result]] = set()
            try:
                while True:
                    for task in islice(left, 2 * workers - len(pending)):
                        pending.add(pool.submit(function, task))
                    if not pending:
                        return
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                for future in pending:
                    future.cancel()

    return run


def iter_results(
    map_tasks: MapTasks,
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    progress: Progress,
    message: str,
) -> Generator[Result, None, None]:
    """Yield the function's result on every task, reporting progress."""
    progress(0.0, message)
    with closing(map_tasks(function, tasks)) as stream:
        for done, result in enumerate(stream, start=1):
            yield result
            progress(done / len(tasks), message)
