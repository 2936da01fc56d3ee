"""The demand behind a point: its distribution, and its quantiles over the week."""

from dataclasses import dataclass

import numpy as np

from core.density.kde.binned import REACH, binned_density
from core.errors import InputError
from core.slots import slot_of, slots_per_week

# Shares of the readings, in percent, that the regions of a quantile plot hold.
REGIONS = (50, 75, 95, 99)


@dataclass(frozen=True, eq=False)
class WeekQuantiles:
    """Quantiles of demand in every slot of the week.

    Attributes
    ----------
    interval_minutes : int
        Minutes a slot.
    median : ndarray of shape (slots,)
        In kWh; NaN where a slot has no readings, as in the others.
    low, high : ndarrays of shape (regions, slots)
        The borders of the regions of `REGIONS`.
    """

    interval_minutes: int
    median: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def days(self) -> np.ndarray:
        """Where each slot starts, in days from Monday 00:00."""
        return np.arange(len(self.median)) * self.interval_minutes / (24 * 60)


def week_quantiles(times: np.ndarray, kwh: np.ndarray, interval_minutes: int) -> WeekQuantiles:
    """Find the regions that hold 50, 75, 95 and 99 % of the readings of each slot of the week.

    Parameters
    ----------
    times : ndarray of datetime64
        Local times at which the intervals start.
    kwh : ndarray
        Demand of each.
    interval_minutes : int
        Minutes an interval.
    """
    kwh = _check_readings(kwh)
    slots = slot_of(times, interval_minutes)
    if len(slots) != len(kwh):
        raise InputError(f"there are {len(slots)} times for {len(kwh)} readings")
    tails = (1 - np.array(REGIONS) / 100) / 2
    levels = np.concatenate([[0.5], tails, 1 - tails])
    quantiles = _quantiles_by_slot(kwh, slots, slots_per_week(interval_minutes), levels)
    return WeekQuantiles(
        interval_minutes=interval_minutes,
        median=quantiles[0],
        low=quantiles[1 : 1 + len(tails)],
        high=quantiles[1 + len(tails) :],
    )


def _quantiles_by_slot(
    kwh: np.ndarray, slots: np.ndarray, n_slots: int, levels: np.ndarray
) -> np.ndarray:
    """Quantiles of each slot's readings, linear between them as NumPy's, NaN where it has none.

    One sort for all slots: a call of ``np.quantile`` for each of them would take ten times as
    long, and a page waits for it.
    """
    ordered = kwh[np.lexsort((kwh, slots))]
    counts = np.bincount(slots, minlength=n_slots)
    present = np.flatnonzero(counts)
    first = (np.cumsum(counts) - counts)[present]
    place = levels[:, None] * (counts[present] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, counts[present] - 1)
    low, high = ordered[first + below], ordered[first + above]
    quantiles = np.full((len(levels), n_slots), np.nan)
    quantiles[:, present] = low + (place - below) * (high - low)
    return quantiles


def demand_curve(kwh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Density of demand, for drawing: values in kWh and the density at each, per kWh.

    Where no reading is negative the curve starts at zero: readings are reflected there, so that
    none of their weight leaks to demand that cannot be.
    """
    kwh = _check_readings(kwh)
    scale = _spread(kwh)
    # Silverman's rule, which R draws densities by: readings come in steps of a watt-hour, and a
    # plug-in bandwidth would draw the steps.
    bandwidth = 0.9 * len(kwh) ** -0.2
    reflect = bool(kwh.min() >= 0)
    mirrored = -kwh[kwh < REACH * bandwidth * scale] if reflect else kwh[:0]
    points = np.concatenate([kwh, mirrored])
    binned = binned_density(points[:, None] / scale, bandwidth)
    values = scale * (binned.grid.origin[0] + binned.grid.step * np.arange(binned.grid.shape[0]))
    density = binned.on_grid * len(points) / (len(kwh) * scale)
    if reflect:
        # The grid has no cell at zero, where the mirrored curve is level.
        kept = values > 0
        values = np.concatenate([[0.0], values[kept]])
        density = np.concatenate([density[kept][:1], density[kept]])
    return values, density


def _spread(kwh: np.ndarray) -> float:
    """The smaller of the standard deviation and what the middle half tells of it."""
    low, high = np.quantile(kwh, [0.25, 0.75])
    spreads = [float(kwh.std()), float(high - low) / 1.34]
    # One value over and over has no spread; a watt-hour is how finely meters tell demand.
    return min((spread for spread in spreads if spread > 0), default=0.001)


def _check_readings(kwh: np.ndarray) -> np.ndarray:
    kwh = np.asarray(kwh, np.float64)
    if not len(kwh):
        raise InputError("there are no readings to look at; choose a unit that has some")
    return kwh
