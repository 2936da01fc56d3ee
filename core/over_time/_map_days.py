"""The readings of a dataset by day, in the bins of a map."""

import numpy as np

from core.cube import DayTable, bin_days, build_day_table
from core.errors import InputError
from core.progress import Progress, silent
from core.readings import Dataset
from core.runs import RunConfig
from core.slots import check_slots, parse_slots

# One point for each household, so that a household can be followed.
UNITS = ("profiles", "households")


def check_unit(config: RunConfig, what: str) -> None:
    """Raise unless a point of the map is a household."""
    if config.unit not in UNITS:
        raise InputError(
            f"{what} follow households, and a point of the map is one of {config.unit}; "
            "choose unit profiles or households"
        )


def day_table_of(
    dataset: Dataset,
    config: RunConfig,
    edges: np.ndarray,
    *,
    progress: Progress = silent,
) -> DayTable:
    """Return the bin of every reading, fetched where the map has the dataset's own bins."""
    if config.reference == "dataset":
        cube, table = build_day_table(dataset, bins=config.bins, progress=progress)
        if np.array_equal(cube.edges, edges):
            return table
    return bin_days(dataset, edges=edges, bins=config.bins, progress=progress)


def slots_of(config: RunConfig, interval_minutes: int) -> np.ndarray:
    """Return the slots of the week that count."""
    chosen = None if config.slots is None else parse_slots(config.slots, interval_minutes)
    return check_slots(chosen, interval_minutes)
