"""``hours``: what is always on at some hours of the day does not fit the other hours.

Every block of hours is predicted from the other hours by regression over the other households.
"""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.day_blocks import best_block, in_block, with_shoulders
from core.anomalies.detector import DETECTORS, QUARTER, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes, daily_mean
from core.anomalies.pattern import explain_pattern
from core.anomalies.statistics import (
    Splits,
    clipped,
    largest,
    record_mean,
    ridge_residuals,
    standardize,
)
from core.anomalies.symptoms import RESOLUTION, Symptoms
from core.anomalies.words import hours_words, number_words

LENGTHS = (2, 3, 4, 6, 8)
PENALTY = 0.02

# A block that uses nearly as much as expected is no reason.
LEAST_GAP = 0.15

# A step of the level that explains this share of the days, and is this large, comes first.
NEWS, NEWS_RATIO = 0.6, 1.5

# Hours beside a block that do not predict it: the shoulders of what happens in the block.
GUARD = 3


def blocks() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the hours of every block of the day, with the hours outside of it and its guard."""
    found = []
    for length in LENGTHS:
        for start in range(24):
            near = (start - GUARD + np.arange(length + 2 * GUARD)) % 24
            inside = (start + np.arange(length)) % 24
            found.append((inside, np.setdiff1d(np.arange(24), near)))
    return found


BLOCKS = blocks()

# Row b has the weights of the 24 hours in the mean of block b.
WEIGHTS = np.array([np.isin(np.arange(24), inside) / len(inside) for inside, _ in BLOCKS])


def measure(symptoms: Symptoms) -> np.ndarray:
    """Most unexpected low and high blocks, in the record and in a change within it."""
    z = standardize(block_residuals(record_mean(symptoms, symptoms.low)))
    splits = Splits.of(symptoms)
    before, after = splits.means(symptoms, symptoms.low)
    change = after - before
    # What befalls all hours is for ``changed`` to tell.
    change = splits.masked((change - np.median(change, axis=2, keepdims=True)) @ WEIGHTS.T)
    change = standardize(change)
    return np.stack([-z.min(axis=1), z.max(axis=1), largest(-change), largest(change)], axis=1)


def block_residuals(low: np.ndarray) -> np.ndarray:
    """Return each block's log base load minus what the other hours predict, (n, blocks)."""
    known = clipped(low)
    columns = [
        ridge_residuals(known[:, rest], low[:, inside].mean(axis=1, keepdims=True), PENALTY)
        for inside, rest in BLOCKS
    ]
    return np.concatenate(columns, axis=1)


def explain(homes: Homes, row: int, statistic: str) -> Finding:
    """Tell the hours, how much is used there and how much is expected, and since when."""
    sign = -1 if statistic in ("low hours", "hours fell") else 1
    onset = None
    # The hours concerned are not known at first: look for them, leave them out, look again.
    start, stop = _block(homes, row, sign, onset, EVERY)
    for _ in range(3):
        inside, outside = in_block(start, stop), ~in_block(start - 2, stop + 2)
        daily = _block_series(homes, row, inside, outside)
        similar = homes.expected(row, None, outside) + RESOLUTION
        usual = np.log(similar[inside].mean()) - np.log(similar[outside].mean())
        onset = homes.onset(daily, usual, sign)
        start, stop = _block(homes, row, sign, onset, outside)
    inside, outside = in_block(start, stop), ~in_block(start - 2, stop + 2)
    expected = homes.expected(row, onset, outside)
    profile = homes.mean_day(row, onset or 0, homes.n_days)
    used, usual = profile[inside].mean(), expected[inside].mean()
    gap = profile - expected
    if abs(used - usual) < LEAST_GAP * usual:
        # What is always on differs, but not what is used on the whole.
        return explain_pattern(homes, row, statistic)
    if onset is None and _level_stepped(homes, row, sign):
        return explain_pattern(homes, row, "fell" if sign < 0 else "rose")
    word = "more" if used > usual else "less"
    reason = (
        f"Uses {word} {hours_words(start, stop)}{homes.since(onset)} "
        f"({number_words(used)} against {number_words(usual)} kWh)"
    )
    return homes.finding(
        row,
        onset,
        expected,
        reason=reason,
        direction="higher" if used > usual else "lower",
        slots=np.tile(inside, 7),
        kwh_per_week=float(7 * gap[in_block(*with_shoulders(gap, start, stop))].sum()),
        daily=daily,
    )


def _level_stepped(homes: Homes, row: int, sign: int) -> bool:
    """Whether all hours changed so clearly in the same direction that this is the news."""
    step = change_point(homes.level_series(row))
    return bool(
        step and step.explained > NEWS and sign * (step.after - step.before) > np.log(NEWS_RATIO)
    )


def _block(
    homes: Homes, row: int, sign: int, onset: int | None, hours: np.ndarray
) -> tuple[int, int]:
    profile = homes.mean_day(row, onset or 0, homes.n_days)
    expected = homes.expected(row, onset, hours)
    # A deficit is relative, an excess absolute: at night there is little to lose.
    if sign < 0:
        gap = -np.log((profile + RESOLUTION) / (expected + RESOLUTION))
    else:
        gap = profile - expected
    return best_block(gap)


def _block_series(homes: Homes, row: int, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Return the daily log of use inside of a block over use outside of it."""
    days = homes.days[row]
    parts = (np.log(daily_mean(days[:, part]) + RESOLUTION) for part in (inside, outside))
    return next(parts) - next(parts)


DETECTORS.register(
    Detector(
        name="hours",
        help="uses less or more at some hours of the day than the other hours suggest",
        statistics=(
            Statistic("low hours", shape=1.3),
            Statistic("high hours", shape=1.2),
            Statistic("hours fell", weeks=QUARTER),
            Statistic("hours rose", shape=0.9, weeks=QUARTER),
        ),
        measure=measure,
        explain=explain,
    )
)
