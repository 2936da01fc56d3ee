"""From the readings to the bin of each, in one pass over them where that is possible.

The bins depend on all readings, so a reading's bin is known only after a pass. Where every reading
is a whole number of watt-hours and there is memory for two bytes each, they are kept from that
pass. Otherwise, and where the workers of a cluster do it, there is a second one.
"""

from contextlib import closing
from functools import partial

import numba
import numpy as np

from core.cube.day_table import DayTable, in_order, make_day_table, merge_day_tables
from core.cube.partition import (
    Partition,
    ValueCounts,
    merge_value_counts,
    partition_from_counts,
    reference_partition,
)
from core.engine import Engine, Job
from core.errors import InputError
from core.parallel import iter_results, map_in_threads, run_tasks
from core.progress import Progress, part
from core.readings.shards import Shard

# Watt-hours of more readings than this are not kept: half a gigabyte.
KEPT_READINGS = 1 << 28

# Of a reading; the next number, the largest of its type, stands for no reading.
_MOST_WATT_HOURS = np.iinfo(np.uint16).max - 1

_MESSAGE = "Counting readings"


def bin_readings(
    shards: list[Shard],
    *,
    households: np.ndarray,
    bins: int,
    interval_minutes: int,
    name: str,
    engine: Engine,
    threads: int | None,
    progress: Progress,
) -> tuple[Partition, DayTable]:
    """Find the partition of all readings of the shards, and the bin of each of them.

    Parameters
    ----------
    shards : list of Shard
    households : ndarray of int32
        The codes of all households, increasing.
    bins : int
        T, the number of equally likely bins.
    interval_minutes : int
        Minutes a reading.
    name : str
        Stands for everything that the result depends on.
    engine : Engine
        Who works.
    threads : int, optional
        For what is done in this process.
    progress : Progress
    """
    done = 0.0
    if engine.in_process and sum(shard.n_rows for shard in shards) <= KEPT_READINGS:
        read = partial(watt_hours_of, interval_minutes=interval_minutes)
        tables: list[DayTable] = []
        counts: list[ValueCounts] = []
        results = iter_results(map_in_threads(threads), read, shards, progress, _MESSAGE)
        with closing(results):
            for table, counted in results:
                if counted.others:
                    break
                tables.append(table)
                counts.append(counted)
            else:
                partition = partition_from_counts(merge_value_counts(counts), bins=bins)
                return partition, _merge_bins(tables, partition, households, threads)
        done = len(tables) / len(shards)
    with engine.job(name) as job:
        middle = done + 0.3 * (1 - done)
        partition = reference_partition(
            shards, bins=bins, job=job, progress=part(progress, done, middle)
        )
        return partition, bin_by(
            partition,
            shards,
            households=households,
            interval_minutes=interval_minutes,
            job=job,
            progress=part(progress, middle, 1.0),
        )


def bin_by(
    partition: Partition,
    shards: list[Shard],
    *,
    households: np.ndarray,
    interval_minutes: int,
    job: Job,
    progress: Progress,
) -> DayTable:
    """Find the bin of every reading of the shards, in bins that are given."""
    find = partial(bins_of, partition=partition, interval_minutes=interval_minutes)
    tables = list(iter_results(job.map, find, shards, progress, _MESSAGE))
    if not tables:
        raise InputError("there are no readings to count; choose households that have some")
    return merge_day_tables(in_order(tables), households=households)


def bins_of(shard: Shard, *, partition: Partition, interval_minutes: int) -> DayTable:
    """Find the bin of every reading of a shard."""
    bin_type = _bin_type(partition)
    return merge_day_tables(
        [
            make_day_table(
                batch.rows,
                batch.times,
                partition.bin_of(batch.kwh).astype(bin_type, copy=False),
                households=shard.households,
                interval_minutes=interval_minutes,
            )
            for batch in shard.batches()
        ],
        households=shard.households,
    )


def watt_hours_of(shard: Shard, *, interval_minutes: int) -> tuple[DayTable, ValueCounts]:
    """Read a shard's watt-hours, and count the readings of each.

    Readings that are no whole watt-hours, or too many, are counted as ``others``; they make the
    table useless.
    """
    tables = []
    counts = np.zeros(_MOST_WATT_HOURS + 1, dtype=np.int64)
    others = 0
    for batch in shard.batches():
        watt_hours = np.empty(len(batch.kwh), dtype=np.uint16)
        others += _to_watt_hours(batch.kwh, watt_hours, counts)
        tables.append(
            make_day_table(
                batch.rows,
                batch.times,
                watt_hours,
                households=shard.households,
                interval_minutes=interval_minutes,
            )
        )
    merged = merge_day_tables(tables, households=shard.households)
    return merged, ValueCounts(0, np.trim_zeros(counts, "b"), others)


def _merge_bins(
    tables: list[DayTable], partition: Partition, households: np.ndarray, threads: int | None
) -> DayTable:
    """Turn tables of watt-hours into one of bins, letting go of each as it is done."""
    watt_hours = np.arange(_MOST_WATT_HOURS + 1) / 1000
    bin_of = partition.bin_of(watt_hours).astype(_bin_type(partition))
    tables = in_order(tables)
    ends = np.cumsum([len(table.days) for table in tables])
    bins = np.empty((ends[-1], tables[0].values.shape[1]), bin_of.dtype)

    def work(place: int) -> None:
        out = bins[ends[place] - len(tables[place].days) : ends[place]]
        tables[place] = tables[place].look_up(bin_of, out)

    run_tasks(work, range(len(tables)), threads=threads)
    return merge_day_tables(tables, households=households, values=bins)


def _bin_type(partition: Partition) -> type[np.unsignedinteger]:
    """The smallest type that has the bins and one number more."""
    return np.uint8 if partition.n_bins <= np.iinfo(np.uint8).max else np.uint16


@numba.njit(nogil=True, cache=True)
def _to_watt_hours(kwh: np.ndarray, found: np.ndarray, counts: np.ndarray) -> int:
    """Write whole watt-hours, count them, and return how many readings are none."""
    others = 0
    for i in range(len(kwh)):
        watt_hours = np.rint(kwh[i] * 1000.0)
        # Dividing, unlike multiplying by 0.001, gives the very number the text "0.123" stands for.
        if watt_hours / 1000.0 == kwh[i] and 0.0 <= watt_hours < len(counts):
            found[i] = np.uint16(watt_hours)
            counts[np.int64(watt_hours)] += 1
        else:
            found[i] = 0
            others += 1
    return others
