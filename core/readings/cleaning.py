"""Duplicates and clock changes: from sorted readings to those that are kept.

Works on whole households whose readings are sorted by household, time and place in the input.
"""

from dataclasses import dataclass

import numpy as np

from core.readings.clock import HOUR, UNKNOWN, ClockChanges, shown_by_readings


@dataclass(frozen=True)
class Readings:
    """Readings of whole households, sorted by household and time.

    ``household`` are codes, ``time`` seconds of wall-clock time since 1970, ``kwh`` demand, and
    ``row`` the place in the input, where it is needed.
    """

    household: np.ndarray
    time: np.ndarray
    kwh: np.ndarray
    row: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.household)

    def take(self, rows: np.ndarray | slice) -> "Readings":
        """Return some of the rows."""
        row = None if self.row is None else self.row[rows]
        return Readings(self.household[rows], self.time[rows], self.kwh[rows], row)


@dataclass(frozen=True)
class Cleaned:
    """What is kept, and how much was not.

    ``conflicting`` counts the collapsed readings whose value differs from the one kept, ``moved``
    the readings of a skipped hour put back to where they belong, ``repeated`` the second readings
    of an hour that exists twice.
    """

    kept: Readings
    conflicting: int = 0
    moved: int = 0
    repeated: int = 0


def clean(readings: Readings, *, interval: int, changes: ClockChanges = UNKNOWN) -> Cleaned:
    """Collapse duplicates and keep every real reading of the clock-change days.

    Parameters
    ----------
    readings : Readings
        Sorted by household, time and place in the input.
    interval : int
        Seconds from one reading to the next.
    """
    duplicate = np.zeros(len(readings), bool)
    duplicate[1:] = (readings.time[1:] == readings.time[:-1]) & (
        readings.household[1:] == readings.household[:-1]
    )
    if not duplicate.any():
        return Cleaned(readings)

    moved, repeated = _clock_readings(readings, duplicate, interval, changes)
    keep = ~duplicate
    keep[moved] = keep[repeated] = True

    # A collapsed reading conflicts when it differs from the first reading of its time.
    first = np.maximum.accumulate(np.where(duplicate, 0, np.arange(len(readings))))
    conflicting = np.count_nonzero(~keep & (readings.kwh != readings.kwh[first]))

    time = readings.time.copy()
    time[moved] += HOUR
    kept = Readings(readings.household, time, readings.kwh, readings.row).take(keep)
    if len(moved):
        kept = kept.take(np.lexsort((kept.time, kept.household)))
    return Cleaned(kept, int(conflicting), len(moved), len(repeated))


def _clock_readings(
    readings: Readings, duplicate: np.ndarray, interval: int, changes: ClockChanges
) -> tuple[np.ndarray, np.ndarray]:
    """Find the duplicates that are none: rows of a skipped hour, rows of a repeated hour."""
    moved: list[int] = []
    repeated: list[int] = []
    households = np.unique(readings.household[duplicate])
    starts = np.searchsorted(readings.household, households, "left")
    ends = np.searchsorted(readings.household, households, "right")
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        times = readings.time[start:end]
        here = changes if changes.known else shown_by_readings(times, interval)
        for hour in here.repeated:
            repeated += _second_readings(readings, start, times, hour, interval)
        for hour in here.skipped:
            absent = np.searchsorted(times, hour) == np.searchsorted(times, hour + HOUR)
            if absent:
                moved += _second_readings(readings, start, times, hour - HOUR, interval)
    return np.array(moved, np.int64), np.array(repeated, np.int64)


def _second_readings(
    readings: Readings, start: int, times: np.ndarray, hour: int, interval: int
) -> list[int]:
    """Return the second reading of each time of an hour: the first that differs, if any does.

    Files that hold every row twice hold the doubled hour four times over.
    """
    rows = []
    for time in range(int(hour), int(hour) + HOUR, interval):
        left = start + int(np.searchsorted(times, time, "left"))
        right = start + int(np.searchsorted(times, time, "right"))
        if right - left > 1:
            values = readings.kwh[left:right]
            differing = np.flatnonzero(values != values[0])
            rows.append(left + (int(differing[0]) if len(differing) else 1))
    return rows
