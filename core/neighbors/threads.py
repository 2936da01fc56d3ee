"""Work shared by threads, for kernels that release the GIL.

Python threads over compiled kernels use all cores like numba's own parallel loops, and unlike
those may run in several threads of a server at once.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from core.progress import Progress, silent

Task = TypeVar("Task")


def available_threads() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share(
    work: Callable[[Task], None],
    tasks: Iterable[Task],
    *,
    threads: int,
    progress: Progress = silent,
    message: str = "",
) -> None:
    """Do all tasks, the calling thread among the workers.

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

    helpers = min(threads, total) - 1
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
