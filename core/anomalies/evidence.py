"""From statistics to evidence: tail probabilities against ordinary households.

A statistic becomes a tail value, −log of the share of ordinary households that reach it. Its
scale comes from the bulk (median and 90 % quantile), so that a few faults cannot move it, and
from households with about as many weeks, so that a short record is not unusual for being short.
"""

from collections.abc import Sequence

import numpy as np

from core.anomalies.detector import Statistic

# Households with about as many weeks are compared; a group has at least this many.
LEAST_GROUP = 60
MOST_GROUPS = 4


def tail_values(
    values: np.ndarray, n_weeks: np.ndarray, statistics: Sequence[Statistic]
) -> np.ndarray:
    """Return −log of the tail probability of every statistic, (n, k).

    A value at the median of its group gets log 2, one at the 90 % quantile log 10; beyond, it
    grows like the power ``shape`` of the distance from the median, less in a short record.
    """
    groups = week_groups(n_weeks)
    tails = np.empty(values.shape)
    shape = np.array([statistic.shape for statistic in statistics])
    least = np.array([statistic.least for statistic in statistics])
    enough = np.array([statistic.weeks for statistic in statistics])
    for group in range(groups.max() + 1):
        rows = groups == group
        median, high = np.quantile(values[rows], [0.5, 0.9], axis=0)
        away = (values[rows] - median) / np.maximum(high - median, least * np.log(5))
        tails[rows] = np.log(2) + np.log(5) * np.sign(away) * np.abs(away) ** shape
    part = np.minimum(1.0, n_weeks[:, None] / enough)
    return np.minimum(tails, np.log(10) + (tails - np.log(10)) * part)


def week_groups(n_weeks: np.ndarray) -> np.ndarray:
    """Group households by record length; equal lengths stay together, (n,)."""
    want = max(LEAST_GROUP, len(n_weeks) // MOST_GROUPS)
    lengths, counts = np.unique(n_weeks, return_counts=True)
    limits, size, left = [], 0, len(n_weeks)
    for length, count in zip(lengths, counts, strict=True):
        if size >= want and left >= want:
            limits.append(length)
            size = 0
        size, left = size + count, left - count
    return np.searchsorted(limits, n_weeks, side="right")


# Tails count from one in six on; those of several statistics add up, the loudest the most.
ORDINARY = np.log(6)
POWER = 1.75

# The quantiles between which a tail is fitted.
FITTED = (0.3, 0.8)


def loudness(tails: np.ndarray) -> np.ndarray:
    """Return one number per household: how far its tails are beyond the ordinary, (n,)."""
    return (np.maximum(tails - ORDINARY, 0.0) ** POWER).sum(axis=1) ** (1 / POWER)


def combined_p(tails: np.ndarray, n_weeks: np.ndarray) -> np.ndarray:
    """Return one p per household: how many ordinary ones are this loud, (n,).

    The tail is fitted to the quieter households: faults, which are few, are beyond it.
    """
    loud = loudness(tails)
    groups = week_groups(n_weeks)
    p = np.empty(len(tails))
    for group in range(groups.max() + 1):
        p[groups == group] = exponential_tail(loud[groups == group])
    return p


def exponential_tail(values: np.ndarray) -> np.ndarray:
    """Return the share of ordinary values that reach each one, (n,).

    Low values are counted, the others have an exponential tail fitted between the 30 % and the
    80 % quantile.
    """
    low, high = FITTED
    start, stop = np.quantile(values, FITTED)
    scale = max((stop - start) / np.log((1 - low) / (1 - high)), 1e-6)
    at_least = 1 - np.searchsorted(np.sort(values), values, side="left") / len(values)
    p = np.where(values > start, (1 - low) * np.exp((start - values) / scale), at_least)
    return np.clip(p, np.finfo(float).tiny, 1.0)


def false_discovery_rate(p: np.ndarray) -> np.ndarray:
    """Return Benjamini and Hochberg's q of every p, (n,)."""
    order = np.argsort(p, kind="stable")
    q = p[order] * len(p) / np.arange(1, len(p) + 1)
    out = np.empty(len(p))
    out[order] = np.minimum(1.0, np.minimum.accumulate(q[::-1])[::-1])
    return out
