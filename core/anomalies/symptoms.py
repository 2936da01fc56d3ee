"""What the detectors look at: a few summaries of every week of every household.

Readings are brought to half-hours first, so that a detector need not know the interval.
"""

from dataclasses import dataclass

import numba
import numpy as np

from core.anomalies.weeks import Weeks
from core.parallel import run_tasks
from core.progress import Progress, silent

HALF_HOURS = 48
SLOTS = 336

# A week counts when most of it was read, and every hour on some day.
LEAST_SHARE = 0.7

QUANTILES = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0])
STEP_QUANTILES = np.array([0.25, 0.5, 0.75, 0.9, 0.97])

# kWh per half-hour below which differences of a meter are not worth telling apart (10 W).
RESOLUTION = 0.005
CHUNK = 32

# Equal readings in a row that a home with all devices idle does not show.
LEAST_RUN = 6


@dataclass(frozen=True, eq=False)
class Symptoms:
    """Summaries by household and week; a week that is not ``usable`` holds no meaning.

    Attributes
    ----------
    kwh : ndarray of float32, shape (n, weeks, 336)
        kWh per half-hour, NaN where missing.
    usable : ndarray of bool, shape (n, weeks)
        Whether enough of the week was read.
    low : ndarray, shape (n, weeks, 24)
        log of what is always on: the 20 % quantile at each hour of the day.
    mean : ndarray, shape (n, weeks, 48)
        The mean day, kWh per half-hour, smoothed over three half-hours.
    quantiles : ndarray, shape (n, weeks, 10)
        log of the quantiles of the week's readings.
    steps : ndarray, shape (n, weeks, 5)
        log of the quantiles of the steps from one reading to the next.
    zero, constant : ndarray, shape (n, weeks)
        Share of readings that are 0, and that are in a run of at least six equal ones above 0.
    linked : ndarray, shape (n, weeks)
        Correlation of the log of a reading with that of the next; 1 where nothing changes.
    day : ndarray, shape (n, weeks, 7, 24)
        Root of the mean kWh at each hour of each day, NaN where missing.
    """

    kwh: np.ndarray
    usable: np.ndarray
    low: np.ndarray
    mean: np.ndarray
    quantiles: np.ndarray
    steps: np.ndarray
    zero: np.ndarray
    constant: np.ndarray
    linked: np.ndarray
    day: np.ndarray

    def __len__(self) -> int:
        return len(self.kwh)

    def take(self, rows: np.ndarray) -> "Symptoms":
        """Keep these households."""
        return Symptoms(**{name: value[rows] for name, value in vars(self).items()})

    def without_weeks(self, keep: np.ndarray) -> "Symptoms":
        """Ignore the weeks that are not in ``keep``, bool of shape (weeks,) or (n, weeks)."""
        return Symptoms(**{**vars(self), "usable": self.usable & keep})

    @property
    def n_weeks(self) -> np.ndarray:
        """Usable weeks of every household, (n,)."""
        return self.usable.sum(axis=1)


def to_half_hours(weeks: Weeks) -> np.ndarray:
    """Return kWh per half-hour, (n, weeks, 336); an hour is halved, quarter-hours are added up."""
    n, count, slots = weeks.kwh.shape
    if slots == SLOTS:
        return weeks.kwh
    if slots > SLOTS:
        return weeks.kwh.reshape(n, count, SLOTS, -1).sum(axis=3)
    parts = SLOTS // slots
    return np.repeat(weeks.kwh, parts, axis=2) / np.float32(parts)


def summarize(kwh: np.ndarray, *, progress: Progress = silent) -> Symptoms:
    """Summarize half-hourly readings, (n, weeks, 336), by week."""
    n, weeks, _ = kwh.shape
    shapes = {
        "low": (24,),
        "mean": (HALF_HOURS,),
        "quantiles": (len(QUANTILES),),
        "steps": (len(STEP_QUANTILES),),
        "zero": (),
        "constant": (),
        "linked": (),
        "day": (7, 24),
    }
    out = {name: np.zeros((n, weeks, *shape), np.float32) for name, shape in shapes.items()}
    usable = np.zeros((n, weeks), bool)

    def fill(start: int) -> None:
        rows = slice(start, start + CHUNK)
        chunk = np.ascontiguousarray(kwh[rows], np.float32)
        _summarize(chunk, usable[rows], *(array[rows] for array in out.values()))

    run_tasks(fill, range(0, n, CHUNK), progress=progress, message="Summarizing weeks")
    return Symptoms(kwh=kwh, usable=usable, **out)


@numba.njit(nogil=True, cache=True)
def _summarize(kwh, usable, low, mean, quantiles, steps, zero, constant, linked, day):  # type: ignore[no-untyped-def]
    n, weeks, _ = kwh.shape
    for i in range(n):
        for week in range(weeks):
            x = kwh[i, week]
            present = x[np.isfinite(x)]
            usable[i, week] = len(present) >= LEAST_SHARE * SLOTS
            if not usable[i, week]:
                continue
            usable[i, week] = _profiles(x, low[i, week], mean[i, week], day[i, week])
            if not usable[i, week]:
                continue
            present.sort()
            for j in range(len(QUANTILES)):
                quantiles[i, week, j] = np.log(_quantile(present, QUANTILES[j]) + 0.002)
            difference = np.abs(x[1:] - x[:-1])
            difference = difference[np.isfinite(difference)]
            difference.sort()
            for j in range(len(STEP_QUANTILES)):
                steps[i, week, j] = np.log(_quantile(difference, STEP_QUANTILES[j]) + 0.001)
            zeros, held, run = 0, 0, 1
            for s in range(SLOTS):
                zeros += x[s] == 0
                run = run + 1 if s > 0 and x[s] == x[s - 1] and x[s] > 0 else 1
                if run == LEAST_RUN:
                    held += run
                elif run > LEAST_RUN:
                    held += 1
            zero[i, week] = zeros / len(present)
            constant[i, week] = held / len(present)
            linked[i, week] = _link(x)


@numba.njit(nogil=True, cache=True)
def _link(x):  # type: ignore[no-untyped-def]
    """Return the correlation of the log of a reading with that of the next."""
    logs = np.log(np.maximum(x.astype(np.float64), 0.0) + RESOLUTION)
    pairs = np.isfinite(logs[1:]) & np.isfinite(logs[:-1])
    first, second = logs[:-1][pairs], logs[1:][pairs]
    if len(first) < 2 or first.std() < 1e-6 or second.std() < 1e-6:
        return 1.0
    return ((first - first.mean()) * (second - second.mean())).mean() / first.std() / second.std()


@numba.njit(nogil=True, cache=True)
def _profiles(x, low, mean, day):  # type: ignore[no-untyped-def]
    """Fill in the profiles; return whether every hour of the day was read on some day."""
    pool = np.empty(21, np.float32)
    for hour in range(24):
        low[hour] = 0.0
    for h in range(HALF_HOURS):
        size = 0
        for d in range(7):
            for side in (-1, 0, 1):
                value = x[d * HALF_HOURS + (h + side) % HALF_HOURS]
                if np.isfinite(value):
                    pool[size] = value
                    size += 1
        if size == 0:
            return False
        values = pool[:size]
        values.sort()
        low[h // 2] += np.log(_quantile(values, 0.2) + RESOLUTION) / 2
        mean[h] = values.mean()
    for d in range(7):
        for hour in range(24):
            a, b = x[d * HALF_HOURS + 2 * hour], x[d * HALF_HOURS + 2 * hour + 1]
            if np.isfinite(a) and np.isfinite(b):
                day[d, hour] = np.sqrt(max(0.0, (a + b) / 2))
            else:
                day[d, hour] = np.nan
    return True


@numba.njit(nogil=True, cache=True)
def _quantile(ordered, share):  # type: ignore[no-untyped-def]
    """Linear interpolation between order statistics, as NumPy does."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
