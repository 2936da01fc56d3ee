"""Weeks in a few numbers: how demand is distributed in parts of the day.

A single week has one reading a slot, far too few for the distributions that a map is made of. In
parts of three hours, on weekdays and at weekends, and by tenths of the bins, a week has a shape
that can be compared with other weeks. A shape is the share of the readings of each part that are
at most each of nine demands; it is linear in the counts, so the mean of several weeks' shapes is
the shape of them together. The Euclidean distance of two shapes is the Cramér–von Mises distance
of their distributions, over all parts.
"""

import numba
import numpy as np

from core.cube import DayTable
from core.parallel import run_tasks, slices
from core.periods import Period
from core.progress import Progress, silent
from core.slots import DAYS, MINUTES_PER_DAY

PARTS_OF_DAY = 8
CUTS = 9

# A week that lacks more of its readings is left out.
LEAST_SHARE = 0.95

_SATURDAY = DAYS.index("Sat")
# Monday of the week of 1 January 1970, a Thursday.
_FIRST_MONDAY = -3
_HOUSEHOLDS_AT_ONCE = 64


def week_numbers(days: np.ndarray) -> np.ndarray:
    """Number the weeks, from Monday, that days (since 1970) belong to."""
    return (np.asarray(days, np.int64) - _FIRST_MONDAY) // 7


def week_dates(numbers: np.ndarray) -> np.ndarray:
    """Return the Mondays of numbered weeks, datetime64[D]."""
    return (np.asarray(numbers) * 7 + _FIRST_MONDAY).astype("datetime64[D]")


def week_shapes(
    table: DayTable,
    n_bins: int,
    *,
    slots: np.ndarray,
    first_week: int,
    n_weeks: int,
    period: Period,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Find the shape of every week of every household.

    Parameters
    ----------
    table : DayTable
        The bins of the readings. The second reading of an hour that the clocks repeat is left out.
    n_bins : int
        How many bins there are.
    slots : ndarray of int
        The slots of the week that count.
    first_week, n_weeks : int
        The weeks, by :func:`week_numbers`.
    period : Period
        The days that count; a week must have nearly all of its readings among them.

    Returns
    -------
    shapes : ndarray of float32, shape (households, weeks, parts × cuts)
        NaN for weeks that lack more than 5 % of their readings or all of a part's.
    readings : ndarray of int64, shape (households, weeks)
    """
    n, per_day = len(table.households), table.values.shape[1]
    part = _part_of_slot(per_day, slots)
    n_parts = int(part.max()) + 1
    cut = (np.arange(n_bins) * (CUTS + 1) // n_bins).astype(np.int64)
    shapes = np.full((n, n_weeks, n_parts * CUTS), np.nan, np.float32)
    readings = np.zeros((n, n_weeks), np.int64)
    week = np.where(period.holds(table.days), week_numbers(table.days) - first_week, -1)
    least = LEAST_SHARE * len(slots)

    def work(block: slice) -> None:
        _shape(
            table.starts[block.start : block.stop + 1],
            week,
            table.weekdays.astype(np.int64),
            table.values,
            part,
            n_parts,
            cut,
            least,
            shapes[block],
            readings[block],
        )

    blocks = slices(n, _HOUSEHOLDS_AT_ONCE)
    run_tasks(work, blocks, progress=progress, message="comparing weeks")
    return shapes, readings


def _part_of_slot(per_day: int, slots: np.ndarray) -> np.ndarray:
    """Number the part of the week that each slot of the week is in, without gaps; −1 for none."""
    week = np.arange(7 * per_day)
    hours = week % per_day * MINUTES_PER_DAY // per_day
    part = hours * PARTS_OF_DAY // MINUTES_PER_DAY
    part += PARTS_OF_DAY * (week // per_day >= _SATURDAY)
    found = np.full(7 * per_day, -1, np.int64)
    found[slots] = np.unique(part[slots], return_inverse=True)[1]
    return found


@numba.njit(nogil=True, cache=True)
def _shape(
    starts: np.ndarray,
    week: np.ndarray,
    weekdays: np.ndarray,
    values: np.ndarray,
    part: np.ndarray,
    n_parts: int,
    cut: np.ndarray,
    least: float,
    shapes: np.ndarray,
    readings: np.ndarray,
) -> None:
    """Write the shapes of some households' weeks."""
    per_day = values.shape[1]
    counts = np.empty((n_parts, CUTS + 1), np.int64)
    for household in range(len(starts) - 1):
        stop = starts[household]
        while stop < starts[household + 1]:
            row, number = stop, week[stop]
            while stop < starts[household + 1] and week[stop] == number:
                stop += 1
            if not 0 <= number < shapes.shape[1]:
                continue
            counts[:] = 0
            for i in range(row, stop):
                for time in range(per_day):
                    place = part[weekdays[i] * per_day + time]
                    if place >= 0 and values[i, time] < len(cut):
                        counts[place, cut[values[i, time]]] += 1
            total = counts.sum()
            readings[household, number] = total
            if total < least or (counts.sum(axis=1) == 0).any():
                continue
            for place in range(n_parts):
                size = counts[place].sum()
                below = 0
                for c in range(CUTS):
                    below += counts[place, c]
                    shapes[household, number, place * CUTS + c] = below / size
