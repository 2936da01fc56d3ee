"""What is looked at in a file while DuckDB reads it, which knows no such doubts."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from core.progress import Progress
from core.readings.dataset import file_digest
from core.readings.sources import Source


class Inspection:
    """One file, looked through in a thread: how it grows, its lines, its digest."""

    def __init__(self, future: "Future[str]") -> None:
        self._future = future

    def digest(self) -> str:
        """Wait for the end; return the SHA-256 of the file, or raise what is wrong with it."""
        return self._future.result()

    def alongside(self, progress: Progress) -> Progress:
        """Return a progress that stops the work as soon as something is found to be wrong."""

        def report(fraction: float, message: str = "") -> None:
            if self._future.done():
                self._future.result()
            progress(fraction, message)

        return report


@contextmanager
def inspecting() -> Iterator[Callable[[Source], Inspection]]:
    """Yield a function that has a file looked through; what is under way ends with the block."""
    ended = threading.Event()

    def look(source: Source) -> str:
        source.look_through(lambda: not ended.is_set())
        return "" if ended.is_set() else file_digest(source.path)

    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            yield lambda source: Inspection(thread.submit(look, source))
        finally:
            ended.set()
