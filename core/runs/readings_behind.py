"""The readings behind a point."""

import numpy as np
import pandas as pd

from core.readings import Dataset
from core.runs.config import RunConfig
from core.runs.result import Run
from core.slots import parse_slots, slot_of


def readings_behind(
    run: Run, dataset: Dataset, point: int, readings: pd.DataFrame | None = None
) -> np.ndarray:
    """The readings, in kWh, that the distribution of a run's point was made of.

    ``readings`` are those of its household, for callers that have them already.
    """
    unit = run.units.iloc[point]
    if readings is None:
        readings = dataset.readings(unit["household"])
    readings = within_period(run, readings)
    slots = _slots_of_point(run.config, dataset, unit)
    kwh = readings["kwh"].to_numpy()
    if slots is None:
        return kwh
    return kwh[np.isin(slot_of(readings["time"].to_numpy(), dataset.interval_minutes), slots)]


def within_period(run: Run, readings: pd.DataFrame) -> pd.DataFrame:
    """Return the readings of a household that the run counted."""
    period = run.config.period
    return readings if period.is_whole else readings[period.holds(readings["time"].to_numpy())]


def _slots_of_point(config: RunConfig, dataset: Dataset, unit: pd.Series) -> np.ndarray | None:
    """The slots of the week that a point's sample takes in; None for all."""
    if "slot" in unit:
        own = np.array([unit["slot"]])
    elif config.slots is not None:
        own = parse_slots(config.slots, dataset.interval_minutes)
    else:
        return None
    reach = np.arange(-config.window, config.window + 1)
    return np.unique((own[:, None] + reach) % dataset.slots_per_week)
