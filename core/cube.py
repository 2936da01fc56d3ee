"""The cube: how many readings of each household fall into each slot of the week and each bin.

For a given partition the counts are the sufficient statistic of everything after them: pooling
slots, widening the window or changing the unit is a sum over the cube, never another pass over
the readings.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numba
import numpy as np

from core import atomic
from core.engine import Engine, Local
from core.errors import InputError
from core.partition import Partition, reference_partition
from core.progress import Progress, part, silent
from core.readings.dataset import Dataset, file_digest
from core.registry import Parameter
from core.shards import Shard, results, split
from core.slots import EPOCH_MINUTE, slots_per_week

CUBE_VERSION = 1

BINS = Parameter(
    name="bins",
    default=100,
    low=2,
    high=1000,
    help="bins of demand, each with the same share of the reference readings",
)

_MICROSECONDS_PER_MINUTE = 60_000_000
_FROM_MONDAY = EPOCH_MINUTE * _MICROSECONDS_PER_MINUTE
_WIDER = {
    np.dtype(narrow): np.dtype(wide)
    for narrow, wide in pairwise([np.uint8, np.uint16, np.uint32, np.uint64])
}
_COUNTS = "counts.npy"
_SAMPLE_SIZES = "sample_sizes.npy"
_DESCRIPTION = "cube.json"


@dataclass(frozen=True, eq=False)
class Cube:
    """Counts of readings by household, slot and bin. Arrays are read-only.

    Attributes
    ----------
    counts : ndarray of shape (households, slots, n_bins)
        The smallest unsigned integers that hold them.
    sample_sizes : ndarray of int64, shape (households, slots)
        Readings in each slot: ``counts`` summed over bins.
    households : ndarray of int32, shape (households,)
        The households' codes in the dataset, increasing.
    edges : ndarray of float64, shape (n_bins − 1,)
        Increasing, in kWh. Bins are closed on the right; the last is open.
    bins : int
        The bins asked for; ``n_bins`` is smaller where edges coincided.
    n_readings : int
        The reference readings that the edges come from.
    reference : {'dataset', 'selection'}
        Whose readings they are: the whole dataset's, or just those of ``households``.
    interval_minutes : int
        Minutes a slot.
    digest : str
        Identifies the dataset, the bins and the reference.
    notices : tuple of str
        What the user should know.
    """

    counts: np.ndarray
    sample_sizes: np.ndarray
    households: np.ndarray
    edges: np.ndarray
    bins: int
    n_readings: int
    reference: Literal["dataset", "selection"]
    interval_minutes: int
    digest: str
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.counts, self.sample_sizes, self.households, self.edges):
            array.flags.writeable = False

    @property
    def n_bins(self) -> int:
        """The number of bins after merging edges that coincide."""
        return len(self.edges) + 1

    @property
    def n_slots(self) -> int:
        """The number of slots in the week."""
        return int(self.counts.shape[1])


def build_cube(
    dataset: Dataset,
    *,
    bins: int = 100,
    reference_households: Sequence[str] | None = None,
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
        Memory-mapped. Where the dataset directory cannot be written to, the cube is kept in
        memory only and says so in its ``notices``.
    """
    bins = int(BINS.validate(bins))
    households = _household_codes(dataset, reference_households)
    whole = len(households) == len(dataset.households)
    digest = _digest(dataset, bins, households)
    directory = _directory(dataset, digest)
    cube = _load(directory, digest)
    if cube is not None:
        progress(1.0, "Counting readings")
        return cube
    shards = split(dataset, households)
    with (engine or Local(threads)).job(f"cube-{digest}") as job:
        partition = reference_partition(
            shards, bins=bins, job=job, progress=part(progress, 0.0, 0.3)
        )
        count = partial(count_shard, partition=partition, interval_minutes=dataset.interval_minutes)
        reported = part(progress, 0.3, 1.0)
        merged = merge(
            results(job.map, count, shards, reported, "Counting readings"), households=households
        )
        cube = Cube(
            counts=merged.counts,
            sample_sizes=merged.counts.sum(axis=2, dtype=np.int64),
            households=households,
            edges=partition.edges,
            bins=bins,
            n_readings=partition.n_readings,
            reference="dataset" if whole else "selection",
            interval_minutes=dataset.interval_minutes,
            digest=digest,
        )
        return _keep(cube, directory)


def kept_cube(
    dataset: Dataset, *, bins: int = 100, reference_households: Sequence[str] | None = None
) -> Cube | None:
    """Return the cube that :func:`build_cube` would fetch, or None where it would count."""
    households = _household_codes(dataset, reference_households)
    digest = _digest(dataset, int(BINS.validate(bins)), households)
    return _load(_directory(dataset, digest), digest)


def recount(
    dataset: Dataset,
    *,
    edges: np.ndarray,
    bins: int,
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
    """
    households = _household_codes(dataset, None)
    asked = json.dumps([CUBE_VERSION, dataset.digest, [float(edge).hex() for edge in edges]])
    digest = hashlib.sha256(asked.encode()).hexdigest()[:32]
    shards = split(dataset, households)
    partition = Partition(edges, bins, 0, whole_watt_hours=False)
    count = partial(count_shard, partition=partition, interval_minutes=dataset.interval_minutes)
    with (engine or Local()).job(f"recount-{digest}") as job:
        merged = merge(
            results(job.map, count, shards, progress, "Counting readings"), households=households
        )
    return Cube(
        counts=merged.counts,
        sample_sizes=merged.counts.sum(axis=2, dtype=np.int64),
        households=households,
        edges=edges,
        bins=bins,
        n_readings=int(merged.counts.sum(dtype=np.int64)),
        reference="dataset",
        interval_minutes=dataset.interval_minutes,
        digest=digest,
    )


@dataclass(frozen=True, eq=False)
class PartialCube:
    """The counts of some shards.

    Attributes
    ----------
    households : ndarray of int32, shape (households,)
        Codes in the dataset, increasing.
    counts : ndarray of unsigned integers, shape (households, slots, n_bins)
    """

    households: np.ndarray
    counts: np.ndarray


def count_shard(shard: Shard, *, partition: Partition, interval_minutes: int) -> PartialCube:
    """Count a shard's readings by household, slot and bin."""
    shape = (len(shard.households), slots_per_week(interval_minutes), partition.n_bins)
    interval = interval_minutes * _MICROSECONDS_PER_MINUTE
    counts = np.zeros(shape, dtype=np.uint8)
    for batch in shard.batches():
        bins = partition.bin_of(batch.kwh)
        done = 0
        while done < len(bins):
            full = np.iinfo(counts.dtype).max
            done = _count(batch.rows, batch.times, bins, interval, done, full, counts)
            if done < len(bins):
                counts = counts.astype(_WIDER[counts.dtype])
    return PartialCube(shard.households, counts)


def merge(partials: Iterable[PartialCube], *, households: np.ndarray | None = None) -> PartialCube:
    """Add partial cubes up; the result does not depend on their order or grouping.

    Parameters
    ----------
    partials : iterable of PartialCube
        At least one; taken one at a time if ``households`` is given.
    households : ndarray, optional
        The codes of all households, increasing; by default those of the partial cubes.

    Returns
    -------
    PartialCube
        Counts of the smallest unsigned type that holds them all.
    """
    if households is None:
        partials = list(partials)
        households = np.unique(np.concatenate([piece.households for piece in partials]))
    counts: np.ndarray | None = None
    seen = np.zeros(len(households), dtype=bool)
    for piece in partials:
        if counts is None:
            counts = np.zeros((len(households), *piece.counts.shape[1:]), dtype=piece.counts.dtype)
        counts = _widened(counts, piece.counts.dtype)
        rows = np.searchsorted(households, piece.households)
        again = seen[rows]
        counts[rows[~again]] = piece.counts[~again]
        for row, addend in zip(rows[again], piece.counts[again], strict=True):
            total = np.add(counts[row], addend, dtype=np.uint64)
            counts = _widened(counts, np.min_scalar_type(total.max()))
            counts[row] = total
        seen[rows] = True
    if counts is None:
        raise InputError("there are no readings to count; choose households that have some")
    return PartialCube(households, counts)


def sample_size_summary(cube: Cube) -> dict[str, Any]:
    """Describe a cube for people: its bins, and how many readings stand behind a slot."""
    m = cube.sample_sizes
    return {
        "bins": cube.bins,
        "n_bins": cube.n_bins,
        "reference": cube.reference,
        "households": len(cube.households),
        "slots": cube.n_slots,
        "sample_size": {
            "min": int(m.min()),
            "median": float(np.median(m)),
            "max": int(m.max()),
        },
        "empty_slots": int((m == 0).sum()),
    }


def _widened(counts: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return counts.astype(dtype) if dtype.itemsize > counts.itemsize else counts


@numba.njit(nogil=True, cache=True)
def _count(
    rows: np.ndarray,
    times: np.ndarray,
    bins: np.ndarray,
    interval: int,
    start: int,
    full: int,
    counts: np.ndarray,
) -> int:
    """Count readings from ``start`` on; stop before the one that finds its count ``full``.

    ``times`` and ``interval`` are in microseconds. Returns where it stopped.
    """
    n_slots = counts.shape[1]
    slot = 0
    expected = times[start] - 1
    for i in range(start, len(times)):
        # Readings mostly follow each other, and a comparison is cheaper than two divisions.
        if times[i] == expected:
            slot = slot + 1 if slot + 1 < n_slots else 0
        else:
            slot = (times[i] + _FROM_MONDAY) // interval % n_slots
        expected = times[i] + interval
        if counts[rows[i], slot, bins[i]] == full:
            return i
        counts[rows[i], slot, bins[i]] += 1
    return len(times)


def _household_codes(dataset: Dataset, chosen: Sequence[str] | None) -> np.ndarray:
    if chosen is None:
        return np.arange(len(dataset.households), dtype=np.int32)
    if not len(chosen):
        raise InputError("no household is chosen as reference; choose at least one")
    return np.unique(np.array([dataset.code(household) for household in chosen], dtype=np.int32))


def _digest(dataset: Dataset, bins: int, households: np.ndarray) -> str:
    whole = len(households) == len(dataset.households)
    inputs = {
        "version": CUBE_VERSION,
        "dataset": dataset.digest,
        "bins": bins,
        "reference": None if whole else households.tolist(),
    }
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:32]


def _directory(dataset: Dataset, digest: str) -> Path:
    return dataset.path / "cubes" / digest


def _keep(cube: Cube, directory: Path) -> Cube:
    """Write a cube beside its readings and return it memory-mapped."""
    try:
        atomic.sweep_folder(directory.parent)
        with atomic.new_directory(directory) as staging:
            np.save(staging / _COUNTS, cube.counts)
            np.save(staging / _SAMPLE_SIZES, cube.sample_sizes)
            description = {
                "digest": cube.digest,
                "bins": cube.bins,
                "edges": [float(edge).hex() for edge in cube.edges],
                "n_readings": cube.n_readings,
                "reference": cube.reference,
                "interval_minutes": cube.interval_minutes,
                "households": cube.households.tolist(),
                "files": {name: file_digest(staging / name) for name in (_COUNTS, _SAMPLE_SIZES)},
            }
            atomic.write_json(staging / _DESCRIPTION, description)
    except OSError as error:
        notice = f"the counts are not kept for the next time: {directory} cannot be written"
        return replace(cube, notices=(*cube.notices, f"{notice} ({error.strerror or error})"))
    return replace(cube, counts=_map(directory / _COUNTS))


def _load(directory: Path, digest: str) -> Cube | None:
    """Return the cube kept in a directory; None if there is none or it is damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        description = json.loads((directory / _DESCRIPTION).read_text(encoding="utf-8"))
        if description["digest"] != digest or any(
            file_digest(directory / name) != description["files"][name]
            for name in (_COUNTS, _SAMPLE_SIZES)
        ):
            return None
        return Cube(
            counts=_map(directory / _COUNTS),
            sample_sizes=_map(directory / _SAMPLE_SIZES),
            households=np.array(description["households"], dtype=np.int32),
            edges=np.array([float.fromhex(edge) for edge in description["edges"]]),
            bins=description["bins"],
            n_readings=description["n_readings"],
            reference=description["reference"],
            interval_minutes=description["interval_minutes"],
            digest=digest,
        )
    return None


def _map(path: Path) -> np.ndarray:
    return np.load(path, mmap_mode="r", allow_pickle=False)
