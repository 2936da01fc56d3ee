"""Readings as they were taken."""

from typing import TYPE_CHECKING

import numpy as np

from core.figures.canvas import new_figure, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A line of more readings than this is drawn as pixels in vector files.
_RASTER_READINGS = 50_000
_LINE = "#2b4a7d"


def draw_series(
    time: np.ndarray,
    kwh: np.ndarray,
    *,
    interval_minutes: int,
    title: str | None = None,
    size: tuple[float, float] = (7.2, 2.4),
) -> "Figure":
    """Draw a household's readings; intervals without one are gaps.

    Parameters
    ----------
    time : ndarray of datetime64, shape (n,)
        Local times at which the intervals start, increasing.
    kwh : ndarray of shape (n,)
    interval_minutes : int
        Minutes a reading.
    title : str, optional
    size : (float, float)
        Width and height in inches.
    """
    figure = new_figure(*size)
    axes = figure.add_subplot()
    style_axes(axes, title=title)
    time, kwh = with_gaps(time, kwh, interval_minutes)
    axes.plot(time, kwh, color=_LINE, linewidth=0.45, rasterized=len(time) > _RASTER_READINGS)
    _frame_time(axes, time)
    if np.nanmin(kwh, initial=0.0) >= 0:
        axes.set_ylim(bottom=0)
    axes.set_ylabel("demand, kWh")
    return figure


def with_gaps(
    time: np.ndarray, kwh: np.ndarray, interval_minutes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Times and kWh, with a NaN wherever readings do not follow each other."""
    interval = np.timedelta64(interval_minutes * 60_000_000, "us")
    gaps = np.flatnonzero(np.diff(time) > interval)
    return np.insert(time, gaps + 1, time[gaps] + interval), np.insert(kwh, gaps + 1, np.nan)


def _frame_time(axes: "Axes", time: np.ndarray) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(minticks=4, maxticks=9)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))
    if len(time) > 1:
        axes.set_xlim(time[0], time[-1])
        first, last = (moment.astype("datetime64[s]").item() for moment in time[[0, -1]])
        axes.set_xlabel(f"{first.day} {first:%B %Y} to {last.day} {last:%B %Y}")
