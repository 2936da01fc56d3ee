"""Where every household is on a map, month by month or week by week."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pandas as pd

from core.cube import DayTable
from core.errors import InputError
from core.over_time._map_days import check_unit, slots_of
from core.over_time.week_shapes import week_dates, week_numbers
from core.placement.projection import Projection, project_steps
from core.progress import Progress, silent
from core.readings import Dataset
from core.runs import RunConfig
from core.summary import Summarized

Step = Literal["month", "week"]

# A record of fewer days is followed by week.
_DAYS_FOR_MONTHS = 150


@dataclass(frozen=True, eq=False, repr=False)
class Paths(Summarized):
    """Places on a map by date.

    Attributes
    ----------
    households : ndarray of str, shape (households,)
    dates : ndarray of datetime64[D], shape (steps,)
        The first day of each month or week.
    step : {'month', 'week'}
    y : ndarray of shape (households, steps, dim)
        NaN where a household has too few readings.
    sample_sizes : ndarray of int64, shape (households, steps)
        How many readings it has.
    """

    households: np.ndarray
    dates: np.ndarray
    step: Step
    y: np.ndarray
    sample_sizes: np.ndarray

    def of(self, household: str) -> Self:
        """Return the path of one household, without the steps that it has no place at."""
        (row,) = np.flatnonzero(self.households == household)
        known = np.isfinite(self.y[row, :, 0])
        return type(self)(
            self.households[[row]],
            self.dates[known],
            self.step,
            self.y[[row]][:, known],
            self.sample_sizes[[row]][:, known],
        )

    def table(self) -> pd.DataFrame:
        """Return one row per household and date that it has a place at."""
        row, step = np.nonzero(np.isfinite(self.y[..., 0]))
        places = {f"y{axis + 1}": self.y[row, step, axis] for axis in range(self.y.shape[2])}
        return pd.DataFrame(
            {
                "household": pd.Series(self.households[row], dtype="str"),
                "date": self.dates[step],
                **places,
                "m": self.sample_sizes[row, step],
            }
        )


def household_paths(
    dataset: Dataset,
    config: RunConfig,
    projection: Projection,
    table: DayTable,
    *,
    households: Sequence[str] | None = None,
    step: Step | None = None,
    progress: Progress = silent,
) -> Paths:
    """Follow households on a map.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
        What the map was made by; its period is the time that is followed.
    projection : Projection
        Of the map's points.
    table : DayTable
        The dataset's readings in the map's bins.
    households : sequence of str, optional
        All of the dataset by default. A household's path does not depend on the others.
    step : {'month', 'week'}, optional
        By default months, and weeks where there are fewer than 150 days.
    """
    check_unit(config, "paths")
    if households is not None:
        codes = np.unique([dataset.code(name) for name in households])
        table = table.choose(np.searchsorted(table.households, codes))
    held = config.period.holds(table.days)
    if not held.any():
        raise InputError(f"no day of the period {config.period} has readings; choose another")
    first, last = int(table.days[held].min()), int(table.days[held].max())
    if step is None:
        step = "month" if last - first + 1 >= _DAYS_FOR_MONTHS else "week"
    number = step_numbers(table.days, step)
    begin = int(number[held].min())
    scores, sizes = project_steps(
        projection,
        table,
        np.where(held, number - begin, -1),
        slots=slots_of(config, dataset.interval_minutes),
        window=config.window,
        pooled=config.unit == "households",
        minimum_sample=config.minimum_sample,
        progress=progress,
    )
    n, steps, r = scores.shape
    y, _, _ = projection.place(scores.reshape(-1, r), k=config.k)
    return Paths(
        households=dataset.households["household"].to_numpy(object)[table.households],
        dates=step_dates(begin + np.arange(steps), step),
        step=step,
        y=y.reshape(n, steps, -1),
        sample_sizes=sizes,
    )


def step_numbers(days: np.ndarray, step: Step) -> np.ndarray:
    """Number the months, or the weeks from Monday, that days (since 1970) belong to."""
    if step == "month":
        return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return week_numbers(days)


def step_dates(numbers: np.ndarray, step: Step) -> np.ndarray:
    """Return the first day of numbered months or weeks, datetime64[D]."""
    if step == "month":
        return numbers.astype("datetime64[M]").astype("datetime64[D]")
    return week_dates(numbers)
