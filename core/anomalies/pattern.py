"""The explanation of a change of level, or of a home that is unlike others in no simple way."""

import numpy as np

from core.anomalies.change_point import LEAST_SIDE, change_point, change_span
from core.anomalies.day_blocks import best_block, in_block
from core.anomalies.homes import EVERY, Finding, Homes
from core.anomalies.symptoms import RESOLUTION
from core.anomalies.words import clock_words, number_words, ratio_words

# Statistics that show a change.
CHANGES = ("fell", "rose", "scaled down", "new shape", "low level")

# A block of at most so many half-hours that holds this share of a difference is named.
MOST_BLOCK, BLOCK_SHARE = 20, 0.6

# A change is over when an end of it explains this much more of the days' variance.
CLEARER = 0.15

# Ratios to what is expected between these are about as much.
ABOUT = (0.8, 1.25)


def explain_pattern(homes: Homes, row: int, statistic: str) -> Finding:
    """Explain a change of level, or a home that is unlike others in no simple way."""
    daily = _shape_series(homes, row) if statistic == "new shape" else homes.level_series(row)
    onset, stop = _when(daily) if statistic in CHANGES else (None, None)
    expected = homes.expected(row, onset, EVERY, stop)
    profile = homes.mean_day(row, onset or 0, homes.n_days if stop is None else stop)
    ratio = max(profile.sum(), 0.0) / max(expected.sum(), RESOLUTION)
    gap = profile - expected
    size = float(7 * gap.sum())
    slots, where = EVERY, ""
    start, end = best_block(np.abs(gap))
    inside = in_block(start, end)
    if inside.sum() <= MOST_BLOCK and np.abs(gap[inside]).sum() > BLOCK_SHARE * np.abs(gap).sum():
        where, slots = f", mostly {clock_words(start, end)}", inside
    verb = "Uses" if stop is None else "Used"
    when = homes.since(onset, stop)
    if ABOUT[0] < ratio < ABOUT[1]:
        reason = f"{verb} about as much as similar homes, but in a different pattern{when}{where}"
        direction = "different"
    else:
        # Homes that were similar to one that was empty until then are empty homes.
        than = "before" if onset is not None and ratio > 1 else "similar homes"
        reason = (
            f"{verb} {ratio_words(ratio)} {than}{when}{where} "
            f"(about {number_words(abs(size))} kWh a week)"
        )
        direction = "higher" if ratio > 1 else "lower"
    return homes.finding(
        row,
        onset,
        expected,
        stop,
        reason=reason,
        direction=direction,
        slots=np.tile(slots, 7),
        kwh_per_week=size,
        daily=daily,
    )


def _shape_series(homes: Homes, row: int) -> np.ndarray:
    """Return how much each day looks like the days after the largest change of shape, (days,)."""
    days = np.sqrt(np.maximum(np.nan_to_num(homes.days[row]), 0.0))
    norm = np.linalg.norm(days, axis=1, keepdims=True)
    read = (norm[:, 0] > 0) & (np.isfinite(homes.days[row]).mean(axis=1) > 0.5)
    unit = np.where(read[:, None], days / np.maximum(norm, 1e-6), 0.0)
    total, count = np.cumsum(unit, axis=0), np.cumsum(read)
    sides = np.minimum(count, count[-1] - count)
    before = total / np.maximum(count, 1)[:, None]
    after = (total[-1] - total) / np.maximum(count[-1] - count, 1)[:, None]
    apart = ((after - before) ** 2).sum(axis=1) * count * (count[-1] - count)
    cut = int(np.where(sides >= 2 * LEAST_SIDE, apart, -1.0).argmax())
    return np.where(read, unit @ (after[cut] - before[cut]), np.nan)


def _when(daily: np.ndarray) -> tuple[int | None, int | None]:
    """Return the first day of a change, and the day when it was over, None if it lasts."""
    step, span = change_point(daily), change_span(daily)
    if span and step and span.explained > step.explained + CLEARER:
        return span.first, span.stop
    return (step.position, None) if step else (None, None)
