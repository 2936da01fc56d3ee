"""Mean demand: how much a unit uses, as opposed to how its demand is distributed.

Sums by household and slot do not depend on the bins, so one pass serves every map of a dataset.
They are kept as whole kWh and whole nano-kWh apart, which add up to the same in any order and do
not overflow.
"""

from dataclasses import dataclass
from functools import partial

import numba
import numpy as np

from core.parallel import iter_results, map_in_threads
from core.periods import WHOLE_RECORD, Period
from core.progress import Progress, silent
from core.readings import Dataset, DatasetError
from core.readings.shards import Shard, split
from core.slots import EPOCH_MINUTE, slots_per_week
from core.vectors.units import window_sum

_NANO = 1e9
# A million readings of this size still add up within 64 bits; no connection carries it.
_LARGEST_KWH = 1e12
_MICROSECONDS_PER_MINUTE = 60_000_000
_FROM_MONDAY = EPOCH_MINUTE * _MICROSECONDS_PER_MINUTE


@dataclass(frozen=True, eq=False)
class WeekDemand:
    """What every household of a dataset used in each slot of the week.

    Attributes
    ----------
    kwh : ndarray of float64, shape (households, slots)
        The sum of its readings.
    readings : ndarray of int64, shape (households, slots)
        How many there are.
    """

    kwh: np.ndarray
    readings: np.ndarray

    def mean_of_households(
        self, codes: np.ndarray, slots: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """Mean of each household's readings in the given slots, in kWh per interval, (n,)."""
        return _ratio(
            self.kwh[codes][:, slots].sum(axis=1), self.readings[codes][:, slots].sum(axis=1)
        )

    def mean_of_slots(self, codes: np.ndarray, slots: np.ndarray, window: int) -> np.ndarray:
        """Mean in one slot of each household given and those beside it, in kWh, (n,)."""
        week = np.arange(self.kwh.shape[1])
        pooled = window_sum(self.kwh, week, window, dtype=np.float64)
        readings = window_sum(self.readings, week, window, dtype=np.int64)
        return _ratio(pooled[codes, slots], readings[codes, slots])


def sum_demand(
    dataset: Dataset,
    *,
    period: Period = WHOLE_RECORD,
    threads: int | None = None,
    progress: Progress = silent,
) -> WeekDemand:
    """Add up each household's readings of a period in each slot of the week."""
    shape = (len(dataset.households), slots_per_week(dataset.interval_minutes))
    whole, nano, readings = (np.zeros(shape, np.int64) for _ in range(3))
    add = partial(_sum_shard, interval_minutes=dataset.interval_minutes)
    shards = split(dataset, np.arange(shape[0], dtype=np.int32), period=period)
    for rows, sums, counts in iter_results(
        map_in_threads(threads), add, shards, progress, "Adding up demand"
    ):
        whole[rows] += sums[0]
        nano[rows] += sums[1]
        readings[rows] += counts
    return WeekDemand(whole + nano / _NANO, readings)


def _ratio(kwh: np.ndarray, readings: np.ndarray) -> np.ndarray:
    """Return kWh a reading; NaN where there is none."""
    return np.divide(kwh, readings, out=np.full(len(kwh), np.nan), where=readings > 0)


def _sum_shard(shard: Shard, *, interval_minutes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Household codes of a shard, their sums in kWh and nano-kWh, their numbers of readings."""
    shape = (len(shard.households), slots_per_week(interval_minutes))
    sums, counts = np.zeros((2, *shape), np.int64), np.zeros(shape, np.int64)
    interval = interval_minutes * _MICROSECONDS_PER_MINUTE
    for batch in shard.batches():
        if len(batch.kwh) and not np.abs(batch.kwh).max() <= _LARGEST_KWH:
            raise DatasetError(
                f"{shard.path} holds readings that no meter gives; run wattfold ingest again"
            )
        _add(batch.rows, batch.times, batch.kwh, interval, sums, counts)
    return shard.households, sums, counts


@numba.njit(nogil=True, cache=True)
def _add(
    rows: np.ndarray,
    times: np.ndarray,
    kwh: np.ndarray,
    interval: int,
    sums: np.ndarray,
    counts: np.ndarray,
) -> None:
    for i in range(len(rows)):
        slot = (times[i] + _FROM_MONDAY) // interval % counts.shape[1]
        whole = np.floor(kwh[i])
        sums[0, rows[i], slot] += np.int64(whole)
        sums[1, rows[i], slot] += np.int64(np.rint((kwh[i] - whole) * _NANO))
        counts[rows[i], slot] += 1
