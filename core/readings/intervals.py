"""The time grid of the readings: how many minutes lie between one and the next."""

from collections import Counter
from dataclasses import dataclass
from math import gcd

from core.errors import InputError
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError
from core.readings.staging import Staging

MINUTES_PER_DAY = 1440

# With fewer readings, a single odd time can hide the grid of a household.
_JUDGED_FROM = 96

# A time of day belongs to a household's grid when it occurs this often, relative to the most
# frequent one; off-grid stamps are rarer than that, gaps do not make regular times so rare.
_REGULAR_SHARE = 0.25


@dataclass(frozen=True)
class Grid:
    """The interval, the households that have another one, and how many readings each has."""

    interval_minutes: int
    others: frozenset[str]
    counts: dict[str, int]


def find_grid(staging: Staging, options: IngestOptions) -> Grid:
    """Find the interval.

    Households with another interval are an error unless the user said which interval to take.
    """
    if options.interval_minutes is not None:
        check_interval(options.interval_minutes)
    by_household: dict[str, Counter[int]] = {}
    rows = staging.query(
        """SELECT id, ((epoch(time)::BIGINT + 30) // 60 % 1440)::INTEGER AS minute, count(*)
        FROM staged WHERE reason IS NULL GROUP BY ALL"""
    )
    for household, minute, count in rows:
        by_household.setdefault(household, Counter())[minute] = count
    intervals = {
        household: _interval(minutes)
        for household, minutes in by_household.items()
        if minutes.total() >= _JUDGED_FROM
    }
    if options.interval_minutes:
        interval = options.interval_minutes
    elif intervals:
        interval = Counter(intervals.values()).most_common(1)[0][0]
    else:
        interval = _interval(sum(by_household.values(), Counter()))
    others = {name for name, minutes in intervals.items() if minutes != interval}
    if others and not options.interval_minutes:
        other = min(others)
        usual = min(name for name, minutes in intervals.items() if minutes == interval)
        raise UndecidedError(
            "interval_minutes",
            f"household {other} is read every {intervals[other]} minutes and {usual} every "
            f"{interval}; one dataset has one interval",
            [
                Choice(f"those read every {minutes} minutes", {"interval_minutes": minutes})
                for minutes in (interval, intervals[other])
            ],
        )
    counts = {name: minutes.total() for name, minutes in by_household.items()}
    return Grid(interval, frozenset(others), counts)


def check_interval(minutes: int) -> None:
    """Refuse an interval that does not divide a day."""
    if not 0 < minutes <= MINUTES_PER_DAY or MINUTES_PER_DAY % minutes:
        raise InputError(
            f"an interval of {minutes} minutes does not divide a day; give one such as 15, 30 or 60"
        )


def check_spacing(spacing_seconds: int, interval_minutes: int, source: str) -> None:
    """Refuse readings that come at a pace which no week of equal slots has."""
    if spacing_seconds < 60:
        raise InputError(
            f"{source}: readings come every {spacing_seconds} seconds; add them up to 1, 5, 15, "
            "30 or 60 minutes first"
        )
    minutes = spacing_seconds / 60
    if minutes != interval_minutes and MINUTES_PER_DAY % minutes:
        raise InputError(
            f"{source}: readings come every {minutes:g} minutes, which does not divide a day; add "
            "them up to 15, 30 or 60 minutes first"
        )


def _interval(minutes: Counter[int]) -> int:
    """Return the spacing of the times of day that occur regularly."""
    most = max(minutes.values())
    regular = sorted(m for m, count in minutes.items() if count >= _REGULAR_SHARE * most)
    return gcd(MINUTES_PER_DAY, *(minute - regular[0] for minute in regular))
