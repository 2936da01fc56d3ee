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
from core.readings.table_file import TableFile

# Below this a home is heated, in °C; the usual base of degree days is 15.5 to 18.
HEATING_BELOW = 16.0

# No thermometer outdoors has shown more, above or below 0 °C.
_HOTTEST = 100.0


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

    Times are local wall-clock times, as those of the readings, written as ``2013-01-31 18:00`` or
    ``2013-01-31``, at any interval up to a day. The columns are known by their names: one has
    ``time`` or ``date`` in it, the other ``temp``.
    """
    path = Path(path)
    try:
        if path.suffix == ".parquet":
            table = pd.read_parquet(path)
        else:
            with TableFile(path, path.name).open() as file:
                table = pd.read_csv(file)
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"the weather in {path} cannot be read ({error!s:.300})") from error
    time = _column(table, path, ("time", "date"), "times")
    celsius = _column(table, path, ("temp",), "temperatures")
    try:
        days = _wall_clock(table[time]).dt.floor("D")
        values = pd.to_numeric(table[celsius]).astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{path}: {time:.60} holds other things than times such as 2013-01-31 18:00, or "
            f"{celsius:.60} than numbers ({error!s:.300})"
        ) from error
    if values.abs().max() > _HOTTEST:
        raise InputError(
            f"{path}: {celsius:.60} holds {values[values.abs().idxmax()]:g}, which is no outdoor "
            "temperature in °C"
        )
    daily = values.groupby(days).mean().dropna()
    if not len(daily):
        raise InputError(f"{path} has no temperatures")
    every = pd.date_range(daily.index[0], daily.index[-1], freq="D")
    absent = every.difference(daily.index)
    if len(absent):
        raise InputError(
            f"{path} has no temperature on {absent.to_numpy()[0].astype('datetime64[D]')}"
            + (f" and {len(absent) - 1} other days" if len(absent) > 1 else "")
            + "; fill the gaps first"
        )
    return Weather(daily.index.to_numpy().astype("datetime64[D]"), daily.to_numpy(np.float64))


def _wall_clock(times: pd.Series) -> pd.Series:
    """Times as a clock on the wall shows them: in ISO 8601, which is read in one way only."""
    if not pd.api.types.is_datetime64_any_dtype(times):
        times = pd.to_datetime(times.astype("str"), format="ISO8601")
    return times.dt.tz_localize(None)


def _column(table: pd.DataFrame, path: Path, words: tuple[str, ...], what: str) -> str:
    found = [
        str(name) for name in table.columns if any(word in str(name).lower() for word in words)
    ]
    if len(found) != 1:
        raise InputError(
            f"{path} must have one column of {what}, with {' or '.join(words)} in its name; "
            f"it has {', '.join(str(name)[:60] for name in table.columns[:8])}"
        )
    return found[0]
