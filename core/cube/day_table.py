"""The bin of every reading, by household and day.

A day has one reading for each of its slots, so one byte a reading, its bin, holds what the counts
of any period need: 94 MB for 3,639 households and 18 months of half-hours, less than the counts
themselves. Only days that have readings have a row. The hour that the clocks repeat in autumn has
two readings a slot; all but the smallest bin are then kept apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numba
import numpy as np

from core.parallel import run_tasks, slices
from core.periods import Period
from core.progress import Progress, silent
from core.slots import EPOCH_MINUTE, MINUTES_PER_DAY, slots_per_week

_MICROSECONDS_PER_MINUTE = 60_000_000
_DAY = MINUTES_PER_DAY * _MICROSECONDS_PER_MINUTE
# The day of the week of day 0.
_FIRST_WEEKDAY = EPOCH_MINUTE // MINUTES_PER_DAY

# Households that are counted at a time: less than a hundredth of a second.
_HOUSEHOLDS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class DayTable:
    """A small whole number for every reading: its bin, or its watt-hours. Arrays are read-only.

    Attributes
    ----------
    households : ndarray of int32, shape (households,)
        Codes in the dataset, increasing.
    starts : ndarray of int64, shape (households + 1,)
        The rows of household h are ``starts[h]`` … ``starts[h + 1]`` − 1.
    days : ndarray of int32, shape (rows,)
        Days since 1 January 1970, increasing within a household.
    values : ndarray of uint8 or uint16, shape (rows, slots of a day)
        The largest number of the type stands for no reading.
    repeated : ndarray of int64, shape (repeated, 3)
        Row, slot of the day and value of further readings of the same slot, sorted. The smallest
        of them is in ``values``.
    """

    households: np.ndarray
    starts: np.ndarray
    days: np.ndarray
    values: np.ndarray
    repeated: np.ndarray

    def __post_init__(self) -> None:
        for each in fields(self):
            getattr(self, each.name).flags.writeable = False

    @property
    def n_slots(self) -> int:
        """The number of slots in the week."""
        return 7 * int(self.values.shape[1])

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take, in bytes."""
        return sum(getattr(self, each.name).nbytes for each in fields(self))

    @property
    def owners(self) -> np.ndarray:
        """The place in ``households`` of each row's household, (rows,)."""
        return np.repeat(np.arange(len(self.households)), np.diff(self.starts))

    @property
    def weekdays(self) -> np.ndarray:
        """The day of the week of each row, 0 for Monday, (rows,)."""
        return (self.days + _FIRST_WEEKDAY) % 7

    def choose(self, places: np.ndarray) -> Self:
        """Return the rows of some households alone, given by their places, increasing."""
        wanted = np.zeros(len(self.households), bool)
        wanted[places] = True
        rows = np.repeat(wanted, np.diff(self.starts))
        new_row = np.cumsum(rows) - 1
        repeated = self.repeated[rows[self.repeated[:, 0]]].copy()
        repeated[:, 0] = new_row[repeated[:, 0]]
        lengths = np.diff(self.starts)[wanted]
        return type(self)(
            self.households[wanted],
            np.concatenate([[0], np.cumsum(lengths)]),
            self.days[rows],
            self.values[rows],
            repeated,
        )

    def look_up(self, table: np.ndarray, out: np.ndarray | None = None) -> Self:
        """Replace every value by what a table has there; its numbers must not decrease.

        The values are written to ``out``, of their shape and the table's type, where it is given.
        """
        absent = np.iinfo(table.dtype).max
        # The table's last number stands for all that follow, but for the one of no reading.
        places = np.arange(np.iinfo(self.values.dtype).max + 1)
        full = table[np.minimum(places, len(table) - 1)]
        full[-1] = absent
        values = np.empty(self.values.shape, dtype=table.dtype) if out is None else out
        _look_up(self.values, full, values)
        repeated = self.repeated.copy()
        repeated[:, 2] = full[repeated[:, 2]]
        return type(self)(self.households, self.starts, self.days, values, _sorted(repeated))

    def count(
        self,
        n_values: int,
        *,
        period: Period | None = None,
        threads: int | None = None,
        progress: Progress = silent,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Count the readings of a period by household, slot of the week and value.

        Returns
        -------
        counts : ndarray of shape (households, slots, n_values)
            The smallest unsigned integers that hold them.
        sample_sizes : ndarray of int64, shape (households, slots)
            ``counts`` summed over values.
        """
        n, per_day = len(self.households), self.values.shape[1]
        held = np.ones(len(self.days), bool) if period is None else period.holds(self.days)
        weekdays = self.weekdays.astype(np.int64)
        rows, slots, values = self.repeated[held[self.repeated[:, 0]]].T
        owners = self.owners
        # No count exceeds the number of a household's Mondays, Tuesdays …, and repeated readings.
        most = np.bincount((owners * 7 + weekdays)[held], minlength=1).max()
        most += np.bincount(owners[rows], minlength=1).max()
        counts = np.zeros((n, self.n_slots, n_values), dtype=np.min_scalar_type(most))
        sample_sizes = np.zeros((n, self.n_slots), dtype=np.int64)

        def work(part: slice) -> None:
            starts = self.starts[part.start : part.stop + 1]
            _count(starts, weekdays, held, self.values, counts[part], sample_sizes[part])

        blocks = slices(n, _HOUSEHOLDS_AT_ONCE)
        run_tasks(work, blocks, threads=threads, progress=progress, message="Counting readings")
        slots = slots + weekdays[rows] * per_day
        np.add.at(counts, (owners[rows], slots, values), 1)
        np.add.at(sample_sizes, (owners[rows], slots), 1)
        if counts.itemsize > 1:
            counts = counts.astype(np.min_scalar_type(counts.max(initial=0)), copy=False)
        return counts, sample_sizes


def make_day_table(
    owners: np.ndarray,
    times: np.ndarray,
    values: np.ndarray,
    *,
    households: np.ndarray,
    interval_minutes: int,
) -> DayTable:
    """Put readings into a table.

    Parameters
    ----------
    owners : ndarray of int32, shape (n,)
        The place of each reading's household in ``households``.
    times : ndarray of int64, shape (n,)
        Microseconds since 1970, local time.
    values : ndarray of uint8 or uint16, shape (n,)
    households : ndarray of int32
        Codes in the dataset, increasing.
    interval_minutes : int
        Minutes a reading.
    """
    per_day = slots_per_week(interval_minutes) // 7
    rows = _count_runs(owners, times)
    absent = np.iinfo(values.dtype).max
    table = np.full((rows, per_day), absent, dtype=values.dtype)
    row_owners, days = np.empty(rows, np.int64), np.empty(rows, np.int32)
    repeated = np.empty((len(times), 3), np.int64)  # pages that are not written cost nothing
    interval = interval_minutes * _MICROSECONDS_PER_MINUTE
    n_repeated = _fill(owners, times, values, absent, interval, row_owners, days, table, repeated)
    return _tidy(households, row_owners, days, table, repeated[:n_repeated].copy())


def merge_day_tables(
    tables: Sequence[DayTable],
    *,
    households: np.ndarray | None = None,
    values: np.ndarray | None = None,
) -> DayTable:
    """Put tables of any households and days together; their order does not matter.

    It is fastest where they are :func:`in_order`.

    Parameters
    ----------
    tables : sequence of DayTable
        At least one.
    households : ndarray of int32, optional
        The codes of all households, increasing; by default those of the tables.
    values : ndarray, optional
        The tables' values one after the other, where they are in one array already.
    """
    if households is None:
        households = np.unique(np.concatenate([table.households for table in tables]))
    before = np.cumsum([0, *(len(table.days) for table in tables)])
    owners = [np.searchsorted(households, table.households)[table.owners] for table in tables]
    repeated = [
        table.repeated + np.array([first, 0, 0])
        for table, first in zip(tables, before[:-1], strict=True)
    ]
    return _tidy(
        households,
        np.concatenate(owners),
        np.concatenate([table.days for table in tables]),
        np.concatenate([table.values for table in tables]) if values is None else values,
        np.concatenate(repeated),
    )


def in_order(tables: Sequence[DayTable]) -> list[DayTable]:
    """Order tables by their first household and day."""

    def first(table: DayTable) -> tuple[int, int]:
        if not len(table.days):
            return -1, 0
        return int(table.households[table.owners[0]]), int(table.days[0])

    return sorted(tables, key=first)


def _tidy(
    households: np.ndarray,
    owners: np.ndarray,
    days: np.ndarray,
    values: np.ndarray,
    repeated: np.ndarray,
) -> DayTable:
    """Sort rows by household and day, and make one of those that are of the same day."""
    # Days before 1970 are negative.
    keys = (owners << 32) + (days.astype(np.int64) + (1 << 31))
    if not (keys[1:] > keys[:-1]).all():
        order = np.argsort(keys, kind="stable")
        is_first = np.diff(keys[order], prepend=-1) > 0
        place = np.empty(len(keys), np.int64)
        place[order] = np.cumsum(is_first) - 1
        first, further = order[is_first], order[~is_first]
        merged = values[first]
        absent = np.iinfo(values.dtype).max
        again = np.empty((values[further].size + len(repeated), 3), np.int64)
        repeated[:, 0] = place[repeated[:, 0]]
        count = _fold(place[further], values[further], absent, repeated, merged, again)
        owners, days, values, repeated = owners[first], days[first], merged, again[:count].copy()
    starts = np.searchsorted(owners, np.arange(len(households) + 1))
    return DayTable(households, starts, days, values, _sorted(repeated))


def _sorted(repeated: np.ndarray) -> np.ndarray:
    return repeated[np.lexsort(repeated.T[::-1])]


@numba.njit(nogil=True, cache=True)
def _count_runs(owners: np.ndarray, times: np.ndarray) -> int:
    """Count the runs of readings of one household and day."""
    runs = 0
    start = times[0] - 2 * _DAY if len(times) else 0
    for i in range(len(times)):
        if not start <= times[i] < start + _DAY or owners[i] != owners[i - 1]:
            start = times[i] // _DAY * _DAY
            runs += 1
    return runs


@numba.njit(nogil=True, cache=True)
def _fill(
    owners: np.ndarray,
    times: np.ndarray,
    values: np.ndarray,
    absent: int,
    interval: int,
    row_owners: np.ndarray,
    days: np.ndarray,
    table: np.ndarray,
    repeated: np.ndarray,
) -> int:
    """Give every run of readings of one household and day a row; return how many are repeated.

    ``times`` and ``interval`` are in microseconds.
    """
    row, slot, n_repeated = -1, 0, 0
    start = times[0] - 2 * _DAY if len(times) else 0
    expected = start
    for i in range(len(times)):
        # Readings mostly follow each other, and a comparison is cheaper than a division.
        if not start <= times[i] < start + _DAY or owners[i] != owners[i - 1]:
            row += 1
            day = times[i] // _DAY
            start = day * _DAY
            row_owners[row], days[row] = owners[i], day
            slot = (times[i] - start) // interval
        elif times[i] == expected:
            slot += 1
        else:
            slot = (times[i] - start) // interval
        expected = times[i] + interval
        n_repeated = _insert(table, absent, row, slot, values[i], repeated, n_repeated)
    return n_repeated


@numba.njit(nogil=True, cache=True)
def _fold(
    place: np.ndarray,
    values: np.ndarray,
    absent: int,
    repeated: np.ndarray,
    merged: np.ndarray,
    again: np.ndarray,
) -> int:
    """Insert rows, and repeated readings, into the rows at their places, which have some."""
    n_again = 0
    for row in range(len(values)):
        for slot in range(values.shape[1]):
            if values[row, slot] != absent:
                n_again = _insert(
                    merged, absent, place[row], slot, values[row, slot], again, n_again
                )
    for row, slot, value in repeated:
        n_again = _insert(merged, absent, row, slot, value, again, n_again)
    return n_again


@numba.njit(nogil=True, cache=True)
def _insert(
    table: np.ndarray,
    absent: int,
    row: int,
    slot: int,
    value: int,
    repeated: np.ndarray,
    n_repeated: int,
) -> int:
    """Put a value where none is; of two, the larger one goes to ``repeated``."""
    there = table[row, slot]
    if there == absent:
        table[row, slot] = value
        return n_repeated
    repeated[n_repeated, 0], repeated[n_repeated, 1] = row, slot
    repeated[n_repeated, 2] = max(there, value)
    table[row, slot] = min(there, value)
    return n_repeated + 1


@numba.njit(nogil=True, cache=True)
def _look_up(values: np.ndarray, table: np.ndarray, found: np.ndarray) -> None:
    for row in range(len(values)):
        for slot in range(values.shape[1]):
            found[row, slot] = table[values[row, slot]]


@numba.njit(nogil=True, cache=True)
def _count(
    starts: np.ndarray,
    weekdays: np.ndarray,
    held: np.ndarray,
    values: np.ndarray,
    counts: np.ndarray,
    sample_sizes: np.ndarray,
) -> None:
    """Count the values of some households' days."""
    n_values = counts.shape[2]
    per_day = values.shape[1]
    for household in range(len(starts) - 1):
        for row in range(starts[household], starts[household + 1]):
            if held[row]:
                first = weekdays[row] * per_day
                for slot in range(per_day):
                    value = values[row, slot]
                    if value < n_values:
                        counts[household, first + slot, value] += 1
                        sample_sizes[household, first + slot] += 1
