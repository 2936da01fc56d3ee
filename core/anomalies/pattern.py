"""The explanation of a change of level, or of a home that is unlike others in no simple way."""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.day_blocks import best_block, in_block
from core.anomalies.homes import EVERY, Finding, Homes
from core.anomalies.symptoms import RESOLUTION
from core.anomalies.words import clock_words, number_words, ratio_words

# Statistics that show a change.
CHANGES = ("fell", "rose", "scaled down", "new shape", "low level")

# A block of at most so many half-hours that holds this share of a difference is named.
MOST_BLOCK, BLOCK_SHARE = 20, 0.6

# Ratios to what is expected between these are about as much.
ABOUT = (0.8, 1.25)


def explain_pattern(homes: Homes, row: int, statistic: str) -> Finding:
    """Explain a change of level, or a home that is unlike others in no simple way."""
    daily = homes.level_series(row)
    step = change_point(daily)
    changed = statistic in CHANGES
    onset = step.position if changed and step else None
    expected = homes.expected(row, onset, EVERY)
    profile = homes.mean_day(row, onset or 0, homes.n_days)
    ratio = max(profile.sum(), 0.0) / max(expected.sum(), RESOLUTION)
    gap = profile - expected
    size = float(7 * gap.sum())
    slots, where = EVERY, ""
    start, stop = best_block(np.abs(gap))
    inside = in_block(start, stop)
    if inside.sum() <= MOST_BLOCK and np.abs(gap[inside]).sum() > BLOCK_SHARE * np.abs(gap).sum():
        where, slots = f", mostly {clock_words(start, stop)}", inside
    if ABOUT[0] < ratio < ABOUT[1]:
        reason = (
            "Uses about as much as similar homes, but in a different pattern"
            f"{homes.since(onset)}{where}"
        )
        direction = "different"
    else:
        reason = (
            f"Uses {ratio_words(ratio)} similar homes{homes.since(onset)}{where} "
            f"(about {number_words(abs(size))} kWh a week)"
        )
        direction = "higher" if ratio > 1 else "lower"
    return homes.finding(
        row,
        onset,
        expected,
        reason=reason,
        direction=direction,
        slots=np.tile(slots, 7),
        kwh_per_week=size,
        daily=daily,
    )
