"""A home's demand, half-hour by half-hour: what always runs, what people do, what heats."""

import numpy as np

from core.demo._appliances import add_runs, routines
from core.demo._calendar_and_weather import Setting
from core.demo._patterns import REGION_CELSIUS, Home
from core.demo._presence import activity, make_timetable

_HEATING_LIMIT = 15.5  # °C outdoors, the usual base of degree-days
_COMPRESSOR_KWH = 0.025  # several fridges do not cycle together, so the ripple stays small
_MAIN_FUSE_KWH = 8.0  # each half-hour: a supply of 16 kVA
_TIME_SWITCH = 23.4  # hour at which the night tariff begins, in winter; an hour later in summer
_CHARGE_HALF_HOURS = 16


def simulate(
    home: Home, setting: Setting, away: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the home's demand, (n,) kWh; while it is ``away`` only what nobody switches runs."""
    timetable = make_timetable(home, setting)
    active = activity(home, setting, timetable, rng) * ~away
    level = _level(setting, rng)
    mood = _mood(setting, rng)
    cold = np.maximum(_HEATING_LIMIT - REGION_CELSIUS[home.region] - setting.celsius, 0)
    kwh = home.kwh

    demand = kwh.standby * (0.3 + 0.7 * level)
    demand += _compressor(kwh.cold, setting, rng)
    in_use = kwh.activity + kwh.lighting * setting.darkness + kwh.direct_heating * cold
    demand += active * level * mood * in_use
    _switch_at_any_hour(demand, setting, away, rng)
    for routine in routines(home, timetable):
        add_runs(demand, routine, setting, active, rng)
    if kwh.storage_heating > 0:
        _charge_storage(demand, home, setting, cold, away, rng)
    demand = np.minimum(demand, _MAIN_FUSE_KWH)
    # Mains voltage and everything too small to name.
    demand *= 1 + 0.03 * rng.normal(size=setting.n)
    return np.maximum(demand, 0)


def _mood(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """How much more or less than usual is going on: today, these two hours, this half-hour."""
    mood = 0.25 * rng.normal(size=setting.days)[setting.day]
    mood += 0.4 * _correlated(setting.n, 4, rng)
    mood += 0.3 * rng.normal(size=setting.n)
    return np.exp(np.minimum(mood, 1.2))


def _correlated(n: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Draw standard normal noise that forgets itself after ``width`` half-hours."""
    total = np.cumsum(rng.normal(size=n + width))
    return (total[width:] - total[:-width]) / np.sqrt(width)


def _level(setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """How a household's use wanders over the months, with sometimes a lasting change."""
    knots = setting.days // 60 + 2
    wander = 0.12 * rng.normal(size=knots)
    if rng.random() < 0.15:
        wander[rng.integers(knots) :] += 0.3 * rng.normal()
    days = np.interp(np.arange(setting.days), np.arange(knots) * 60, wander)
    return np.exp(days)[setting.day]


def _compressor(average: float, setting: Setting, rng: np.random.Generator) -> np.ndarray:
    """Fridges that cycle every hour or two and work harder when it is warm, (n,) kWh."""
    period = rng.uniform(2.2, 4.5)  # half-hours
    slip = np.cumsum(0.4 * rng.normal(size=setting.n))
    cycle = np.sin(2 * np.pi * np.arange(setting.n) / period + slip)
    warmth = 1 + 0.015 * (setting.celsius - 10)
    return average * warmth + min(0.55 * average, _COMPRESSOR_KWH) * cycle


def _switch_at_any_hour(
    demand: np.ndarray, setting: Setting, away: np.ndarray, rng: np.random.Generator
) -> None:
    """Add something small now and then, by night as well."""
    often = rng.beta(1, 12)
    switched = np.flatnonzero(~away & (rng.random(setting.n) < often))
    demand[switched] += rng.gamma(2, 0.06, len(switched))


def _charge_storage(
    demand: np.ndarray,
    home: Home,
    setting: Setting,
    cold: np.ndarray,
    away: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Charge storage heaters and the hot water tank by a time switch, until they are full."""
    power = home.kwh.storage_heating * rng.uniform(1.0, 1.8)
    opens = (2 * (rng.normal(_TIME_SWITCH, 0.5) + setting.summer_time)).astype(np.int64)
    first = setting.row[:, 0] + opens
    degrees = cold[setting.row].mean(axis=1) * rng.lognormal(0, 0.15, setting.days)
    empty = away[np.minimum(first, setting.n - 1)]
    need = np.where(empty, 0.0, home.kwh.storage_heating * (degrees + 1))
    for offset in range(_CHARGE_HALF_HOURS):
        row = first + offset
        inside = row < setting.n
        demand[row[inside]] += np.clip(need - offset * power, 0, power)[inside]
