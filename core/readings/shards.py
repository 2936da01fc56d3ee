"""Pieces of the readings that are worked on apart, in threads here or in processes elsewhere.

A shard is a few row groups of ``readings.parquet``. Work on the readings is a pure function of
a shard whose results merge in any order, so whoever runs it only has to be a map.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.periods import WHOLE_RECORD, Period
from core.readings.dataset import READINGS, Dataset, DatasetError

# A shard is a few hundredths of a second of work: the time in which progress is told and a cancel
# is heard. The limit on households bounds its counts where histories are short.
SHARD_ROWS = 1 << 20
SHARD_HOUSEHOLDS = 256


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
    n_rows : int
        How many readings the row groups have, those of other households included.
    period : Period
        The days that are wanted.
    """

    path: Path
    start: int
    stop: int
    households: np.ndarray
    whole: bool
    n_rows: int
    period: Period = WHOLE_RECORD

    def __str__(self) -> str:
        return f"counting row groups {self.start} to {self.stop - 1} of {self.path}"

    def kwh(self) -> Iterator[np.ndarray]:
        """Yield the wanted readings' kWh alone, one row group at a time."""
        if self.whole and self.period.is_whole:
            for table in self._tables(["kwh"]):
                yield table["kwh"].to_numpy()
        else:
            for batch in self.batches():
                yield batch.kwh

    def batches(self) -> Iterator[Batch]:
        """Yield the wanted readings, one row group at a time."""
        for table in self._tables(["household", "time", "kwh"]):
            rows = self._rows(table)
            times, kwh = table["time"].to_numpy().view(np.int64), table["kwh"].to_numpy()
            if self.whole and self.period.is_whole:
                yield Batch(rows, times, kwh)
            else:
                wanted = rows >= 0
                if not self.period.is_whole:
                    wanted &= self.period.holds(times.view("datetime64[us]"))
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


def split(
    dataset: Dataset, households: np.ndarray, *, period: Period = WHOLE_RECORD
) -> list[Shard]:
    """Share out the row groups that hold the given households (codes, sorted)."""
    dataset.check_unchanged()
    metadata = _metadata(dataset.path / READINGS)
    first, last = dataset.code_range
    begin, end = np.searchsorted(households, first), np.searchsorted(households, last, side="right")
    shards: list[Shard] = []
    run: list[int] = []

    def close_run() -> None:
        if run:
            wanted = households[begin[run].min() : end[run].max()]
            whole = len(wanted) == last[run].max() - first[run].min() + 1
            path = dataset.path / READINGS
            shards.append(Shard(path, run[0], run[-1] + 1, wanted, whole, rows, period))
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


def _metadata(path: Path) -> pq.FileMetaData:
    try:
        status = path.stat()
    except OSError as error:
        raise DatasetError(f"{path} was removed while it was read; open it again") from error
    return _read_metadata(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4)
def _read_metadata(path: Path, size: int, modified: int) -> pq.FileMetaData:
    """Parse a file's footer once and not for every shard; size and time tell a new file apart."""
    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{path} cannot be read ({error}); run wattfold ingest again") from error
