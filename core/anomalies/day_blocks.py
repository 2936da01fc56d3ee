"""Blocks of half-hours of the day, which may run past midnight."""

import numpy as np

from core.anomalies.symptoms import HALF_HOURS


def best_block(gap: np.ndarray) -> tuple[int, int]:
    """Return where a gap between two days is above half of its height, around its highest place.

    Half-hours of the day; ``stop`` is after the last one and may lie beyond 48.
    """
    smooth = (np.roll(gap, 1) + gap + np.roll(gap, -1)) / 3
    # The height is that of a two-hour stretch, so that one half-hour does not decide.
    stretch = sum(np.roll(smooth, -step) for step in range(4)) / 4
    peak = int(stretch.argmax())
    level = stretch[peak] / 2
    start, stop = peak, peak + 4
    while stop - start < HALF_HOURS and gap[(start - 1) % HALF_HOURS] > level:
        start -= 1
    while stop - start < HALF_HOURS and gap[stop % HALF_HOURS] > level:
        stop += 1
    while stop - start > 1 and gap[start % HALF_HOURS] <= level:
        start += 1
    while stop - start > 1 and gap[(stop - 1) % HALF_HOURS] <= level:
        stop -= 1
    return start % HALF_HOURS, start % HALF_HOURS + stop - start


def with_shoulders(gap: np.ndarray, start: int, stop: int) -> tuple[int, int]:
    """Extend a block by up to half of its length on each side while the gap keeps its sign."""
    most = (stop - start) // 2
    sign = np.sign(gap[in_block(start, stop)].sum())
    first, last = start, stop
    while start - first < most and np.sign(gap[(first - 1) % HALF_HOURS]) == sign:
        first -= 1
    while last - stop < most and np.sign(gap[last % HALF_HOURS]) == sign:
        last += 1
    return first, min(last, first + HALF_HOURS)


def in_block(start: int, stop: int) -> np.ndarray:
    """Mark the half-hours of a block of the day that may run past midnight, (48,)."""
    inside = np.zeros(HALF_HOURS, bool)
    inside[np.arange(start, stop) % HALF_HOURS] = True
    return inside
