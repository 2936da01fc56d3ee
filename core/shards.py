"""Pieces of the readings that are worked on apart, in threads here or in processes elsewhere.

A shard is a few row groups of ``readings.parquet``. Work on the readings is a pure function of
a shard whose results merge in any order, so whoever runs it only has to be a map.
"""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.progress import Progress
from core.readings.dataset import READINGS, Dataset, DatasetError

# A shard is a few hundredths of a second of work: the time in which progress is told and a cancel
# is heard. The limit on households bounds its counts where histories are short.
SHARD_ROWS = 1 << 20
SHARD_HOUSEHOLDS = 256

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Batch:
    """Readings of one row group, each array of shape (n,).

    Attributes
    ----------
    rows : ndarray of int32
        The place of each reading's household in the shard's ``households``.
    times : ndarray of int64
        Microseconds since 1970, local time.
    kwh : ndarray of float64
    """

    rows: np.ndarray
    times: np.ndarray
    kwh: np.ndarray


@dataclass(frozen=True, eq=False)
class Shard:
    """Row groups ``start`` … ``stop`` − 1 of a readings file, and the households wanted there.

    Attributes
    ----------
    path : Path
        The readings file.
    start, stop : int
        The row groups.
    households : ndarray of int32, increasing
        The codes of the wanted households that may have readings in these row groups.
    whole : bool
        Whether there are no other households' readings among them.
    """

    path: Path
    start: int
    stop: int
    households: np.ndarray
    whole: bool

    def __str__(self) -> str:
        return f"counting row groups {self.start} to {self.stop - 1} of {self.path}"

    def kwh(self) -> Iterator[np.ndarray]:
        """Yield the wanted readings' kWh alone, one row group at a time."""
        for table in self._tables(["kwh"] if self.whole else ["household", "kwh"]):
            kwh = table["kwh"].to_numpy()
            yield kwh if self.whole else kwh[self._rows(table) >= 0]

    def batches(self) -> Iterator[Batch]:
        """Yield the wanted readings, one row group at a time."""
        for table in self._tables(["household", "time", "kwh"]):
            rows = self._rows(table)
            times, kwh = table["time"].to_numpy().view(np.int64), table["kwh"].to_numpy()
            if self.whole:
                yield Batch(rows, times, kwh)
            else:
                wanted = rows >= 0
                yield Batch(rows[wanted], times[wanted], kwh[wanted])

    def _tables(self, columns: list[str]) -> Iterator[pa.Table]:
        file = pq.ParquetFile(self.path, metadata=_metadata(self.path), memory_map=True)
        for group in range(self.start, self.stop):
            try:
                table = file.read_row_group(group, columns=columns, use_threads=False)
            except (pa.ArrowException, OSError) as error:
                raise DatasetError(
                    f"{self.path} is damaged and cannot be read; run wattfold ingest again"
                ) from error
            if any(column.null_count for column in table.columns):
                raise DatasetError(f"{self.path} holds empty cells; run wattfold ingest again")
            yield table

    def _rows(self, table: pa.Table) -> np.ndarray:
        """Return each reading's place in ``households``, −1 for those of other households."""
        codes = table["household"].to_numpy()
        if not self.whole:
            rows = np.searchsorted(self.households, codes).astype(np.int32)
            rows[rows == len(self.households)] = 0
            return np.where(self.households[rows] == codes, rows, np.int32(-1))
        rows = codes - self.households[0]
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self.households):
            raise DatasetError(
                f"{self.path} holds other households than it says; run wattfold ingest again"
            )
        return rows


class MapShards(Protocol):
    """A map over shards: threads of this process, or a cluster."""

    def __call__(
        self, function: Callable[[Task], Result], shards: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        """Apply the function to every shard and yield the results in any order."""
        ...


def split(dataset: Dataset, households: np.ndarray) -> list[Shard]:
    """Share out the row groups that hold the given households (codes, sorted)."""
    metadata = _metadata(dataset.path / READINGS)
    first, last = dataset.code_range
    begin, end = np.searchsorted(households, first), np.searchsorted(households, last, side="right")
    shards: list[Shard] = []
    run: list[int] = []

    def close_run() -> None:
        if run:
            wanted = households[begin[run].min() : end[run].max()]
            whole = len(wanted) == last[run].max() - first[run].min() + 1
            shards.append(Shard(dataset.path / READINGS, run[0], run[-1] + 1, wanted, whole))
            run.clear()

    rows = 0
    for group in range(metadata.num_row_groups):
        group_rows = metadata.row_group(group).num_rows
        if run and (
            rows + group_rows > SHARD_ROWS
            or end[group] - begin[run[0]] > SHARD_HOUSEHOLDS
            or begin[group] == end[group]
        ):
            close_run()
        if begin[group] < end[group]:
            rows = group_rows + (rows if run else 0)
            run.append(group)
    close_run()
    return shards


def in_threads(threads: int | None = None) -> MapShards:
    """Return a map over this many threads; as many as the process has cores for None.

    Only twice as many shards as threads are under way or waiting to be taken, so that results
    cannot pile up.
    """
    workers = threads or available_cores()

    def run(
        function: Callable[[Task], Result], shards: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        left = iter(shards)
        with ThreadPoolExecutor(workers) as pool:
            pending: set[Future[Result]] = set()
            try:
                while True:
                    for shard in islice(left, 2 * workers - len(pending)):
                        pending.add(pool.submit(function, shard))
                    if not pending:
                        return
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                for future in pending:
                    future.cancel()

    return run


def results(
    map_shards: MapShards,
    function: Callable[[Task], Result],
    shards: Sequence[Task],
    progress: Progress,
    message: str,
) -> Iterator[Result]:
    """Yield the function's result on every shard, telling how far the work is."""
    progress(0.0, message)
    with closing(map_shards(function, shards)) as stream:
        for done, result in enumerate(stream, start=1):
            yield result
            progress(done / len(shards), message)


def available_cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _metadata(path: Path) -> pq.FileMetaData:
    status = path.stat()
    return _read_metadata(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _read_metadata(path: Path, size: int, modified: int) -> pq.FileMetaData:
    """Parse a file's footer once and not for every shard; size and time tell a new file apart."""
    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{path} cannot be read ({error}); run wattfold ingest again") from error
