"""A household's calendar: every day a column, every time of day a row, demand as colour."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InputError
from core.figures.canvas import TEXT, new_figure, style_axes
from core.slots import slots_per_week

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = "#b8bcc4"
CHANGE = "#1450c8"
COLORMAP = "magma_r"

# The colours end at this share of the readings: a single kettle does not make all else pale.
_BRIGHTEST = 0.99


@dataclass(frozen=True, eq=False)
class DemandCalendar:
    """Demand by day and time of day.

    Attributes
    ----------
    days : ndarray of datetime64[D], shape (days,)
        Every day from the first with a reading to the last.
    kwh : ndarray of shape (days, slots of a day)
        NaN where there is no reading; the mean of the readings that share a slot, as in the hour
        that the clocks repeat in autumn.
    interval_minutes : int
        Minutes a slot.
    """

    days: np.ndarray
    kwh: np.ndarray
    interval_minutes: int

    @property
    def hours(self) -> np.ndarray:
        """When each slot starts, in hours of the day, (slots of a day,)."""
        return np.arange(self.kwh.shape[1]) * self.interval_minutes / 60

    @property
    def color_range(self) -> tuple[float, float]:
        """The kWh at which the colours begin and end: 99 % of the readings lie within."""
        low, high = np.nanquantile(self.kwh, [1 - _BRIGHTEST, _BRIGHTEST])
        low = min(float(low), 0.0)
        # One value over and over has no range; a watt-hour is how finely meters tell demand.
        return low, max(float(high), low + 0.001)


def demand_calendar(times: np.ndarray, kwh: np.ndarray, interval_minutes: int) -> DemandCalendar:
    """Arrange readings by day and time of day.

    Parameters
    ----------
    times : ndarray of datetime64, shape (n,)
        Local times at which the intervals start, in any order.
    kwh : ndarray of shape (n,)
    interval_minutes : int
        Minutes a reading.
    """
    times, kwh = np.asarray(times).astype("datetime64[m]"), np.asarray(kwh, np.float64)
    if len(times) != len(kwh):
        raise InputError(f"there are {len(times)} times for {len(kwh)} readings")
    if not len(times):
        raise InputError("there are no readings to look at; choose a household that has some")
    per_day = slots_per_week(interval_minutes) // 7
    day = times.astype("datetime64[D]")
    first = day.min()
    row = (day - first).astype(np.int64)
    slot = (times - day).astype(np.int64) // interval_minutes
    cell = row * per_day + slot
    size = (int(row.max()) + 1) * per_day
    sums, readings = np.bincount(cell, kwh, size), np.bincount(cell, minlength=size)
    mean = np.divide(sums, readings, out=np.full(size, np.nan), where=readings > 0)
    return DemandCalendar(
        days=first + np.arange(size // per_day),
        kwh=mean.reshape(-1, per_day),
        interval_minutes=interval_minutes,
    )


def draw_calendar(
    calendar: DemandCalendar,
    *,
    change: date | None = None,
    title: str | None = None,
    size: tuple[float, float] = (7.2, 2.6),
) -> "Figure":
    """Draw a calendar: days from left to right, the day from top to bottom, gaps grey.

    Parameters
    ----------
    calendar : DemandCalendar
    change : date, optional
        The day on which demand changed, marked by a line.
    title : str, optional
    size : (float, float)
        Width and height in inches.
    """
    figure = new_figure(*size)
    axes = figure.add_subplot()
    style_axes(axes, title=title)
    legend = paint_calendar(axes, calendar, change=change)
    if legend:
        figure.legend(
            handles=legend, loc="outside lower right", ncols=2, fontsize=TEXT - 1, frameon=False
        )
    return figure


def paint_calendar(
    axes: "Axes", calendar: DemandCalendar, *, change: date | None = None
) -> list["Artist"]:
    """Draw a calendar into axes, with its colour bar; return what a legend has to tell."""
    from matplotlib import colormaps
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
    from matplotlib.patches import Patch

    axes.set_facecolor(GAP)
    low, high = calendar.color_range
    begin, end = (float(date2num(day)) for day in (calendar.days[0], calendar.days[-1] + 1))
    image = axes.imshow(
        np.ma.masked_invalid(calendar.kwh.T),
        cmap=colormaps[COLORMAP],
        vmin=low,
        vmax=high,
        aspect="auto",
        interpolation="nearest",
        extent=(begin, end, 24.0, 0.0),
    )
    axes.xaxis_date()
    locator = AutoDateLocator(minticks=3, maxticks=9)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))
    axes.set_yticks([0, 6, 12, 18, 24], labels=["00:00", "06:00", "12:00", "18:00", "24:00"])
    bar = axes.get_figure(root=True).colorbar(  # type: ignore[union-attr]  # drawn into a figure
        image, ax=axes, extend="max", pad=0.015, fraction=0.04
    )
    bar.set_label(f"kWh per {calendar.interval_minutes} minutes", fontsize=TEXT - 1)
    bar.ax.tick_params(labelsize=TEXT - 1)
    legend: list[Artist] = []
    if np.isnan(calendar.kwh).any():
        legend.append(Patch(color=GAP, label="no reading"))
    if change is not None:
        line = axes.axvline(
            float(date2num(change)), color=CHANGE, linewidth=1.4, label=f"change on {change}"
        )
        legend.append(line)
    return legend
