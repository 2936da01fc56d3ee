"""Robust numbers that several detectors need: scales, residuals, before and after."""

from dataclasses import dataclass

import numpy as np

from core.anomalies.symptoms import Symptoms

# Weeks needed on either side of a change, and how many dates are tried at most.
LEAST_WEEKS = 2
MOST_CHANGES = 30

# Other homes are looked for among this many, evenly spaced, where there are more.
MOST_HOMES = 600

# Columns that hardly vary are measured by this.
_LEAST_SPREAD = 1e-6


def standardize(values: np.ndarray) -> np.ndarray:
    """Return how many robust standard deviations values are above the median of their column.

    Median and scaled median absolute deviation are those over rows; NaN is ignored and stays.
    """
    empty = ~np.isfinite(values).any(axis=0)
    safe = np.where(empty, 0.0, values)
    center = np.nanmedian(safe, axis=0)
    spread = 1.4826 * np.nanmedian(np.abs(safe - center), axis=0)
    return (values - center) / np.maximum(spread, _LEAST_SPREAD)


def clipped(values: np.ndarray) -> np.ndarray:
    """Standardize within four deviations, so that one home cannot bend a regression."""
    return np.clip(standardize(values), -4, 4)


def ridge_residuals(x: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Return y, (n, k), minus its ridge prediction from x, (n, p), by the other rows."""
    z = x - x.mean(axis=0)
    inverse = np.linalg.inv(z.T @ z + penalty * len(z) * np.eye(z.shape[1]))
    residual = y - y.mean(axis=0)
    residual = residual - z @ (inverse @ (z.T @ residual))
    leverage = np.einsum("ip,pq,iq->i", z, inverse, z) + 1 / len(z)
    return residual / (1 - leverage)[:, None]


def some_homes(n: int) -> np.ndarray:
    """Return at most 600 rows, evenly spaced."""
    return np.arange(0, n, -(-n // MOST_HOMES))


@dataclass(frozen=True, eq=False)
class Splits:
    """Dates at which a record may be cut in two.

    Attributes
    ----------
    cuts : ndarray of int, shape (c,)
        The first week of the later part.
    before, after : ndarray of int, shape (n, c)
        Usable weeks on either side.
    """

    cuts: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @classmethod
    def of(cls, symptoms: Symptoms) -> "Splits":
        """Try every week, or evenly spaced ones where there are many."""
        weeks = symptoms.usable.shape[1]
        count = min(MOST_CHANGES, max(weeks - 1, 1))
        cuts = np.unique(np.linspace(1, max(weeks - 1, 1), count).round().astype(int))
        total = np.cumsum(symptoms.usable, axis=1)
        before = total[:, cuts - 1]
        return cls(cuts, before, total[:, -1:] - before)

    @property
    def valid(self) -> np.ndarray:
        """Where both sides have weeks enough, (n, c)."""
        return (self.before >= LEAST_WEEKS) & (self.after >= LEAST_WEEKS)

    def means(self, symptoms: Symptoms, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of weekly values before and after every cut, (n, c, …)."""
        more = (1,) * (values.ndim - 2)
        total = np.cumsum(_counted(symptoms, values), axis=1, dtype=np.float64)
        first = total[:, self.cuts - 1]
        before = first / np.maximum(self.before, 1).reshape(*self.before.shape, *more)
        after = (total[:, -1:] - first) / np.maximum(self.after, 1).reshape(
            *self.after.shape, *more
        )
        return before, after

    def masked(self, values: np.ndarray) -> np.ndarray:
        """Put NaN where a side has too few weeks."""
        valid = self.valid.reshape(*self.valid.shape, *(1,) * (values.ndim - 2))
        return np.where(valid, values, np.nan)


def record_mean(symptoms: Symptoms, values: np.ndarray) -> np.ndarray:
    """Return the mean of weekly values over each household's usable weeks, (n, …)."""
    total = _counted(symptoms, values).sum(axis=1, dtype=np.float64)
    return total / np.maximum(symptoms.n_weeks, 1).reshape(-1, *(1,) * (values.ndim - 2))


def _counted(symptoms: Symptoms, values: np.ndarray) -> np.ndarray:
    usable = symptoms.usable.reshape(*symptoms.usable.shape, *(1,) * (values.ndim - 2))
    return np.where(usable & np.isfinite(values), values, 0.0)


def present_mean(values: np.ndarray, axis: int) -> np.ndarray:
    """Return the mean of what is not NaN along an axis, NaN where there is nothing."""
    present = np.isfinite(values)
    count = present.sum(axis=axis)
    total = np.where(present, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def largest(values: np.ndarray) -> np.ndarray:
    """Return the largest value of each row, 0 where there is none."""
    flat = values.reshape(len(values), -1)
    highest = np.where(np.isfinite(flat), flat, -np.inf).max(axis=1)
    return np.where(np.isfinite(highest), highest, 0.0)
