"""What is looked at in a file while DuckDB reads it, which knows no such doubts."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from core.progress import Progress
from core.readings.dataset import file_digest
from core.readings.table_file import TableFile


class FileCheck:
    """Files that are looked through in a thread: how they grow, their lines, their digests."""

    def __init__(self, future: "Future[list[tuple[TableFile, str]]]") -> None:
        self._future = future

    def digests(self) -> list[tuple[TableFile, str]]:
        """Wait for the end; return each file with its SHA-256, or raise what is wrong with one."""
        return self._future.result()

    def alongside(self, progress: Progress) -> Progress:
        """Return a progress that stops the work as soon as something is found to be wrong."""

        def report(fraction: float, message: str = "") -> None:
            if self._future.done():
                self._future.result()
            progress(fraction, message)

        return report


@contextmanager
def checking_files() -> Iterator[Callable[[Sequence[TableFile]], FileCheck]]:
    """Yield a function that has files looked through; what is under way ends with the block."""
    ended = threading.Event()

    def look(files: Sequence[TableFile]) -> list[tuple[TableFile, str]]:
        digests = []
        for file in files:
            file.check_lines(lambda: not ended.is_set())
            digests.append((file, "" if ended.is_set() else file_digest(file.original)))
        return digests

    with ThreadPoolExecutor(max_workers=1) as thread:
        try:
            yield lambda files: FileCheck(thread.submit(look, files))
        finally:
            ended.set()
