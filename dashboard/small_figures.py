"""Small Bokeh figures beside the map: what they have in common.

Each figure is made once and shown other data later: that takes milliseconds, where making a figure
takes a good part of a second.
"""

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, DatetimeTicker, FixedTicker, Range1d
from bokeh.models.annotations import Legend
from bokeh.plotting import figure

from core.slots import DAYS

# A blue that reads on white and on black.
SELECTED = "#3b82f6"


def empty_source(*columns: str) -> ColumnDataSource:
    """A source to be filled later."""
    return ColumnDataSource({name: [] for name in columns})


def make_figure(height: int, **options: Any) -> Any:
    """A small plot without tools, as wide as there is room."""
    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools=[],
        min_border=4,
        # Half of the last tick's label; dates are long.
        min_border_right=28 if options.get("x_axis_type") == "datetime" else 18,
        outline_line_color=None,
        frame_align=False,  # each as wide as its own labels leave room
        y_range=Range1d(start=0, end=1),
        **options,
    )
    plot.grid.grid_line_alpha = 0.3
    for axis in plot.axis:
        axis.axis_label_text_font_size = "8.5pt"
        axis.major_label_text_font_size = "8pt"
        axis.axis_label_standoff = 3
    if options.get("x_axis_type") == "datetime":
        plot.xaxis.ticker = DatetimeTicker(desired_num_ticks=4)  # dates are long
    return plot


def quiet_legend(items: list[tuple[str, list[Any]]]) -> Legend:
    """A legend without a frame, in one line."""
    return Legend(
        items=items,
        orientation="horizontal",
        location="top_right",
        border_line_alpha=0.0,
        background_fill_alpha=0.0,
        label_text_font_size="8pt",
        glyph_width=11,
        label_standoff=3,
        glyph_height=12,
        label_height=12,
        padding=0,  # type: ignore[arg-type]  # the stub knows no plain number
        spacing=3,
        margin=2,
    )


def make_week_figure(height: int) -> Any:
    """A small plot whose horizontal axis is the week, in days."""
    plot = make_figure(height, x_range=Range1d(start=0, end=7))
    plot.yaxis.axis_label = "demand, kWh"
    plot.xaxis.ticker = FixedTicker(ticks=[day + 0.5 for day in range(7)])
    plot.xaxis.major_label_overrides = {day + 0.5: name for day, name in enumerate(DAYS)}
    plot.xgrid.ticker = FixedTicker(ticks=list(range(8)))
    plot.xgrid.grid_line_alpha = 0.9
    plot.xaxis.major_tick_line_alpha = 0
    return plot


def unbroken(slots: np.ndarray) -> list[tuple[int, int]]:
    """First and last of each unbroken run of slots."""
    ordered = np.sort(slots)
    breaks = np.flatnonzero(np.diff(ordered) > 1)
    firsts, lasts = ordered[np.r_[0, breaks + 1]], ordered[np.r_[breaks, len(ordered) - 1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def strips(spans: list[tuple[int, int]], length: float) -> dict[str, list[float]]:
    """Return the columns of strips over spans of slots, each ``length`` days long."""
    return {
        "left": [first * length for first, _ in spans],
        "right": [(last + 1) * length for _, last in spans],
    }
