"""What households use, as groups are compared by it: their distributions and their sums."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.cube import Cube
from core.errors import InputError
from core.groups.moments import Moments
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.runs import RunConfig, Runner, Store
from core.slots import check_slots, parse_slots, slot_of
from core.summary import Summarized
from core.vectors import Vectors, make_vectors
from core.vectors.mean_demand import WeekDemand, sum_demand

_UNITS = ("profiles", "households")


@dataclass(frozen=True, eq=False, repr=False)
class Demand(Summarized):
    """The demand of some households.

    Attributes
    ----------
    households : tuple of str
        Ids, in the order of the rows of all arrays.
    vectors : Vectors
        Their distributions of demand.
    slots : ndarray of int
        The slots of the week that count.
    slot_kwh : ndarray of shape (n, slots)
        Mean kWh per interval in each of these slots, NaN where there is no reading.
    bin_shares : ndarray of shape (n, n_bins)
        Share of each household's readings in every bin.
    edges : ndarray of shape (n_bins − 1,)
        Of the bins, in kWh, increasing.
    metadata : DataFrame of n rows
    interval_minutes : int
    relative : ndarray of shape (n,), optional
        With moments: the mean at these over the mean in the same slots of the week at others, NaN
        where one is not known. Each household is its own measure.
    notices : tuple of str
    """

    households: tuple[str, ...]
    vectors: Vectors
    slots: np.ndarray
    slot_kwh: np.ndarray
    bin_shares: np.ndarray
    edges: np.ndarray
    metadata: pd.DataFrame
    interval_minutes: int
    relative: np.ndarray | None = None
    notices: tuple[str, ...] = ()

    @property
    def kwh_per_day(self) -> np.ndarray:
        """Mean kWh a day in the slots that count, (n,); gaps take the mean of the other slots."""
        return np.nanmean(self.slot_kwh, axis=1) * len(self.slots) / 7

    def places(self, households: tuple[str, ...]) -> np.ndarray:
        """Return the rows of those households that have enough readings, increasing."""
        wanted = set(households)
        return np.array([i for i, name in enumerate(self.households) if name in wanted], np.int64)


def household_demand(
    dataset: Dataset,
    config: RunConfig,
    *,
    moments: Moments | None = None,
    store: Store | None = None,
    progress: Progress = silent,
) -> Demand:
    """Look at what the households of a config use.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
        Its unit (``profiles`` or ``households``), distance, window, slots, period and households
        count; what makes a map does not.
    moments : Moments, optional
        Count the readings at these times alone, pooled over the week: they are too few to fill
        every slot of it.
    store : Store, optional
        Where vectors are fetched and kept.
    progress : Progress
    """
    if config.unit not in _UNITS:
        raise InputError(
            f"groups are made of households, not of {config.unit}; choose unit profiles, the whole "
            "week, or households, all readings together"
        )
    slots = None if config.slots is None else parse_slots(config.slots, dataset.interval_minutes)
    relative = None
    if moments is None:
        cube, vectors = Runner(dataset, store=store).inputs(config)
        demand = sum_demand(dataset, period=config.period, progress=part(progress, 0.3, 1.0))
    else:
        config = config.change(unit="households", distance=config.distance)
        whole = Runner(dataset, store=store).cube(config)
        cube, demand, relative = _at(dataset, whole, config, moments, slots, progress)
        vectors = make_vectors(
            cube,
            dataset,
            unit="households",
            distance=config.distance,
            households=config.households,
            slots=slots,
            minimum_sample=config.minimum_sample,
        )
    ids = tuple(vectors.units["household"])
    codes = pd.Index(dataset.households["household"]).get_indexer(list(ids))
    chosen = check_slots(slots, dataset.interval_minutes)
    readings = demand.readings[np.ix_(codes, chosen)]
    slot_kwh = np.full(readings.shape, np.nan)
    np.divide(demand.kwh[np.ix_(codes, chosen)], readings, out=slot_kwh, where=readings > 0)
    counts = _pooled(cube, codes, chosen)
    return Demand(
        households=ids,
        vectors=vectors,
        slots=chosen,
        slot_kwh=slot_kwh,
        bin_shares=counts / counts.sum(axis=1, keepdims=True),
        edges=np.array(cube.edges),
        metadata=dataset.metadata.iloc[codes].reset_index(drop=True),
        interval_minutes=dataset.interval_minutes,
        relative=None if relative is None else relative[codes],
        notices=vectors.notices,
    )


def _pooled(cube: Cube, codes: np.ndarray, slots: np.ndarray) -> np.ndarray:
    places = np.searchsorted(cube.households, codes)
    pooled = [cube.counts[place][slots].sum(axis=0, dtype=np.int64) for place in places]
    return np.array(pooled)


def _at(
    dataset: Dataset,
    cube: Cube,
    config: RunConfig,
    moments: Moments,
    slots: np.ndarray | None,
    progress: Progress,
) -> tuple[Cube, WeekDemand, np.ndarray]:
    """Count and add up the readings at some moments, household by household."""
    names = dataset.households["household"].tolist()
    week = cube.n_slots
    counts = np.zeros((len(cube.households), week, cube.n_bins), np.uint16)
    kwh, readings = np.zeros((len(names), week)), np.zeros((len(names), week), np.int64)
    relative = np.full(len(names), np.nan)
    chosen = np.isin(np.arange(week), check_slots(slots, dataset.interval_minutes))
    for place, code in enumerate(cube.households):
        table = dataset.readings(names[code])
        times = table["time"].to_numpy().astype("datetime64[m]")
        held = config.period.holds(times.astype("datetime64[D]"))
        slot = slot_of(times, dataset.interval_minutes)
        values = table["kwh"].to_numpy(np.float64)
        there = held & np.isin(times, moments.times) & chosen[slot]
        other = held & np.isin(times, moments.others) & chosen[slot]
        # Bins are closed on the right.
        bins = np.searchsorted(cube.edges, values[there], side="left")
        np.add.at(counts[place], (slot[there], bins), 1)
        kwh[code] = np.bincount(slot[there], values[there], week)
        readings[code] = np.bincount(slot[there], minlength=week)
        relative[code] = _relative(kwh[code], readings[code], slot[other], values[other])
        progress((place + 1) / len(cube.households), f"Reading {moments.name}")
    if not readings.any():
        raise InputError(
            f"no reading is at one of the {len(moments.times):,} times of {moments.name!r}; the "
            f"readings run from {dataset.first_and_last_day[0]} to {dataset.first_and_last_day[1]}"
        )
    sizes = readings[cube.households]
    return (
        replace(cube, counts=counts, sample_sizes=sizes, digest=f"{cube.digest}-{moments.name}"),
        WeekDemand(kwh, readings),
        relative,
    )


def _relative(kwh: np.ndarray, readings: np.ndarray, slot: np.ndarray, values: np.ndarray) -> float:
    """Mean at the moments over the mean at others, in the same slots and equally often."""
    others = np.bincount(slot, minlength=len(kwh))
    mean = np.bincount(slot, values, len(kwh)) / np.maximum(others, 1)
    both = (readings > 0) & (others > 0)
    expected = float((readings * mean)[both].sum())
    return float(kwh[both].sum()) / expected if expected > 0 else np.nan
