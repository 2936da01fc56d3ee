"""Coverage: how many readings every household has on every day, and how many it could have.

Days are of the local wall clock. A day is expected to have one reading an interval, fewer where
the clocks go forward, more where they go back, and on the first and last day of the dataset only
what lies between its first and its last reading.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, get_args

import numba
import numpy as np
import pandas as pd

from core.errors import InputError
from core.parallel import iter_results, map_in_threads
from core.progress import Progress, silent
from core.readings.clock import HOUR, clock_changes
from core.readings.dataset import Dataset
from core.readings.shards import Shard, split

Order = Literal["id", "coverage", "first"]
ORDERS: tuple[Order, ...] = get_args(Order)

_DAY_SECONDS = 24 * HOUR
_DAY_MICROSECONDS = _DAY_SECONDS * 1_000_000


@dataclass(frozen=True, eq=False)
class Coverage:
    """Readings by household and day. Arrays are read-only.

    Attributes
    ----------
    readings : ndarray of uint16, shape (households, days)
        How many readings there are; rows are the households' codes in the dataset.
    expected : ndarray of int64, shape (days,)
        How many there would be if none were missing.
    first_day : datetime64[D]
        The day of the first column.
    """

    readings: np.ndarray
    expected: np.ndarray
    first_day: np.datetime64

    def __post_init__(self) -> None:
        for array in (self.readings, self.expected):
            array.flags.writeable = False

    @property
    def days(self) -> np.ndarray:
        """The days of the columns, (days,) datetime64[D]."""
        return self.first_day + np.arange(self.readings.shape[1])

    @cached_property
    def share(self) -> np.ndarray:
        """The readings there are of those expected of each household, (households,), 0 … 1."""
        capped = np.minimum(self.readings, self.expected).sum(axis=1)
        return capped / max(int(self.expected.sum()), 1)

    @cached_property
    def span(self) -> tuple[np.ndarray, np.ndarray]:
        """The columns of each household's first and last readings, (households,) each.

        A household without readings has its last before its first.
        """
        present = self.readings > 0
        days = self.readings.shape[1]
        empty = ~present.any(axis=1)
        first = np.where(empty, days, present.argmax(axis=1))
        last = np.where(empty, -1, days - 1 - present[:, ::-1].argmax(axis=1))
        return first, last

    def order(self, by: Order) -> np.ndarray:
        """Return the households' rows in an order for looking at them.

        ``id`` is the dataset's own, ``coverage`` puts the least covered first, ``first`` those
        that start first, and of those the ones that end first.
        """
        if by not in ORDERS:
            raise InputError(f"households cannot be sorted by {by!r}; choose of {ORDERS}")
        if by == "coverage":
            return np.argsort(self.share, kind="stable")
        if by == "first":
            first, last = self.span
            return np.lexsort((last, first))
        return np.arange(len(self.readings))


@dataclass(frozen=True, eq=False)
class PooledCoverage:
    """A part of the coverage, with neighbouring households and days pooled to fit a picture.

    Attributes
    ----------
    readings, expected : ndarrays of int64, shape (rows, columns)
        Sums over the cells that are pooled.
    metered : ndarray of bool, shape (rows, columns)
        False where all households pooled have not had their first reading yet, or had their last.
    households_each, days_each : int
        How many households a row and days a column pool; the last ones may pool fewer.
    households, days : (int, int)
        The places shown, start and stop: households in the order asked for, days as columns.
    """

    readings: np.ndarray
    expected: np.ndarray
    metered: np.ndarray
    households_each: int
    days_each: int
    households: tuple[int, int]
    days: tuple[int, int]


def count_days(
    dataset: Dataset, *, threads: int | None = None, progress: Progress = silent
) -> np.ndarray:
    """Count the readings of each household on each day from the dataset's first to its last.

    Returns
    -------
    ndarray of uint16, shape (households, days)
    """
    first, last = (time.astype("datetime64[D]") for time in _period(dataset))
    codes = np.arange(len(dataset.households), dtype=np.int32)
    readings = np.zeros((len(codes), int((last - first).astype(int)) + 1), dtype=np.uint16)
    count = partial(_count_shard, first_day=int(first.astype(int)), days=readings.shape[1])
    shards = split(dataset, codes)
    for households, counts in iter_results(
        map_in_threads(threads), count, shards, progress, "Counting readings by day"
    ):
        # A household may go on in the next shard.
        readings[households] += counts
    return readings


def make_coverage(dataset: Dataset, readings: np.ndarray) -> Coverage:
    """Put counts beside what the dataset's period, interval and time zone let expect."""
    first, last = _period(dataset)
    expected = expected_readings(
        first,
        last,
        interval_minutes=dataset.interval_minutes,
        timezone=dataset.manifest.get("timezone"),
    )
    return Coverage(readings, expected, first.astype("datetime64[D]"))


def expected_readings(
    first: np.datetime64, last: np.datetime64, *, interval_minutes: int, timezone: str | None
) -> np.ndarray:
    """Return how many readings a complete meter has on each day of a period.

    Parameters
    ----------
    first, last : datetime64
        Local times of the first and the last reading.
    timezone : str or None
        Where clocks change; for None they do not.

    Returns
    -------
    ndarray of int64, shape (days,)
    """
    interval = interval_minutes * 60
    begin, end = (int(time.astype("datetime64[s]").astype(np.int64)) for time in (first, last))
    stamps = np.arange(begin, end + 1, interval)
    if timezone is not None:
        changes = clock_changes(timezone, first.astype(object).year, last.astype(object).year)
        skipped = _within_hours(stamps, changes.skipped)
        repeated = _within_hours(stamps, changes.repeated)
        stamps = np.concatenate([stamps[~skipped], stamps[repeated]])
    day = begin // _DAY_SECONDS
    return np.bincount(stamps // _DAY_SECONDS - day, minlength=end // _DAY_SECONDS - day + 1)


def pool_coverage(
    coverage: Coverage,
    order: np.ndarray,
    *,
    households: tuple[int, int] | None = None,
    days: tuple[int, int] | None = None,
    most_rows: int,
    most_columns: int,
) -> PooledCoverage:
    """Sum a part of the coverage into so many rows and columns as a picture has pixels for.

    Parameters
    ----------
    order : ndarray of shape (n,)
        The rows of ``coverage`` from the top of the picture down.
    households, days : (start, stop), optional
        The part to show: places in ``order``, and columns; all by default. Widened to whole
        pools, which start at multiples of their size, so that they stay the same when moving.
    most_rows, most_columns : int
        How many to sum into; one more may come from widening the part.
    """
    readings = coverage.readings
    rows, each_row = _pools(households, len(order), most_rows)
    columns, each_column = _pools(days, readings.shape[1], most_columns)
    shown = order[slice(*rows)]
    first, last = coverage.span
    place = np.arange(*columns)
    metered = (first[shown, None] <= place) & (place <= last[shown, None])
    row_starts = np.arange(0, len(shown), each_row)
    column_starts = np.arange(0, len(place), each_column)
    by_row = np.add.reduceat(readings[shown, slice(*columns)], row_starts, dtype=np.int64)
    pooled_rows = np.diff(row_starts, append=len(shown))
    expected = np.add.reduceat(coverage.expected[slice(*columns)], column_starts)
    metered_rows = np.logical_or.reduceat(metered, row_starts)
    return PooledCoverage(
        readings=np.add.reduceat(by_row, column_starts, axis=1),
        expected=np.outer(pooled_rows, expected),
        metered=np.logical_or.reduceat(metered_rows, column_starts, axis=1),
        households_each=each_row,
        days_each=each_column,
        households=rows,
        days=columns,
    )


def _pools(part: tuple[int, int] | None, n: int, most: int) -> tuple[tuple[int, int], int]:
    """Return the part, widened to whole pools, and how many places a pool has."""
    start, stop = part or (0, n)
    start = max(min(start, n - 1), 0)
    stop = min(max(stop, start + 1), n)
    each = max(-(-(stop - start) // most), 1)
    return (start // each * each, min(-(-stop // each) * each, n)), each


def _period(dataset: Dataset) -> tuple[np.datetime64, np.datetime64]:
    """Return the times of the dataset's first and last readings."""
    first, last = dataset.households["first"].min(), dataset.households["last"].max()
    if pd.isna(first):
        raise InputError(f"{dataset.path} has no readings; run wattfold ingest again")
    return first.to_datetime64(), last.to_datetime64()


def _within_hours(stamps: np.ndarray, hours: np.ndarray) -> np.ndarray:
    return np.isin(stamps // HOUR, hours // HOUR)


def _count_shard(shard: Shard, *, first_day: int, days: int) -> tuple[np.ndarray, np.ndarray]:
    counts = np.zeros((len(shard.households), days), dtype=np.uint16)
    for batch in shard.batches():
        _count(batch.rows, batch.times, first_day, counts)
    return shard.households, counts


@numba.njit(nogil=True, cache=True)
def _count(rows: np.ndarray, times: np.ndarray, first_day: int, counts: np.ndarray) -> None:
    """Count readings by row and day; ``times`` are microseconds since 1970."""
    start = stop = np.int64(0)
    day = 0
    for i in range(len(times)):
        # Readings of a day mostly follow each other: one division a day.
        if not start <= times[i] < stop:
            absolute = times[i] // _DAY_MICROSECONDS
            start = absolute * _DAY_MICROSECONDS
            stop = start + _DAY_MICROSECONDS
            day = absolute - first_day
        counts[rows[i], day] += 1
