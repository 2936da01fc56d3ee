"""Times, dates and sizes in the words of the reasons."""

import numpy as np

from core.slots import DAYS

DAY_NAMES = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def date_words(date: np.datetime64, *, year: bool = False) -> str:
    """Return ``3 May``, or ``3 May 2010``."""
    day = date.astype("datetime64[D]").astype(object)
    text = f"{day.day} {_MONTHS[day.month - 1]}"
    return f"{text} {day.year}" if year else text


def clock_words(start: int, stop: int) -> str:
    """Return ``17:00–22:00`` for half-hours of the day; the end of the day is 24:00."""
    return f"{_clock(start % 48)}–{_clock((stop - 1) % 48 + 1)}"


def _clock(half_hour: int) -> str:
    return f"{half_hour // 2:02d}:{half_hour % 2 * 30:02d}"


def number_words(kwh: float) -> str:
    """Return kWh with as many digits as matter: 0.04, 0.9, 31."""
    if abs(kwh) >= 10:
        return f"{kwh:.0f}"
    return f"{kwh:.1f}" if abs(kwh) >= 0.3 else f"{kwh:.2f}"


def q_words(q: float) -> str:
    """Return a false discovery rate, never 0: ``0.012``, ``<0.001``; browsers sort it rightly."""
    return "<0.001" if q < 0.001 else f"{q:.3f}"


def ratio_words(ratio: float) -> str:
    """Return how much is used against what is expected: ``62 % less``, ``3.1 times as much``."""
    if ratio >= 2:
        return f"{ratio:.1f} times as much as" if ratio < 9.95 else f"{ratio:.0f} times as much as"
    return f"{abs(ratio - 1):.0%} {'more' if ratio > 1 else 'less'} than".replace("%", " %")


def hours_words(start: int, stop: int) -> str:
    """Return ``every night 00:00–04:00`` or ``every day 10:00–16:00``."""
    length = (stop - start - 1) % 48 + 1
    slots = [(start + step) % 48 for step in range(length)]
    at_night = length < 48 and (0 in slots[1:] or all(slot in _NIGHT for slot in slots))
    return f"every {'night' if at_night else 'day'} {clock_words(start, stop)}"


_NIGHT = frozenset([*range(42, 48), *range(14)])


def slots_text(slots: np.ndarray) -> str:
    """Write half-hours of the week, bool (336,), as ``--slots`` reads them."""
    if slots.all():
        return "all"
    days = slots.reshape(7, 48)
    parts: list[str] = []
    done = np.zeros(7, dtype=bool)
    for day in range(7):
        if done[day] or not days[day].any():
            continue
        same = (days == days[day]).all(axis=1)
        done |= same
        names = _day_names(np.flatnonzero(same))
        edges = np.flatnonzero(np.diff(np.concatenate([[0], days[day].astype(int), [0]])))
        for name in names:
            for start, stop in edges.reshape(-1, 2):
                whole = stop - start == 48
                parts.append(name if whole else f"{name}{_clock(start)}-{_clock(stop)}")
    return ",".join(parts)


def _day_names(days: np.ndarray) -> list[str]:
    if len(days) == 7:
        return ["all"]
    if days.tolist() == list(range(5)):
        return ["weekdays"]
    if days.tolist() == [5, 6]:
        return ["weekend"]
    return [DAYS[day] for day in days]
