"""What all demo households share: the clock, days off, daylight and weather of Dublin."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.slots import slot_of, slots_per_week

TIMEZONE = "Europe/Dublin"
START = "2009-07-13"  # a Monday, as the Irish trial began
INTERVAL_MINUTES = 30
HALF_HOURS = 48  # in a day without a clock change
SLOTS = slots_per_week(INTERVAL_MINUTES)

_LATITUDE, _LONGITUDE = 53.35, -6.26
_MEAN_CELSIUS, _SEASON_CELSIUS, _DAY_CELSIUS = 9.8, 5.4, 2.2
_COLDEST_DAY = 28  # of the year
_WARMEST_HOUR = 15


@dataclass(frozen=True)
class Setting:
    """The half-hours of the span, in order of wall-clock time, and what they are like.

    ``n`` half-hours over ``days`` days. The spring day has 46 half-hours and the autumn day 50,
    with 01:00 and 01:30 twice.
    """

    time: np.ndarray
    """(n,) datetime64[us], local, the start of each half-hour."""
    day: np.ndarray
    """(n,) int, days since the start."""
    half_hour: np.ndarray
    """(n,) int, 0 … 47, by the clock on the wall."""
    slot: np.ndarray
    """(n,) int32, the half-hour of the week; 0 is Monday 00:00."""
    darkness: np.ndarray
    """(n,) from 0 in daylight to 1 at night."""
    celsius: np.ndarray
    """(n,) outdoor temperature."""
    date: np.ndarray
    """(days,) datetime64[D]."""
    weekday: np.ndarray
    """(days,) int, 0 is Monday."""
    month: np.ndarray
    """(days,) int, 1 … 12."""
    public_holiday: np.ndarray
    """(days,) bool; the movable feasts are left out."""
    summer_time: np.ndarray
    """(days,) bool, the clock is an hour ahead at noon."""
    row: np.ndarray
    """(days, 48) int, where a half-hour of a day is found; the skipped hour gives the next one."""

    @property
    def n(self) -> int:
        """Half-hours of the whole span."""
        return len(self.time)

    @property
    def days(self) -> int:
        """Days of the span."""
        return len(self.date)


def make_setting(days: int, rng: np.random.Generator) -> Setting:
    """Lay out ``days`` days from the start, with weather of their own."""
    aware = pd.date_range(
        START,
        pd.Timestamp(START) + pd.Timedelta(days=days),
        freq=f"{INTERVAL_MINUTES}min",
        tz=TIMEZONE,
        inclusive="left",
    )
    local = aware.tz_localize(None).to_numpy().astype("datetime64[us]")
    # The repeated autumn hour makes the wall clock step back; datasets are in order of it.
    order = np.argsort(local, kind="stable")
    time = local[order]
    utc = aware.tz_convert(None).to_numpy().astype("datetime64[us]")[order]

    date = np.datetime64(START, "D") + np.arange(days)
    day = (time.astype("datetime64[D]") - date[0]).astype(np.int64)
    half_hour = ((time - time.astype("datetime64[D]")) // np.timedelta64(30, "m")).astype(np.int64)
    weekday = np.arange(days) % 7
    row = np.searchsorted(day * HALF_HOURS + half_hour, np.arange(days * HALF_HOURS))
    row = np.minimum(row, len(time) - 1).reshape(days, HALF_HOURS)
    noon = row[:, HALF_HOURS // 2]
    return Setting(
        time=time,
        day=day,
        half_hour=half_hour,
        slot=slot_of(time, INTERVAL_MINUTES).astype(np.int32),
        darkness=_darkness(utc),
        celsius=_celsius(time, day, days, rng),
        date=date,
        weekday=weekday,
        month=date.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        public_holiday=_is_public_holiday(date, weekday),
        summer_time=(time - utc)[noon] > np.timedelta64(0, "us"),
        row=row,
    )


def _day_of_year(time: np.ndarray) -> np.ndarray:
    """Days since New Year, with the time of day as a fraction."""
    since = time - time.astype("datetime64[Y]").astype(time.dtype)
    return np.asarray(since / np.timedelta64(1, "D"))


def _darkness(utc: np.ndarray) -> np.ndarray:
    """How dark it is, from the height of the sun: lights go on gradually around dusk."""
    year = _day_of_year(utc)
    declination = np.radians(23.44) * np.sin(2 * np.pi * (year - 81) / 365.25)
    hour_angle = 2 * np.pi * (year % 1 + _LONGITUDE / 360 - 0.5)
    latitude = np.radians(_LATITUDE)
    height = np.arcsin(
        np.sin(latitude) * np.sin(declination)
        + np.cos(latitude) * np.cos(declination) * np.cos(hour_angle)
    )
    return np.clip(0.5 - np.degrees(height) / 12, 0, 1)


def _celsius(time: np.ndarray, day: np.ndarray, days: int, rng: np.random.Generator) -> np.ndarray:
    """Season, time of day, and spells of weather that last about a week."""
    year = _day_of_year(time)
    spell = np.empty(days + 1)
    spell[0] = rng.normal(0, 2.5)
    for today, shock in enumerate(rng.normal(0, 1.3, days)):
        spell[today + 1] = 0.85 * spell[today] + shock
    return (
        _MEAN_CELSIUS
        - _SEASON_CELSIUS * np.cos(2 * np.pi * (year - _COLDEST_DAY) / 365.25)
        + _DAY_CELSIUS * np.cos(2 * np.pi * (year % 1 - _WARMEST_HOUR / 24))
        + np.interp(day + year % 1, np.arange(days + 1), spell)
    )


def _is_public_holiday(date: np.ndarray, weekday: np.ndarray) -> np.ndarray:
    month = date.astype("datetime64[M]").astype(np.int64) % 12 + 1
    day = (date - date.astype("datetime64[M]")).astype(np.int64) + 1
    fixed = np.isin(month * 100 + day, (101, 317, 1225, 1226))
    first_monday = (weekday == 0) & (day <= 7) & np.isin(month, (5, 6, 8))
    last_monday = (weekday == 0) & (day > 24) & (month == 10)
    return np.asarray(fixed | first_monday | last_monday)
