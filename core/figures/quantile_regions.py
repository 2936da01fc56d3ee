"""Quantile regions of demand over the week."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.figures.canvas import TEXT, new_figure, style_axes
from core.figures.demand_summary import REGIONS, WeekQuantiles
from core.slots import DAYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the innermost region to the outermost.
_COLORS = ("#c2410c", "#f0813a", "#fbb878", "#fde5cc")


def draw_quantile_regions(
    weeks: Mapping[str, WeekQuantiles], *, width: float = 7.2, panel_height: float = 1.9
) -> "Figure":
    """Draw the weeks of several units one below the other, by their titles."""
    figure = new_figure(width, panel_height * len(weeks) + 0.5)
    grid = figure.subplots(len(weeks), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (title, week) in zip(grid, weeks.items(), strict=True):
        draw_week(axes, week, title=title)
        axes.label_outer()
    handles, names = grid[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside upper center", ncols=len(names), fontsize=TEXT, frameon=False
    )
    return figure


def draw_week(axes: "Axes", week: WeekQuantiles, *, title: str | None = None) -> None:
    """Draw the regions of the readings of each slot, and the median."""
    style_axes(axes, title=title)
    # A region reaches to the end of the week's last slot, where Monday's first one follows.
    days = np.append(week.days, 7.0)
    regions = zip(REGIONS, week.low, week.high, _COLORS, strict=True)
    for region, low, high, color in reversed(list(regions)):
        axes.fill_between(
            days, _close(low), _close(high), color=color, linewidth=0, label=f"{region} %", zorder=2
        )
    axes.plot(days, _close(week.median), color="#1c1917", linewidth=0.9, label="median", zorder=3)
    for day in range(1, 7):
        axes.axvline(day, color="#57534e", linewidth=0.5, alpha=0.55, zorder=2.5)
    axes.set_xlim(0, 7)
    if np.nanmin(week.low, initial=0.0) >= 0:
        axes.set_ylim(bottom=0)
    axes.set_xticks(np.arange(7) + 0.5, labels=DAYS)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("demand, kWh")


def _close(values: np.ndarray) -> np.ndarray:
    return np.append(values, values[0])
