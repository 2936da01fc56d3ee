"""Outdoor temperatures.

Heating makes most of the difference between a household's winter and summer. With temperatures
its demand can be compared at equal cold instead of at equal dates.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

from core.errors import InputError

# Below this a home is heated, in °C; the usual base of degree days is 15.5 to 18.
HEATING_BELOW = 16.0


@dataclass(frozen=True, eq=False)
class Weather:
    """Temperatures by day.

    Attributes
    ----------
    days : ndarray of datetime64[D]
        Increasing, without gaps.
    celsius : ndarray of float64, shape (days,)
        The mean of each day, in °C.
    """

    days: np.ndarray
    celsius: np.ndarray

    def on(self, days: np.ndarray) -> np.ndarray:
        """Return the mean temperature of some days (datetime64[D], or whole days since 1970)."""
        places = (np.asarray(days).astype("datetime64[D]") - self.days[0]).astype(np.int64)
        return self.celsius[places]

    def check(self, first: date, last: date) -> None:
        """Raise unless there are temperatures from one day to another."""
        if self.days[0] > np.datetime64(first) or self.days[-1] < np.datetime64(last):
            raise InputError(
                f"the temperatures run from {self.days[0]} to {self.days[-1]} and the readings "
                f"from {first} to {last}; give temperatures of all of these days"
            )


def read_weather(path: str | Path) -> Weather:
    """Read a table of times and temperatures, in °C, from CSV (plain or .gz) or Parquet.

    Times are local wall-clock times, as those of the readings, at any interval up to a day. The
    columns are known by their names: one has ``time`` or ``date`` in it, the other ``temp``.
    """
    path = Path(path)
    try:
        table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(f"the weather in {path} cannot be read ({error})") from error
    time = _column(table, path, ("time", "date"), "times")
    celsius = _column(table, path, ("temp",), "temperatures")
    try:
        days = pd.to_datetime(table[time]).dt.floor("D")
        values = pd.to_numeric(table[celsius])
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: {time} or {celsius} holds other things ({error})") from error
    daily = values.groupby(days).mean().dropna()
    if not len(daily):
        raise InputError(f"{path} has no temperatures")
    every = pd.date_range(daily.index[0], daily.index[-1], freq="D")
    absent = every.difference(daily.index)
    if len(absent):
        raise InputError(
            f"{path} has no temperature on {absent[0].date()}"
            + (f" and {len(absent) - 1} other days" if len(absent) > 1 else "")
            + "; fill the gaps first"
        )
    return Weather(daily.index.to_numpy().astype("datetime64[D]"), daily.to_numpy(np.float64))


def _column(table: pd.DataFrame, path: Path, words: tuple[str, ...], what: str) -> str:
    found = [
        str(name) for name in table.columns if any(word in str(name).lower() for word in words)
    ]
    if len(found) != 1:
        raise InputError(
            f"{path} must have one column of {what}, with {' or '.join(words)} in its name; "
            f"it has {', '.join(map(str, table.columns[:8]))}"
        )
    return found[0]
