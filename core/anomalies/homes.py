"""The homes of a dataset for those who explain: similar homes, mean days, onsets and dates."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.statistics import present_mean, record_mean, some_homes
from core.anomalies.symptoms import CHUNK, HALF_HOURS, RESOLUTION, Symptoms
from core.anomalies.words import date_words
from core.summary import Summarized

SIMILAR = 20
EVERY = np.ones(HALF_HOURS, bool)
NEVER = np.datetime64("NaT", "D")

# A step that explains this share of a daily series, and is this large (log), is an onset.
CLEAR_STEP, LEAST_STEP = 0.35, 0.2


@dataclass(frozen=True, eq=False, repr=False)
class Finding(Summarized):
    """What is unusual about one household.

    Attributes
    ----------
    reason : str
        A sentence.
    direction : {'higher', 'lower', 'different'}
    slots : ndarray of bool, shape (336,)
        The half-hours of the week concerned.
    since : datetime64[D] or NaT
    until : datetime64[D] or NaT
        The last day, where it was over before the record ends.
    kwh_per_week : float
        The size, signed.
    profile, expected : ndarray, shape (48,)
        The mean day since then, and what is expected of it, kWh per half-hour.
    daily : ndarray, shape (days,)
        The daily series in which the onset is found.
    """

    reason: str
    direction: str
    slots: np.ndarray
    since: np.datetime64
    kwh_per_week: float
    profile: np.ndarray
    expected: np.ndarray
    daily: np.ndarray
    until: np.datetime64 = NEVER


class Homes:
    """The households of one dataset; what explanations share is computed once.

    Attributes
    ----------
    symptoms : Symptoms
    monday : datetime64[D]
        The first day.
    days : ndarray, shape (n, days, 48)
        kWh per half-hour; a view.
    """

    def __init__(self, symptoms: Symptoms, monday: np.datetime64) -> None:
        self.symptoms = symptoms
        self.monday = monday
        self.n_days = symptoms.kwh.shape[1] * 7
        self.days = symptoms.kwh.reshape(len(symptoms), self.n_days, HALF_HOURS)
        self._shared: dict[Callable[[Symptoms], np.ndarray], np.ndarray] = {}

    def shared(self, function: Callable[[Symptoms], np.ndarray]) -> np.ndarray:
        """Return a function of the symptoms, computed when it is first asked for."""
        if function not in self._shared:
            self._shared[function] = function(self.symptoms)
        return self._shared[function]

    @cached_property
    def profiles(self) -> np.ndarray:
        """The mean day of every household, (n, 48)."""
        return record_mean(self.symptoms, self.symptoms.mean)

    @cached_property
    def population_level(self) -> np.ndarray:
        """The median log level of every day, relative to each household's own, (days,)."""
        daily = np.log(daily_mean(self.days[some_homes(len(self.days))]) + RESOLUTION)
        present = np.isfinite(daily)
        some = present.any(axis=1, keepdims=True)
        middle = np.nanmedian(np.where(some, daily, 0.0), axis=1)
        daily = np.where(present.any(axis=0), daily - middle[:, None], 0.0)
        return np.nanmedian(daily, axis=0)

    def level_series(self, row: int) -> np.ndarray:
        """Return the log of a household's days relative to the population's, (days,)."""
        return np.log(daily_mean(self.days[row]) + RESOLUTION) - self.population_level

    @cached_property
    def nearest(self) -> np.ndarray:
        """The most similar other household of each, (n,)."""
        logs = np.log(self.profiles + RESOLUTION)
        norm = (logs**2).sum(axis=1)
        nearest = np.empty(len(logs), np.int64)
        for start in range(0, len(logs), CHUNK):
            rows = np.arange(start, min(start + CHUNK, len(logs)))
            squared = norm[rows, None] + norm - 2 * logs[rows] @ logs.T
            squared[np.arange(len(rows)), rows] = np.inf
            nearest[rows] = squared.argmin(axis=1)
        return nearest

    @cached_property
    def _running(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the weekly mean days up to each week, (n, weeks, 48), and weeks in them."""
        usable = self.symptoms.usable
        total = np.cumsum(np.where(usable[..., None], self.symptoms.mean, 0.0), axis=1)
        return total, np.cumsum(usable, axis=1)

    def similar(self, row: int, hours: np.ndarray = EVERY, weeks: int | None = None) -> np.ndarray:
        """Return the homes nearest at these half-hours of the day, in the first so many weeks."""
        last = -1 if weeks is None else weeks - 1
        total, counted = (each[:, last] for each in self._running)
        profiles = total[:, hours] / np.maximum(counted, 1)[:, None]
        logs = np.log(profiles + RESOLUTION)
        squared = ((logs - logs[row]) ** 2).mean(axis=1)
        squared = np.where(counted > 0, squared, np.inf)
        squared[row] = np.inf
        return np.argsort(squared, kind="stable")[: min(SIMILAR, len(squared) - 1)]

    def mean_day(self, rows: np.ndarray | int, first: int, last: int) -> np.ndarray:
        """Return the mean day from day ``first`` to ``last`` − 1 of one or several homes, (48,)."""
        days = self.days[np.atleast_1d(rows), first:last].reshape(-1, HALF_HOURS)
        present = np.isfinite(days)
        return np.where(present, days, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)

    def _weeks_before(self, onset: int) -> int | None:
        """Return how many weeks end before a day, None where those are fewer than two."""
        return onset // 7 if onset >= 14 else None

    def date(self, onset: int | None) -> np.datetime64:
        """Return the date of a day, NaT for None."""
        if onset is None:
            return NEVER
        return self.monday + np.timedelta64(onset, "D")

    def since(self, onset: int | None, stop: int | None = None) -> str:
        """Return `` since 3 May`` or `` from 3 May to 9 June``, or nothing for None."""
        if onset is None:
            return ""
        first = date_words(self.date(onset), year=self.n_days > 366)
        if stop is None:
            return f" since {first}"
        return f" from {first} to {date_words(self.date(stop - 1), year=self.n_days > 366)}"

    def onset(self, daily: np.ndarray, usual: float, sign: int) -> int | None:
        """Return the first day of a clear step away from the usual value, or None.

        Most of the distance from the usual value must be new.
        """
        step = change_point(daily)
        if step is None or step.explained < CLEAR_STEP:
            return None
        before, after = sign * (step.before - usual), sign * (step.after - usual)
        return step.position if after > LEAST_STEP and before < after / 2 else None

    def expected(
        self, row: int, onset: int | None, hours: np.ndarray, stop: int | None = None
    ) -> np.ndarray:
        """Return the mean day that similar homes, and the own other days if any, suggest.

        ``hours`` marks the half-hours of the day that decide which homes are similar; days from
        ``onset`` to ``stop`` − 1 are those to judge.
        """
        if onset is None:
            similar = self.similar(row, hours)
            return self.mean_day(similar, 0, self.n_days)
        stop = self.n_days if stop is None else stop
        similar = self.similar(row, EVERY, self._weeks_before(onset))
        usual, now = self._other_days(similar, onset, stop), self.mean_day(similar, onset, stop)
        return self._other_days(row, onset, stop) * (now.sum() / max(usual.sum(), RESOLUTION))

    def _other_days(self, rows: np.ndarray | int, first: int, stop: int) -> np.ndarray:
        """Return the mean day outside of a stretch, (48,)."""
        days = np.delete(self.days[np.atleast_1d(rows)], slice(first, stop), axis=1)
        return np.nan_to_num(present_mean(days.reshape(-1, HALF_HOURS), axis=0))

    def finding(
        self,
        row: int,
        onset: int | None,
        expected: np.ndarray,
        stop: int | None = None,
        **rest: Any,
    ) -> Finding:
        """Put a finding together; ``rest`` holds its other fields."""
        return Finding(
            since=self.date(onset),
            until=self.date(None if stop is None else stop - 1),
            profile=self.mean_day(row, onset or 0, self.n_days if stop is None else stop),
            expected=expected,
            **rest,
        )


def daily_mean(days: np.ndarray) -> np.ndarray:
    """Return the mean of every day that was mostly read, NaN elsewhere, (…, days)."""
    present = np.isfinite(days)
    count = present.sum(axis=-1)
    mean = np.where(present, days, 0.0).sum(axis=-1) / np.maximum(count, 1)
    return np.where(count >= days.shape[-1] / 2, mean, np.nan)
