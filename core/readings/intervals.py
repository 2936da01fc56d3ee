"""The time grid of the readings: how many minutes lie between one and the next."""

from collections import Counter
from math import gcd

from core.errors import InputError
from core.readings.options import IngestOptions
from core.readings.staging import Staging

MINUTES_PER_DAY = 1440

# With fewer readings, a single odd time can hide the grid of a household.
_JUDGED_FROM = 96

# A time of day belongs to a household's grid when it occurs this often, relative to the most
# frequent one; off-grid stamps are rarer than that, gaps do not make regular times so rare.
_REGULAR_SHARE = 0.25


def find_interval(staging: Staging, options: IngestOptions) -> tuple[int, frozenset[str]]:
    """Return the interval in minutes, and the households that have another one.

    Households with another interval are an error unless the user said which interval to take.
    """
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
        raise InputError(
            f"household {other} is read every {intervals[other]} minutes and {usual} every "
            f"{interval}; ingest them apart, or choose with --interval {interval}"
        )
    return interval, frozenset(others)


def _interval(minutes: Counter[int]) -> int:
    """Return the spacing of the times of day that occur regularly."""
    most = max(minutes.values())
    regular = sorted(m for m, count in minutes.items() if count >= _REGULAR_SHARE * most)
    return gcd(MINUTES_PER_DAY, *(minute - regular[0] for minute in regular))
