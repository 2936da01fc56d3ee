"""The week of the homes that are most similar to one."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.figures.demand_summary import WeekQuantiles, week_quantiles
from core.periods import Period
from core.readings import Dataset


def similar_week(dataset: Dataset, households: Sequence[str], period: Period) -> WeekQuantiles:
    """Quantiles of demand in every slot of the week, of all readings of some homes together."""
    parts = []
    for household in households:
        readings = dataset.readings(household)
        if not period.is_whole:
            readings = readings[period.holds(readings["time"].to_numpy())]
        parts.append(readings)
    both = pd.concat(parts)
    times, kwh = both["time"].to_numpy(), both["kwh"].to_numpy(np.float64)
    return week_quantiles(times, kwh, dataset.interval_minutes)
