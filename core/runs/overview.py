"""What a dataset holds, at a glance: coverage, the distribution of demand, sample sizes.

One look at it takes a pass over the readings, so it is kept in the store.
"""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.cube import Cube, build_cube
from core.errors import InputError
from core.fields import Unit
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.readings.coverage import Coverage, count_days, make_coverage
from core.runs.store import StageResult, Store, make_digest
from core.vectors import choose_samples

OVERVIEW_VERSION = 2
STAGE = "overview"

# Minimum, median and maximum over households, and what 90 % of them lie between.
SIZE_LEVELS = (0.0, 0.05, 0.5, 0.95, 1.0)

# The units for which a household is left out as a whole.
_UNITS: tuple[Unit, ...] = ("profiles", "households")


@dataclass(frozen=True, eq=False)
class ReferenceDistribution:
    """How the reference readings spread over their bins.

    Attributes
    ----------
    edges : ndarray of shape (n_bins − 1,)
        Increasing, in kWh; bins are closed on the right.
    readings : ndarray of int64, shape (n_bins,)
        How many are in each bin.
    lowest, highest : float
        The extreme readings, in kWh, where the first bin starts and the last one ends.
    bins : int
        The bins asked for; there are fewer where edges coincided.
    """

    edges: np.ndarray
    readings: np.ndarray
    lowest: float
    highest: float
    bins: int

    @property
    def n_bins(self) -> int:
        """The number of bins there are."""
        return len(self.readings)

    @property
    def share(self) -> np.ndarray:
        """The share of the readings in each bin, (n_bins,), 0 … 1."""
        return self.readings / self.readings.sum()


@dataclass(frozen=True, eq=False)
class Overview:
    """What a dataset holds.

    Attributes
    ----------
    coverage : Coverage
        Readings by household and day.
    reference : ReferenceDistribution
        All readings in the bins that maps are made with by default.
    slot_sizes : ndarray of shape (5, slots)
        Quantiles `SIZE_LEVELS`, over the households, of the readings in each slot of the week.
    left_out : DataFrame
        ``unit``, ``label``, ``m`` and ``reason`` of every household that a map of that unit, all
        else by default, does not show.
    notices : tuple of str
        What the user should know.
    """

    coverage: Coverage
    reference: ReferenceDistribution
    slot_sizes: np.ndarray
    left_out: pd.DataFrame
    notices: tuple[str, ...] = ()


def make_overview(
    dataset: Dataset,
    *,
    store: Store | None = None,
    progress: Progress = silent,
) -> Overview:
    """Look over a dataset, or fetch from the store what was seen before."""
    if store is None:
        return _make_overview(dataset, progress)
    digest = _digest(dataset)
    with store.computing(STAGE, digest, waiting=lambda: progress(0.0, "Waiting")):
        overview = stored_overview(dataset, store)
        if overview is None:
            overview = _make_overview(dataset, progress)
            with suppress(OSError):  # where the disk does not take it, it is made again next time
                store.put(STAGE, digest, _pack(overview))
    progress(1.0)
    return overview


def _make_overview(dataset: Dataset, progress: Progress) -> Overview:
    cube = build_cube(dataset, progress=part(progress, 0.0, 0.6))
    readings = count_days(dataset, progress=part(progress, 0.6, 0.95))
    progress(0.95, "Summing up")
    left_out, notices = _left_out(cube, dataset)
    return Overview(
        coverage=make_coverage(dataset, readings),
        reference=_reference(cube, dataset),
        slot_sizes=np.quantile(cube.sample_sizes, SIZE_LEVELS, axis=0),
        left_out=left_out,
        notices=(*cube.notices, *notices),
    )


def stored_overview(dataset: Dataset, store: Store) -> Overview | None:
    """Return the overview kept in the store, or None."""
    entry = store.get(STAGE, _digest(dataset))
    return None if entry is None else _unpack(entry, dataset)


def _left_out(cube: Cube, dataset: Dataset) -> tuple[pd.DataFrame, list[str]]:
    tables, notices = [], []
    for unit in _UNITS:
        try:
            samples = choose_samples(cube, dataset, unit=unit)
        except InputError as error:
            notices.append(str(error))
        else:
            tables.append(samples.left_out.assign(unit=unit))
    table = pd.concat(tables) if tables else pd.DataFrame(columns=["unit", "label", "m", "reason"])
    return table[["unit", "label", "m", "reason"]].reset_index(drop=True), notices


def _reference(cube: Cube, dataset: Dataset) -> ReferenceDistribution:
    metadata = dataset.readings_file.metadata
    column = metadata.schema.names.index("kwh")
    extremes = [
        metadata.row_group(group).column(column).statistics
        for group in range(metadata.num_row_groups)
    ]
    return ReferenceDistribution(
        edges=cube.edges,
        readings=cube.counts.sum(axis=(0, 1), dtype=np.int64),
        # Parquet tells the least of zeros as −0.0, the greatest as 0.0.
        lowest=min(extreme.min for extreme in extremes) + 0.0,
        highest=max(extreme.max for extreme in extremes) + 0.0,
        bins=cube.bins,
    )


def _digest(dataset: Dataset) -> str:
    return make_digest({"version": OVERVIEW_VERSION, "dataset": dataset.digest})


def _pack(overview: Overview) -> StageResult:
    reference = overview.reference
    return StageResult(
        arrays={
            "days": overview.coverage.readings,
            "edges": reference.edges,
            "readings": reference.readings,
            "slot_sizes": overview.slot_sizes,
        },
        tables={"left_out": overview.left_out},
        facts={
            "lowest": reference.lowest,
            "highest": reference.highest,
            "bins": reference.bins,
            "notices": overview.notices,
        },
    )


def _unpack(entry: StageResult, dataset: Dataset) -> Overview:
    """Undo :func:`_pack`; what is expected follows from the manifest and is not kept."""
    arrays, facts = entry.arrays, dict(entry.facts)
    notices = tuple(facts.pop("notices"))
    return Overview(
        coverage=make_coverage(dataset, arrays["days"]),
        reference=ReferenceDistribution(arrays["edges"], arrays["readings"], **facts),
        slot_sizes=arrays["slot_sizes"],
        left_out=entry.tables["left_out"],
        notices=notices,
    )
