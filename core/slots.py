"""The slots of the week: their numbers, their names, and choices of them.

A week has 7·24·60 / interval slots. Slot 0 starts on Monday at 00:00.
"""

import re
from collections.abc import Sequence

import numpy as np

from core.errors import InputError

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MINUTES_PER_DAY = 24 * 60
MINUTES_PER_WEEK = 7 * MINUTES_PER_DAY

# 1970-01-01, where time stamps count from, was a Thursday.
EPOCH_MINUTE = 3 * MINUTES_PER_DAY

# The paper's evening: recreation from 17:00 to midnight.
_EVENING = (17 * 60, MINUTES_PER_DAY)

_DAY = {name.lower(): day for day, name in enumerate(DAYS)}
_DAY_SETS = {
    "all": range(7),
    "weekdays": range(5),
    "weekend": range(5, 7),
    **{name: range(day, day + 1) for name, day in _DAY.items()},
}

_PART = re.compile(
    r"(?:(?P<days>[a-z]+)(?:-(?P<last_day>[a-z]+))?)?"
    r"(?:(?P<start>\d{1,2}(?::\d{2})?)-(?P<stop>\d{1,2}(?::\d{2})?))?"
)


def slots_per_week(interval_minutes: int) -> int:
    """Return the number of slots: 336 for half-hours."""
    if interval_minutes < 1 or MINUTES_PER_DAY % interval_minutes:
        raise InputError(
            f"an interval of {interval_minutes} minutes does not divide the day; "
            "use one such as 15, 30 or 60"
        )
    return MINUTES_PER_WEEK // interval_minutes


def slot_of(times: np.ndarray, interval_minutes: int) -> np.ndarray:
    """Return the slot of each local time (datetime64)."""
    minutes = np.asarray(times).astype("datetime64[m]").astype(np.int64) + EPOCH_MINUTE
    return minutes // interval_minutes % slots_per_week(interval_minutes)


def slot_label(slot: int, interval_minutes: int) -> str:
    """Return a slot's name, such as ``Mon 18:00–18:30``; the day's last slot ends at 24:00."""
    if not 0 <= slot < slots_per_week(interval_minutes):
        raise InputError(
            f"slot {slot} is not in the week of {slots_per_week(interval_minutes)} slots"
        )
    day, start = divmod(int(slot) * interval_minutes, MINUTES_PER_DAY)
    return f"{DAYS[day]} {_clock(start)}–{_clock(start + interval_minutes)}"


def slot_labels(slots: Sequence[int] | np.ndarray, interval_minutes: int) -> list[str]:
    """Return the names of several slots."""
    return [slot_label(int(slot), interval_minutes) for slot in slots]


def parse_slots(text: str, interval_minutes: int) -> np.ndarray:
    """Read a choice of slots, such as ``weekdays`` or ``Mon18:00-20:00,Tue``.

    Parameters
    ----------
    text : str
        Parts joined by commas. A part is days, a time or both: ``weekdays``, ``weekend``,
        ``all``, ``Mon``, ``Mon-Thu``; ``evenings`` (17:00 to midnight, every day);
        ``weekdays 7:00-9:00``, ``Mon18:00-20:00``, or a slot's own name. A time that ends before
        it starts goes on into the next day.
    interval_minutes : int
        Minutes a slot; times must be at slots' borders.

    Returns
    -------
    ndarray of int64
        Slots, each once, in the order of the week.
    """
    week = slots_per_week(interval_minutes)
    chosen = np.zeros(week, dtype=bool)
    for part in text.split(","):
        days, start, stop = _parse_part(part, interval_minutes)
        offsets = np.arange(start, stop, interval_minutes)
        for day in days:
            chosen[(day * MINUTES_PER_DAY + offsets) // interval_minutes % week] = True
    return np.flatnonzero(chosen)


def check_slots(slots: Sequence[int] | np.ndarray | None, interval_minutes: int) -> np.ndarray:
    """Return the chosen slots, sorted and each once; all of them for None."""
    week = slots_per_week(interval_minutes)
    if slots is None:
        return np.arange(week)
    chosen = np.unique(np.asarray(slots))
    if not len(chosen):
        raise InputError("no slot is chosen; choose at least one, such as weekdays")
    if chosen.dtype.kind not in "iu" or chosen[0] < 0 or chosen[-1] >= week:
        raise InputError(f"slots must be whole numbers from 0 to {week - 1}, got {slots!r}")
    return chosen.astype(np.int64)


def _parse_part(part: str, interval_minutes: int) -> tuple[list[int], int, int]:
    """Return the days and the minutes of the day at which one part starts and stops."""
    compact = re.sub(r"\s", "", part).replace("–", "-").lower()
    if compact in ("evenings", "evening"):
        start, stop = _EVENING
        # A slot that straddles 17:00 is no evening slot.
        return list(range(7)), -(-start // interval_minutes) * interval_minutes, stop
    match = _PART.fullmatch(compact)
    if match is None or not compact:
        raise InputError(
            f"cannot read {part!r} as a choice of slots; write days, times or both, such as "
            "weekdays, evenings, Mon-Thu or Mon18:00-20:00, joined by commas"
        )
    days = _parse_days(part, match["days"] or "all", match["last_day"])
    if match["start"] is None:
        return days, 0, MINUTES_PER_DAY
    start, stop = (_parse_clock(part, match[name], interval_minutes) for name in ("start", "stop"))
    if start in (MINUTES_PER_DAY, stop):
        raise InputError(f"the time in {part!r} holds no slot; give a start before its end")
    return days, start, stop if stop > start else stop + MINUTES_PER_DAY


def _parse_days(part: str, first: str, last: str | None) -> list[int]:
    try:
        if last is None:
            return list(_DAY_SETS[first])
        days = (_DAY[last] - _DAY[first]) % 7 + 1
        return [(_DAY[first] + step) % 7 for step in range(days)]
    except KeyError:
        raise InputError(
            f"cannot read the days of {part!r}; write {', '.join(DAYS)}, a range such as "
            "Mon-Thu, or one of all, weekdays, weekend, evenings"
        ) from None


def _parse_clock(part: str, text: str, interval_minutes: int) -> int:
    hours, _, minutes = text.partition(":")
    minute = 60 * int(hours) + int(minutes or 0)
    if int(minutes or 0) > 59 or minute > MINUTES_PER_DAY:
        raise InputError(f"{text} in {part!r} is no time of day; use 00:00 to 24:00")
    if minute % interval_minutes:
        below = minute - minute % interval_minutes
        raise InputError(
            f"{text} in {part!r} falls inside a slot of {interval_minutes} minutes; "
            f"use {_clock(below)} or {_clock(below + interval_minutes)}"
        )
    return minute


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
