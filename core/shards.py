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

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Batch:
    """Readings of one row group, each array of shape (n,).

    Attributes
    ----------
    rows : ndarray of int32
        The place of each reading's household in the shard's ``households``.
    times : ndarray of int64
        Microseconds since 1970, local time; empty unless asked for.
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
    households : ndarray of int32, sorted
        The codes of the wanted households that may have readings in these row groups.
    """

    path: Path
    start: int
    stop: int
    households: np.ndarray

    def batches(self, *, with_times: bool = False) -> Iterator[Batch]:
        """Read the wanted readings, one row group at a time."""
        file = pq.ParquetFile(self.path, metadata=_metadata(self.path), memory_map=True)
        columns = ["household", "kwh"] + ["time"] * with_times
        for group in range(self.start, self.stop):
            table = file.read_row_group(group, columns=columns, use_threads=False)
            if any(column.null_count for column in table.columns):
                raise DatasetError(f"{self.path} holds empty cells; run wattfold ingest again")
            times = table["time"].to_numpy().view(np.int64) if with_times else np.empty(0, np.int64)
            batch = self._wanted(table["household"].to_numpy(), times, table["kwh"].to_numpy())
            if len(batch.kwh):
                yield batch

    def _wanted(self, codes: np.ndarray, times: np.ndarray, kwh: np.ndarray) -> Batch:
        first, last = self.households[0], self.households[-1]
        if (
            last - first + 1 == len(self.households)
            and first <= codes.min()
            and codes.max() <= last
        ):
            return Batch(codes - first, times, kwh)
        rows = np.searchsorted(self.households, codes).astype(np.int32)
        rows[rows == len(self.households)] = 0
        wanted = self.households[rows] == codes
        return Batch(rows[wanted], times[wanted] if len(times) else times, kwh[wanted])


class MapShards(Protocol):
    """A map over shards: threads of this process, or a cluster."""

    def __call__(
        self, function: Callable[[Shard], Result], shards: Sequence[Shard], /
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
            shards.append(Shard(dataset.path / READINGS, run[0], run[-1] + 1, wanted))
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
        function: Callable[[Shard], Result], shards: Sequence[Shard], /
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
    function: Callable[[Shard], Result],
    shards: Sequence[Shard],
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
