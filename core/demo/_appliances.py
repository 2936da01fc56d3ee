"""What people switch on: meals, showers, washing, hot water. Each run is a spike of demand."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from core.demo._calendar_and_weather import Setting
from core.demo._patterns import Home
from core.demo._presence import Timetable

# The energy of a run by half-hours, as shares of the whole.
_AT_ONCE = (1.0,)
_BREAKFAST = (0.7, 0.3)
_LUNCH = (0.6, 0.4)
_DINNER = (0.45, 0.35, 0.2)
_WASH = (0.65, 0.15, 0.2)
_DRY = (0.45, 0.4, 0.15)
_DISHES = (0.5, 0.15, 0.35)
_IMMERSION = (0.5, 0.5)


class Routine(NamedTuple):
    """Something that is switched on about once a day, if at all."""

    chance: float
    """Probability of a day."""
    hour: np.ndarray
    """(days,), on average."""
    scatter: float
    """Standard deviation of the hour."""
    kwh: float
    """Of a whole run, on average."""
    shares: tuple[float, ...]
    """Of the energy, by half-hours."""


def routines(home: Home, day: Timetable) -> Iterator[Routine]:
    """List what a home's people switch on."""
    chances, scatter, dinner = home.chances, home.irregularity, home.kwh.dinner
    yield Routine(0.9, day.wake + 0.5, 0.4 * scatter, 0.25, _BREAKFAST)
    yield Routine(chances.lunch, day.wake + 5.2, 0.8 * scatter, 0.4 * dinner, _LUNCH)
    yield Routine(chances.dinner, day.dinner, scatter, dinner, _DINNER)
    yield Routine(0.5, day.sleep - 2, 1.5 * scatter, 0.15, _AT_ONCE)
    for _ in range(home.occupants):
        yield Routine(0.75 * chances.shower, day.wake + 0.4, 0.6 * scatter, 0.9, _AT_ONCE)
        yield Routine(0.25 * chances.shower, day.sleep - 2, 1.2, 0.9, _AT_ONCE)
        for hour in (day.wake + 2.5, day.dinner + 1):
            yield Routine(0.5 * chances.wash, hour, 2.5, 0.8, _WASH)
            yield Routine(0.5 * chances.wash * chances.dry, hour + 2, 2.5, 2.0, _DRY)
    yield Routine(chances.dishwasher, day.dinner + 1.6, scatter, 1.2, _DISHES)
    yield Routine(0.5 * chances.immersion, day.wake + 0.3, 0.3, 2.6, _IMMERSION)
    yield Routine(0.5 * chances.immersion, day.dinner + 0.5, 0.8, 2.6, _IMMERSION)


def add_runs(
    demand: np.ndarray,
    routine: Routine,
    setting: Setting,
    active: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Add a routine's runs to the ``demand``, (n,) kWh, on days when somebody can start them."""
    day = np.flatnonzero(rng.random(setting.days) < routine.chance)
    hour = (routine.hour[day] + routine.scatter * rng.normal(size=len(day))) % 24
    first = setting.row[day, (2 * hour).astype(np.int64)]
    there = rng.random(len(day)) < 1.5 * active[first]
    kwh = routine.kwh * rng.lognormal(0, 0.25, len(day))
    _spread(demand, first[there], 2 * hour[there] % 1, kwh[there], routine.shares)


def _spread(
    demand: np.ndarray,
    first: np.ndarray,
    late: np.ndarray,
    kwh: np.ndarray,
    shares: tuple[float, ...],
) -> None:
    """Spread runs that begin ``late`` in their first half-hour, a fraction of it, over the rows."""
    spill = np.zeros(len(first))
    for offset, share in enumerate((*shares, 0.0)):
        row = first + offset
        inside = row < len(demand)
        np.add.at(demand, row[inside], (kwh * share * (1 - late) + spill)[inside])
        spill = kwh * share * late
