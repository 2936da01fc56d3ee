"""Who is at home: the timetable of every day, trips, stays, and being up and about."""

from dataclasses import dataclass

import numpy as np

from core.demo._calendar_and_weather import Setting
from core.demo._patterns import Home

_LIE_IN = 1.2  # hours later than usual on a day off
_STAY_CHANCE = {6: 0.35, 7: 0.75, 8: 0.75, 12: 0.3}  # of a holiday home's weekend, by month
_RARE_STAY_CHANCE = 0.12  # in the other months
_TERM_BREAK = (6, 7, 8)
_TERM_BREAK_CHANCE = 0.6  # that nobody stays, each month


@dataclass(frozen=True)
class Timetable:
    """A home's usual hours for every day of the span, each (days,)."""

    workday: np.ndarray
    wake: np.ndarray
    leave: np.ndarray
    back: np.ndarray
    sleep: np.ndarray
    dinner: np.ndarray


def make_timetable(home: Home, setting: Setting) -> Timetable:
    """Lay out the home's weeks over the span."""
    last = 5 if home.open_saturdays else 4
    workday = (setting.weekday <= last) & ~setting.public_holiday
    turn = (np.arange(setting.days) // 7 + home.first_week) % len(home.weeks)
    week = np.where(workday, turn, 0)
    lie_in = np.where(workday, 0.0, _LIE_IN)

    def usual(name: str) -> np.ndarray:
        return np.array([getattr(hours, name) for hours in home.weeks])[week]

    return Timetable(
        workday=workday,
        wake=usual("wake") + lie_in,
        leave=usual("leave") + 2 * lie_in,
        back=usual("back") + lie_in,
        sleep=usual("sleep") + 0.4 * lie_in,
        dinner=usual("dinner"),
    )


def absence(home: Home, setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """When nobody stays at the home: trips, or for a holiday home all but the stays. (n,) bool."""
    if not home.pattern.lived_in:
        return _between_stays(setting, rng)
    away = np.zeros(setting.n, dtype=bool)
    # Trips crowd into the summer and Christmas, and last from a weekend to a fortnight.
    popularity = np.where(np.isin(setting.month, (7, 8, 12)), 2.0, 0.8)
    leaving = rng.random(setting.days) < home.pattern.trips / 365 * popularity
    for first in np.flatnonzero(leaving):
        _mark(away, setting, first, int(rng.choice((2, 3, 4, 7, 7, 10, 14))), rng)
    if home.pattern.term_time:
        new_month = np.diff(setting.month, prepend=0) != 0
        for first in np.flatnonzero(new_month & np.isin(setting.month, _TERM_BREAK)):
            if rng.random() < _TERM_BREAK_CHANCE:
                _mark(away, setting, first, 30, rng)
    return away


def _between_stays(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """All but long weekends and, mostly in summer, stays of a week or two."""
    present = np.zeros(setting.n, dtype=bool)
    fondness = rng.lognormal(-0.2, 0.5)
    for friday in np.flatnonzero(setting.weekday == 4):
        month = int(setting.month[friday])
        if rng.random() < fondness * _STAY_CHANCE.get(month, _RARE_STAY_CHANCE):
            long = rng.random() < (0.6 if month in (7, 8) else 0.1)
            _mark(present, setting, friday, int(rng.integers(6, 15)) if long else 2, rng)
    return ~present


def _mark(
    rows: np.ndarray, setting: Setting, first: np.integer, days: int, rng: np.random.Generator
) -> None:
    """Mark the rows from some waking hour of one day to some waking hour of a later one."""
    last = min(first + days, setting.days - 1)
    start, stop = rng.integers(16, 42, size=2)
    rows[setting.row[first, start] : setting.row[last, stop]] = True


def activity(
    home: Home, setting: Setting, timetable: Timetable, rng: np.random.Generator
) -> np.ndarray:
    """How much of the household is up and at home when not on a trip, (n,) from 0 to 1."""
    scatter = home.irregularity * rng.normal(size=(4, setting.days))
    wake = timetable.wake + 0.5 * scatter[0]
    sleep = timetable.sleep + 0.8 * scatter[1]
    leave = timetable.leave + 0.6 * scatter[2]
    back = timetable.back + scatter[3]
    chance = np.where(timetable.workday, home.chances.out_workday, home.chances.out_day_off)
    out = rng.random(setting.days) < chance

    # In a larger household people get up, leave and come home one after the other.
    blur = 0.4 + 0.3 * home.occupants
    awake = _during(setting, wake, sleep, blur)
    gone = _during(setting, np.where(out, leave, np.inf), back, blur)
    return awake * (1 - gone)


def _during(setting: Setting, start: np.ndarray, stop: np.ndarray, blur: float) -> np.ndarray:
    """1 between two hours of each day, 0 outside, with edges of ``blur`` hours, (n,).

    What goes on after midnight is still the day's before.
    """
    middle = setting.half_hour / 2 + 0.25
    inside = np.zeros(setting.n)
    for day, hour in ((setting.day, middle), (np.maximum(setting.day - 1, 0), middle + 24)):
        since, left = hour - (start - blur / 2)[day], (stop + blur / 2)[day] - hour
        inside = np.maximum(inside, np.minimum(since, left) / blur)
    return np.minimum(inside, 1)
