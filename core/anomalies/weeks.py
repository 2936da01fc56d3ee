"""Readings by week: kWh of every household, week and slot of the week.

All detectors read this one array. Weeks start on Monday; the first and the last may be partial.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numba
import numpy as np

from core.periods import WHOLE_RECORD, Period
from core.progress import Progress, silent
from core.readings.dataset import Dataset
from core.slots import EPOCH_MINUTE, slots_per_week

_MICROSECONDS_PER_MINUTE = 60_000_000


@dataclass(frozen=True, eq=False)
class Weeks:
    """Demand by household, week and slot of the week.

    Attributes
    ----------
    kwh : ndarray of float32, shape (households, weeks, slots)
        NaN where there is no reading.
    households : tuple of str
        Their ids.
    monday : datetime64[D]
        The first day of the first week.
    interval_minutes : int
        Minutes per slot.
    """

    kwh: np.ndarray
    households: tuple[str, ...]
    monday: np.datetime64
    interval_minutes: int

    def date(self, day: int) -> np.datetime64:
        """Return the date of a day counted from the first Monday."""
        return self.monday + np.timedelta64(int(day), "D")

    def only(self, weeks: np.ndarray) -> "Weeks":
        """Keep the readings of these weeks; the others become missing."""
        kept = np.full_like(self.kwh, np.nan)
        kept[:, weeks] = self.kwh[:, weeks]
        return replace(self, kwh=kept)

    def take(self, households: np.ndarray) -> "Weeks":
        """Keep these households, given by position."""
        chosen = tuple(self.households[int(position)] for position in households)
        return replace(self, kwh=self.kwh[households], households=chosen)


def read_weeks(
    dataset: Dataset,
    households: Sequence[str] | None = None,
    *,
    period: Period = WHOLE_RECORD,
    progress: Progress = silent,
) -> Weeks:
    """Read a dataset's readings, one row group at a time.

    Parameters
    ----------
    dataset : Dataset
        The readings.
    households : sequence of household ids, optional
        Read these alone; all by default.
    period : Period
        The days that count; readings of other days are missing.
    progress : Progress
        Told how far the work is; may raise to stop it.

    Returns
    -------
    Weeks
        Four bytes per slot of every week between the first and the last reading. A slot with two
        readings (the repeated hour in autumn) holds their mean.
    """
    names = dataset.households["household"].tolist()
    row_of = np.full(len(names), -1, dtype=np.int64)
    chosen = names if households is None else list(dict.fromkeys(households))
    row_of[[dataset.code(name) for name in chosen]] = np.arange(len(chosen))
    wanted = dataset.households.iloc[np.flatnonzero(row_of >= 0)]
    interval = dataset.interval_minutes * _MICROSECONDS_PER_MINUTE
    per_week = slots_per_week(dataset.interval_minutes)
    first = _week_of(wanted["first"].min(), interval, per_week)
    last = _week_of(wanted["last"].max(), interval, per_week)
    kwh = np.full((len(chosen), last - first + 1, per_week), np.nan, dtype=np.float32)
    file = dataset.readings_file
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, use_threads=False)
        rows = row_of[table["household"].to_numpy()]
        times = table["time"].to_numpy().view(np.int64)
        slots = (times + EPOCH_MINUTE * _MICROSECONDS_PER_MINUTE) // interval - first * per_week
        _fill(kwh.reshape(len(chosen), -1), rows, slots, table["kwh"].to_numpy())
        progress((group + 1) / file.num_row_groups, "Reading weeks")
    monday = np.datetime64("1970-01-05", "D") + np.timedelta64(7 * (first - 1), "D")
    if not period.is_whole:
        days = monday + np.arange(kwh.shape[1] * 7)
        kwh.reshape(len(chosen), len(days), -1)[:, ~period.holds(days)] = np.nan
    return Weeks(kwh, tuple(chosen), monday, dataset.interval_minutes)


def _week_of(time: object, interval: int, per_week: int) -> int:
    """Return the week of a time, counted from the one that holds 1 January 1970."""
    microseconds = np.datetime64(time, "us").astype(np.int64)  # type: ignore[call-overload]
    slot = (microseconds + EPOCH_MINUTE * _MICROSECONDS_PER_MINUTE) // interval
    return int(slot // per_week)


@numba.njit(nogil=True, cache=True)
def _fill(kwh: np.ndarray, rows: np.ndarray, slots: np.ndarray, values: np.ndarray) -> None:
    for i in range(len(rows)):
        if rows[i] < 0:
            continue
        before = kwh[rows[i], slots[i]]
        kwh[rows[i], slots[i]] = values[i] if np.isnan(before) else (before + values[i]) / 2
