"""The cube: how many readings of each household fall into each slot of the week and each bin.

For a given partition the counts are the sufficient statistic of everything after them: pooling
slots, widening the window, changing the unit or the period is a sum, never another pass over the
readings.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.cube._kept_files import keep, load_cube, load_days
from core.cube._scan import bin_by, bin_readings
from core.cube.cube import Cube
from core.cube.day_table import DayTable
from core.cube.partition import Partition
from core.engine import Engine, Local
from core.errors import InputError
from core.fields import FIELDS
from core.periods import WHOLE_RECORD, Period
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.readings.shards import split

CUBE_VERSION = 1


def build_cube(
    dataset: Dataset,
    *,
    bins: int = 100,
    reference_households: Sequence[str] | None = None,
    period: Period = WHOLE_RECORD,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Cube:
    """Count a dataset's readings, or fetch the counts kept in the dataset directory.

    Parameters
    ----------
    dataset : Dataset
        The readings.
    bins : int
        T, the number of equally likely bins of the reference readings.
    reference_households : sequence of household ids, optional
        Take the partition from these households' readings alone. The cube then holds just them.
    period : Period
        The days whose readings are counted; all by default. The partition is that of the whole
        record, and the counts are a sum of what is kept by day. With ``reference_households`` the
        partition is that of the period, and the readings are counted afresh.
    threads : int, optional
        Threads to work in; all cores by default.
    engine : Engine, optional
        Who counts, in place of threads of this process: a cluster, for one. The cube is the same
        to the last byte.
    progress : Progress
        Told how far the work is; may raise to stop it.

    Returns
    -------
    Cube
        Memory-mapped where the period is the whole record. Where the dataset directory cannot be
        written to, the cube is kept in memory only and says so in its ``notices``.
    """
    bins, households = _check(dataset, bins, reference_households, period)
    whole = len(households) == len(dataset.households)
    if not period.is_whole and whole:
        cube, days = build_day_table(
            dataset, bins=bins, threads=threads, engine=engine, progress=part(progress, 0.0, 0.9)
        )
        counts, sample_sizes = days.count(
            cube.n_bins, period=period, threads=threads, progress=part(progress, 0.9, 1.0)
        )
        digest = _digest(dataset, bins, households, period)
        return replace(cube, counts=counts, sample_sizes=sample_sizes, digest=digest, period=period)
    kept = load_cube(_directory(dataset, bins, households)) if period.is_whole else None
    if kept is None:
        return _count(dataset, bins, households, period, threads, engine, progress)[0]
    progress(1.0, "Counting readings")
    return kept


def build_day_table(
    dataset: Dataset,
    *,
    bins: int = 100,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> tuple[Cube, DayTable]:
    """Find the bin of every reading by household and day, or fetch what is kept; and the cube.

    The options are those of :func:`build_cube`. Whatever is asked of some days is a sum over this
    table.
    """
    bins, households = _check(dataset, bins, None, WHOLE_RECORD)
    directory = _directory(dataset, bins, households)
    cube = load_cube(directory)
    days = None if cube is None else load_days(directory, cube.households)
    if cube is None or days is None:
        return _count(dataset, bins, households, WHOLE_RECORD, threads, engine, progress)
    progress(1.0, "Counting readings")
    return cube, days


def kept_cube(
    dataset: Dataset,
    *,
    bins: int = 100,
    reference_households: Sequence[str] | None = None,
    period: Period = WHOLE_RECORD,
) -> Cube | None:
    """Return the cube that :func:`build_cube` would fetch, or None where it would count."""
    bins, households = _check(dataset, bins, reference_households, period)
    return load_cube(_directory(dataset, bins, households)) if period.is_whole else None


def recount(
    dataset: Dataset,
    *,
    edges: np.ndarray,
    bins: int,
    period: Period = WHOLE_RECORD,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Cube:
    """Count a dataset's readings in bins that are given; nothing is kept.

    Parameters
    ----------
    edges : ndarray of float64, shape (n_bins − 1,)
        The bins of another cube, in kWh.
    bins : int
        The bins that were asked for there.
    period : Period
        The days whose readings are counted.
    """
    days = bin_days(
        dataset, edges=edges, bins=bins, period=period, engine=engine, progress=progress
    )
    counts, sample_sizes = days.count(len(edges) + 1)
    return Cube(
        counts=counts,
        sample_sizes=sample_sizes,
        households=days.households,
        edges=edges,
        bins=bins,
        n_readings=int(sample_sizes.sum()),
        reference="dataset",
        interval_minutes=dataset.interval_minutes,
        digest=_recount_digest(dataset, edges, period),
        period=period,
    )


def bin_days(
    dataset: Dataset,
    *,
    edges: np.ndarray,
    bins: int,
    period: Period = WHOLE_RECORD,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> DayTable:
    """Find the bin of every reading of a period in bins that are given; see :func:`recount`."""
    _, households = _check(dataset, bins, None, period)
    with (engine or Local()).job(f"recount-{_recount_digest(dataset, edges, period)}") as job:
        days = bin_by(
            Partition(edges, bins, 0, whole_watt_hours=False),
            split(dataset, households, period=period),
            households=households,
            interval_minutes=dataset.interval_minutes,
            job=job,
            progress=progress,
        )
    dataset.check_unchanged()  # while its readings were counted
    return days


def _count(
    dataset: Dataset,
    bins: int,
    households: np.ndarray,
    period: Period,
    threads: int | None,
    engine: Engine | None,
    progress: Progress,
) -> tuple[Cube, DayTable]:
    """Count readings, and keep the counts of the whole record."""
    digest = _digest(dataset, bins, households, period)
    partition, days = bin_readings(
        split(dataset, households, period=period),
        households=households,
        bins=bins,
        interval_minutes=dataset.interval_minutes,
        name=f"cube-{digest}",
        engine=engine or Local(threads),
        threads=threads,
        progress=part(progress, 0.0, 0.9),
    )
    counts, sample_sizes = days.count(
        partition.n_bins, threads=threads, progress=part(progress, 0.9, 1.0)
    )
    dataset.check_unchanged()  # while its readings were counted
    cube = Cube(
        counts=counts,
        sample_sizes=sample_sizes,
        households=households,
        edges=partition.edges,
        bins=bins,
        n_readings=partition.n_readings,
        reference="dataset" if len(households) == len(dataset.households) else "selection",
        interval_minutes=dataset.interval_minutes,
        digest=digest,
        period=period,
    )
    if period.is_whole:
        cube = keep(_directory(dataset, bins, households), cube, days)
    return cube, days


def _check(
    dataset: Dataset, bins: int, reference_households: Sequence[str] | None, period: Period
) -> tuple[int, np.ndarray]:
    """Return the number of bins and the households' codes, or say what cannot be used."""
    if not period.is_whole:
        period.check(*dataset.first_and_last_day)
    return FIELDS["bins"].validate(bins), _household_codes(dataset, reference_households)


def _household_codes(dataset: Dataset, chosen: Sequence[str] | None) -> np.ndarray:
    if chosen is None:
        return np.arange(len(dataset.households), dtype=np.int32)
    if not len(chosen):
        raise InputError("no household is chosen as reference; choose at least one")
    return np.unique(np.array([dataset.code(household) for household in chosen], dtype=np.int32))


def _digest(dataset: Dataset, bins: int, households: np.ndarray, period: Period) -> str:
    whole = len(households) == len(dataset.households)
    inputs = {
        "version": CUBE_VERSION,
        "dataset": dataset.digest,
        "bins": bins,
        "reference": None if whole else households.tolist(),
    }
    if not period.is_whole:
        inputs["period"] = period.to_json()
    return _hash(inputs)


def _recount_digest(dataset: Dataset, edges: np.ndarray, period: Period) -> str:
    inputs = [CUBE_VERSION, dataset.digest, [float(edge).hex() for edge in edges]]
    return _hash(inputs if period.is_whole else [*inputs, period.to_json()])


def _hash(inputs: Any) -> str:
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]


def _directory(dataset: Dataset, bins: int, households: np.ndarray) -> Path:
    """Where the counts of the whole record are kept; its name is their digest."""
    return dataset.path / "cubes" / _digest(dataset, bins, households, WHOLE_RECORD)
