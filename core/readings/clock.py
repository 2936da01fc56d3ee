"""The days on which clocks change, and what loggers make of them.

In spring an hour of the wall clock does not exist; a logger that runs on may store it under the
hour before, which then stands there twice. In autumn an hour exists twice, and so do its readings.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from core.errors import InputError

HOUR = 3600
_DAY = 24 * HOUR
_MONDAY = 4 * _DAY  # 5 January 1970


@dataclass(frozen=True)
class ClockChanges:
    """When the clocks of a place change, in seconds of wall-clock time since 1970.

    ``skipped`` are the starts of hours that do not exist, ``repeated`` of hours that exist twice.
    With ``known`` False the place is not known, and the readings themselves must show it.
    """

    skipped: np.ndarray
    repeated: np.ndarray
    known: bool = True


UNKNOWN = ClockChanges(np.empty(0, np.int64), np.empty(0, np.int64), known=False)


def time_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(
            f"there is no time zone {name!r}; give an IANA name such as Europe/Dublin"
        ) from None


def clock_changes(timezone: str, first_year: int, last_year: int) -> ClockChanges:
    """Return the clock changes of a time zone from one year to another."""
    zone = time_zone(timezone)
    skipped: list[int] = []
    repeated: list[int] = []
    moment = datetime(first_year, 1, 1, tzinfo=UTC)
    offset = moment.astimezone(zone).utcoffset()
    while moment.year <= last_year:
        moment += timedelta(hours=1)
        new_offset = moment.astimezone(zone).utcoffset()
        if offset is not None and new_offset is not None and new_offset != offset:
            before = int((moment + offset).timestamp())
            after = int((moment + new_offset).timestamp())
            hours = range(min(before, after), max(before, after), HOUR)
            (skipped if after > before else repeated).extend(hours)
        offset = new_offset
    return ClockChanges(np.array(skipped, np.int64), np.array(repeated, np.int64))


def shown_by_readings(times: np.ndarray, interval: int) -> ClockChanges:
    """Find the changes that one household's times show without any doubt.

    That takes a night hour on a Sunday of spring or autumn in which every reading stands twice
    while its neighbours stand once (the repeated hour), or in which every reading stands twice
    and the next hour is absent (the skipped hour).

    Parameters
    ----------
    times : ndarray of int64
        Seconds since 1970, sorted.
    interval : int
        Seconds from one reading to the next.
    """
    doubled = np.unique(times[1:][times[1:] == times[:-1]])
    hours = np.unique(doubled // HOUR) * HOUR
    is_sunday = (hours - _MONDAY) // _DAY % 7 == 6
    month = hours.astype("datetime64[s]").astype("datetime64[M]").astype(int) % 12 + 1
    candidates = hours[is_sunday & np.isin(month, (3, 4, 9, 10, 11)) & (hours % _DAY < 4 * HOUR)]
    skipped, repeated = [], []
    per_hour = max(HOUR // interval, 1)
    for hour in candidates.tolist():
        counts = [
            [np.searchsorted(times, t, "right") - np.searchsorted(times, t, "left")
             for t in range(start, start + HOUR, interval)]
            for start in range(hour - HOUR, hour + 3 * HOUR, HOUR)
        ]  # fmt: skip
        once, twice, never = [1] * per_hour, [2] * per_hour, [0] * per_hour
        if counts == [once, twice, once, once]:
            repeated.append(hour)
        elif counts == [once, twice, never, once]:
            skipped.append(hour + HOUR)
    return ClockChanges(np.array(skipped, np.int64), np.array(repeated, np.int64))
