"""The reference partition: bins that hold equal shares of the reference readings.

With r reference readings in increasing order c_(1) ≤ … ≤ c_(r), the edges of T bins are
c_(⌈k·r/T⌉), k = 1 … T − 1. Bins are closed on the right and the last one is open. Edges that
coincide are merged, so there may be fewer bins than asked for.

Meters count whole watt-hours, so the order statistics usually come from one pass that counts the
readings of every multiple of 0.001 kWh. Readings of any other kind are narrowed down instead:
float64 numbers, as bit patterns with the sign folded in, are in the order of their values. A
first pass counts sign and exponent (12 bits), which tells the pattern's start for every wanted
rank; four more passes count the next 13 bits of those readings that share such a start, until
all 64 are known. That is exact, needs memory for T − 1 small histograms whatever the number of
distinct readings, and each pass is a sum over shards.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial, reduce

import numba
import numpy as np

from core.engine import Job
from core.errors import InputError
from core.progress import Progress, part
from core.readings import DatasetError
from core.readings.shards import Shard

# 2²¹ Wh, two megawatt-hours a reading: beyond it a table of every watt-hour is no longer small.
_WATT_HOURS = 1 << 21

_SIGN = np.uint64(1 << 63)

# Sign and exponent, then the 52 bits of the fraction.
_DIGITS = (12, 13, 13, 13, 13)


@dataclass(frozen=True, eq=False)
class Partition:
    """The bins of demand.

    Attributes
    ----------
    edges : ndarray of float64, shape (n_bins − 1,)
        Increasing, in kWh; a reading equal to an edge belongs to the bin below it.
    bins : int
        How many bins were asked for.
    n_readings : int
        How many reference readings the edges come from.
    whole_watt_hours : bool
        Whether every reading is a multiple of 0.001 kWh, so that a table gives its bin.
    """

    edges: np.ndarray
    bins: int
    n_readings: int
    whole_watt_hours: bool

    @property
    def n_bins(self) -> int:
        """The number of bins after merging edges that coincide."""
        return len(self.edges) + 1

    def bin_of(self, kwh: np.ndarray) -> np.ndarray:
        """Return the bin of each reading, (n,) uint16."""
        if not self.whole_watt_hours:
            return np.searchsorted(self.edges, kwh, side="left").astype(np.uint16)
        first, table = self._table
        return _look_up(kwh, first, table)

    @cached_property
    def _table(self) -> tuple[int, np.ndarray]:
        """The bin of every watt-hour from the first edge to one beyond the last."""
        first, last = (_watt_hours(edge) for edge in self.edges[[0, -1]])
        grid = np.arange(first, last + 2) / 1000
        return first, np.searchsorted(self.edges, grid, side="left").astype(np.uint16)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """How many readings there are of every watt-hour, and how many between them.

    Attributes
    ----------
    first : int
        The watt-hours that ``counts[0]`` counts.
    counts : ndarray of int64
    others : int
        Readings that are no multiple of 0.001 kWh, or too large to be counted one by one.
    """

    first: int
    counts: np.ndarray
    others: int

    @property
    def n_readings(self) -> int:
        """All readings, counted one way or the other."""
        return int(self.counts.sum()) + self.others


def reference_partition(
    shards: list[Shard], *, bins: int, job: Job, progress: Progress
) -> Partition:
    """Find the partition of all readings of the shards into ``bins`` equally likely bins."""
    message = "Finding the bins"
    share = 1 / (1 + len(_DIGITS))
    counts = job.reduce(
        value_counts,
        merge_value_counts,
        shards,
        progress=part(progress, 0, share),
        message=message,
    )
    if counts.others == 0:
        partition = partition_from_counts(counts, bins=bins)
    else:
        ranks = edge_ranks(counts.n_readings, bins)

        def digit_counts(step: int, known: np.ndarray) -> np.ndarray:
            count = partial(count_digits, step=step, known=known)
            reported = part(progress, (step + 1) * share, (step + 2) * share)
            return job.reduce(count, add_up, shards, progress=reported, message=message)

        edges = np.unique(order_statistics(ranks, digit_counts))
        partition = Partition(edges, bins, counts.n_readings, whole_watt_hours=False)
    progress(1.0, message)
    return partition


def partition_from_counts(counts: ValueCounts, *, bins: int) -> Partition:
    """Find the partition of readings that are all whole watt-hours."""
    if counts.n_readings == 0:
        raise InputError("the chosen households have no readings; choose others")
    edges = edges_from_counts(counts, bins=bins)
    return Partition(edges, bins, counts.n_readings, whole_watt_hours=True)


def edge_ranks(n_readings: int, bins: int) -> np.ndarray:
    """Return ⌈k·r/T⌉ for k = 1 … T − 1, in whole numbers: a float k/T is off by one for some k."""
    return np.array([-(-k * n_readings // bins) for k in range(1, bins)], dtype=np.int64)


def value_counts(shard: Shard) -> ValueCounts:
    """Count the readings of every watt-hour in a shard."""
    return merge_value_counts(_batch_counts(shard, kwh) for kwh in shard.kwh() if len(kwh))


def _batch_counts(shard: Shard, kwh: np.ndarray) -> ValueCounts:
    low, high = kwh.min(), kwh.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise DatasetError(
            f"{shard.path} holds readings that are no numbers; run wattfold ingest again"
        )
    if max(-low, high) > _WATT_HOURS / 1000:
        return ValueCounts(0, np.zeros(0, np.int64), len(kwh))
    first, last = _watt_hours(low), _watt_hours(high)
    counts = np.zeros(last - first + 1, dtype=np.int64)
    return ValueCounts(first, counts, _count_watt_hours(kwh, first, counts))


def merge_value_counts(parts: Iterable[ValueCounts]) -> ValueCounts:
    """Add counts up, in any order."""
    total = ValueCounts(0, np.zeros(0, np.int64), 0)
    for addend in parts:
        filled = [(c.first, c.counts) for c in (total, addend) if len(c.counts)]
        first = min((start for start, _ in filled), default=0)
        stop = max((start + len(counts) for start, counts in filled), default=0)
        merged = np.zeros(stop - first, dtype=np.int64)
        for start, counts in filled:
            merged[start - first : start - first + len(counts)] += counts
        total = ValueCounts(first, merged, total.others + addend.others)
    return total


def edges_from_counts(counts: ValueCounts, *, bins: int) -> np.ndarray:
    """Return the distinct edges, in kWh, of readings that are all whole watt-hours."""
    at_most = np.cumsum(counts.counts)
    places = np.searchsorted(at_most, edge_ranks(counts.n_readings, bins), side="left")
    return (counts.first + np.unique(places)) / 1000


def count_digits(shard: Shard, *, step: int, known: np.ndarray) -> np.ndarray:
    """Count the next digit of those readings whose bit patterns start in a known way.

    Parameters
    ----------
    shard : Shard
        The readings.
    step : int
        Which digit to count: after ``step`` of them are known.
    known : ndarray of uint64, sorted
        The starts of the patterns: their first ``step`` digits as one number.

    Returns
    -------
    ndarray of int64, shape (len(known), 2 ** bits of the digit)
    """
    shift = 64 - sum(_DIGITS[: step + 1])
    histogram = np.zeros((len(known), 1 << _DIGITS[step]), dtype=np.int64)
    for kwh in shard.kwh():
        _count_digit(kwh.view(np.uint64), known, shift, _DIGITS[step], histogram)
    return histogram


def add_up(histograms: Iterable[np.ndarray]) -> np.ndarray:
    """Add histograms of one shape up, in any order."""
    return reduce(np.add, histograms)


def order_statistics(
    ranks: np.ndarray, digit_counts: Callable[[int, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the readings of the given ranks (from 1), digit by digit.

    ``digit_counts(step, known)`` gives :func:`count_digits` summed over all shards.
    """
    starts = np.zeros(len(ranks), dtype=np.uint64)
    remaining = ranks.copy()
    for step, bits in enumerate(_DIGITS):
        known, row = np.unique(starts, return_inverse=True)
        at_most = np.cumsum(digit_counts(step, known), axis=1)
        digit = np.array(
            [np.searchsorted(at_most[r], rank) for r, rank in zip(row, remaining, strict=True)]
        )
        below = np.where(digit > 0, at_most[row, digit - 1], 0)
        remaining -= below
        starts = (starts << np.uint64(bits)) | digit.astype(np.uint64)
    return _from_ordered_bits(starts)


def _watt_hours(kwh: float) -> int:
    return int(np.rint(kwh * 1000.0))


def _from_ordered_bits(bits: np.ndarray) -> np.ndarray:
    """Undo the ordering of :func:`_count_digit`."""
    return np.where(bits & _SIGN, bits ^ _SIGN, ~bits).view(np.float64)


@numba.njit(nogil=True, cache=True)
def _count_watt_hours(kwh: np.ndarray, first: int, counts: np.ndarray) -> int:
    """Count whole watt-hours into ``counts`` and return how many readings are none."""
    others = 0
    for value in kwh:
        watt_hours = np.rint(value * 1000.0)
        # Dividing, unlike multiplying by 0.001, gives the very number the text "0.123" stands for.
        if watt_hours / 1000.0 == value:
            counts[np.int64(watt_hours) - first] += 1
        else:
            others += 1
    return others


@numba.njit(nogil=True, cache=True)
def _look_up(kwh: np.ndarray, first: int, table: np.ndarray) -> np.ndarray:
    found = np.empty(len(kwh), dtype=np.uint16)
    top = float(len(table) - 1)
    for i in range(len(kwh)):
        place = np.rint(kwh[i] * 1000.0) - first
        found[i] = table[np.int64(min(max(place, 0.0), top))]
    return found


@numba.njit(nogil=True, cache=True)
def _count_digit(
    patterns: np.ndarray, known: np.ndarray, shift: int, bits: int, histogram: np.ndarray
) -> None:
    """Count a digit of float64 numbers, given as their bit patterns, into ``histogram``."""
    mask = np.uint64((1 << bits) - 1)
    # Few readings have a known start. A table of the starts' last digit turns most others away
    # before the search.
    last_digit = np.uint64((1 << 13) - 1)
    likely = np.zeros(1 << 13, dtype=np.bool_)
    for start in known:
        likely[np.int64(start & last_digit)] = True
    for pattern in patterns:
        if pattern == _SIGN:  # −0.0 is 0.0
            ordered = _SIGN
        elif pattern & _SIGN:
            ordered = ~pattern
        else:
            ordered = pattern | _SIGN
        rest = ordered >> np.uint64(shift)
        start = rest >> np.uint64(bits)
        if likely[np.int64(start & last_digit)]:
            row = np.searchsorted(known, start)
            if row < len(known) and known[row] == start:
                histogram[row, np.int64(rest & mask)] += 1
