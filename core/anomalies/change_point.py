"""When a series changed, and whether it did: one change point and permuted weeks."""

from dataclasses import dataclass

import numpy as np

LEAST_SIDE = 7
_PERMUTATIONS = 199


@dataclass(frozen=True)
class ChangePoint:
    """A step in a series.

    Attributes
    ----------
    position : int
        The first value of the later part.
    before, after : float
        The means of the two parts.
    explained : float
        Share of the variance that the step explains.
    """

    position: int
    before: float
    after: float
    explained: float


def change_point(series: np.ndarray, least: int = LEAST_SIDE) -> ChangePoint | None:
    """Return the step that explains most of a series; NaN is skipped.

    None where the series has fewer than ``least`` values on either side, or does not vary.
    """
    present = np.flatnonzero(np.isfinite(series))
    y = series[present]
    if len(y) < 2 * least or np.ptp(y) == 0:
        return None
    count = np.arange(1, len(y))
    total = np.cumsum(y)
    first, second = total[:-1] / count, (total[-1] - total[:-1]) / (len(y) - count)
    between = count * (len(y) - count) / len(y) * (first - second) ** 2
    between[: least - 1] = between[len(y) - least :] = -1.0
    cut = int(between.argmax())
    return ChangePoint(
        position=int(present[cut + 1]),
        before=float(first[cut]),
        after=float(second[cut]),
        explained=float(between[cut] / ((y - y.mean()) ** 2).sum()),
    )


@dataclass(frozen=True)
class Span:
    """A stretch of a series that differs from the rest: from ``first`` to ``stop`` − 1."""

    first: int
    stop: int
    explained: float


def change_span(series: np.ndarray) -> Span | None:
    """Return the stretch that explains most of a series and ends before it; NaN is skipped.

    None where there are too few values for ``LEAST_SIDE`` of them before, in and after the stretch.
    """
    present = np.flatnonzero(np.isfinite(series))
    y = series[present]
    n = len(y)
    if n < 3 * LEAST_SIDE or np.ptp(y) == 0:
        return None
    total = np.concatenate([[0.0], np.cumsum(y - y.mean())])
    first, stop = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    length = stop - first
    allowed = (first >= LEAST_SIDE) & (length >= LEAST_SIDE) & (stop <= n - LEAST_SIDE)
    inside = total[None, :] - total[:, None]
    # Deviations sum to 0: those outside of the stretch are minus those inside.
    weight = 1 / np.maximum(length, 1) + 1 / np.maximum(n - length, 1)
    between = np.where(allowed, inside**2 * weight, -1.0)
    i, j = np.unravel_index(between.argmax(), between.shape)
    explained = float(between[i, j] / ((y - y.mean()) ** 2).sum())
    return Span(int(present[i]), int(present[j - 1]) + 1, explained)


def permuted_p(series: np.ndarray) -> np.ndarray:
    """Return the p of a change in each row of weekly values, (n, weeks), NaN skipped.

    The largest standardized difference of two parts is compared with its values when the weeks
    are permuted.
    """
    rng = np.random.default_rng(0)
    # Present weeks first, so that all permutations are of those alone.
    order = np.argsort(~np.isfinite(series), axis=1, kind="stable")
    y = np.take_along_axis(series, order, axis=1)
    present = np.isfinite(y)
    n = present.sum(axis=1)
    y = np.where(present, y, 0.0)
    y = np.where(present, y - (y.sum(axis=1) / np.maximum(n, 1))[:, None], 0.0)
    observed = _largest_step(y, n)
    above = np.ones(len(y))
    for _ in range(_PERMUTATIONS):
        key = np.where(present, rng.random(y.shape), 2.0)
        shuffled = np.take_along_axis(y, np.argsort(key, axis=1), axis=1)
        above += _largest_step(shuffled, n) >= observed - 1e-12
    return np.where(n >= 4, above / (_PERMUTATIONS + 1), 1.0)


def _largest_step(y: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Largest |sum of the first k| / sqrt(k (n − k) / n) of centred rows, (rows,)."""
    k = np.arange(1, y.shape[1])
    left = n[:, None] - k
    weight = k * np.maximum(left, 0) / np.maximum(n, 1)[:, None]
    total = np.abs(np.cumsum(y, axis=1)[:, :-1])
    return np.where(left > 0, total / np.sqrt(np.maximum(weight, 1e-9)), 0.0).max(
        axis=1, initial=0.0
    )
