"""Moments of a record: the half-hours at which something was so, such as a high price."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from core.errors import InputError


@dataclass(frozen=True, eq=False)
class Moments:
    """When something was so, and when it is known that it was not.

    Attributes
    ----------
    name : str
        What was so, such as ``High``.
    times : ndarray of datetime64[m], increasing
        Local times at which the intervals start.
    others : ndarray of datetime64[m], increasing
        Intervals at which something else was so.
    """

    name: str
    times: np.ndarray
    others: np.ndarray


def read_moments(text: str) -> Moments:
    """Read ``FILE=VALUE``: the rows of a table of times whose other column says VALUE.

    The table has a column of times, one row per interval of the readings, and one of values.
    """
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        raise InputError(
            f"cannot read {text!r} as FILE=VALUE; name a table of times and the value that counts, "
            "such as prices.csv=High"
        )
    path = Path(name)
    try:
        table = pd.read_csv(path, dtype="str")
    except (OSError, ValueError, pd.errors.ParserError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read as a table of times ({reason})") from error
    if table.shape[1] != 2:
        raise InputError(
            f"{path} has {table.shape[1]} columns; give a table of two, the time and what was so"
        )
    times = pd.to_datetime(table.iloc[:, 0], errors="coerce", format="ISO8601")
    if times.isna().any():
        row = int(np.flatnonzero(times.isna())[0])
        raise InputError(
            f"{path}, row {row + 2}: {table.iat[row, 0]!r} is no time; write 2013-01-31 17:30"
        )
    column = table.iloc[:, 1].str.strip()
    chosen = (column == value).to_numpy()
    if not chosen.any():
        known = ", ".join(repr(each) for each in column.dropna().unique()[:10])
        raise InputError(f"{path} has no row with {value!r}; it has {known}")
    minutes = times.to_numpy().astype("datetime64[m]")
    return Moments(
        value,
        np.unique(minutes[chosen]),
        np.unique(minutes[~chosen & column.notna().to_numpy()]),
    )
