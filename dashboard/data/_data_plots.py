"""Pictures of the Data tab: pure functions from data to HoloViews elements."""

from collections.abc import Sequence
from typing import Any

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import BasicTicker, CustomJSHover, CustomJSTickFormatter, HoverTool
from bokeh.palettes import viridis

from core.readings.coverage import Coverage, PooledCoverage
from core.runs.overview import ReferenceDistribution
from core.slots import DAYS, MINUTES_PER_DAY, slot_labels

BLUE = "#3b82f6"
GREY = "#7d828b"

# The bluer part of viridis, turned round: what is complete is calm, what is missing stands out.
COVERAGE_COLORS = viridis(256)[:79:-1]

_HEIGHT = 320
_FONT_SIZES = {"labels": "12px", "ticks": "11px", "legend": "11px", "clabel": "11px"}

# A grey that is seen on white and on black, and taken for no share of coverage.
NOT_METERED = "rgba(125, 130, 139, 0.22)"

# Demand that spans more than this many doublings is drawn on a logarithmic axis.
_LOG_DOUBLINGS = 4

_HOUSEHOLD_CODE = """
const first = Math.floor((special_vars.y + 0.5) / value) * value
const last = Math.min(first + value, names.length) - 1
return first >= last ? names[first] : `${names[first]} … ${names[last]} (${last - first + 1})`
"""
_TICK_CODE = """
const name = names[Math.round(tick)] ?? ""
return name.length > 14 ? `${name.slice(0, 13)}…` : name
"""
_DAY_CODE = """
const day = 24 * 3600 * 1000
const name = (place) => new Date(start + place * day).toLocaleDateString(
  "en-GB", {timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year: "numeric"})
const first = Math.floor((special_vars.x - start) / day / value) * value
const last = Math.min(first + value, days) - 1
return first >= last ? name(first) : `${name(first)} – ${name(last)}`
"""
_READINGS_CODE = """
return value < 0 ? "none: before the first or after the last one" : value.toLocaleString("en-GB")
"""


def coverage_plot(
    coverage: Coverage, pooled: PooledCoverage, names: Sequence[str], *, height: int = 420
) -> hv.Image:
    """Draw the share of readings there are, households × days.

    Parameters
    ----------
    pooled : PooledCoverage
        The part to draw.
    names : sequence of str
        All households' ids, from the top down.
    """
    rows, columns = pooled.readings.shape
    share = np.minimum(100 * pooled.readings / np.maximum(pooled.expected, 1), 100)
    share[~pooled.metered] = np.nan
    values = {
        "share": share.astype(np.float32),
        "readings": np.where(pooled.metered, pooled.readings, -1).astype(np.int32),
        "expected": pooled.expected.astype(np.int32),
        "households": np.full((rows, columns), pooled.households_each, np.uint16),
        "days": np.full((rows, columns), pooled.days_each, np.uint16),
    }
    day = np.timedelta64(24 * 60, "m")
    first_day = coverage.first_day.astype("datetime64[m]")
    left = first_day + pooled.days[0] * day
    width = pooled.days_each * day
    # Row n is centred on n, where its tick is.
    bottom = pooled.households[0] - 0.5
    grid = {
        "day": left + width * np.arange(columns) + width // 2,
        "household": bottom + pooled.households_each * (np.arange(rows) + 0.5),
        **values,
    }
    bounds = (left, bottom, left + columns * width, bottom + rows * pooled.households_each)
    days = len(coverage.expected)
    start = float(first_day.astype("datetime64[ms]").astype(np.int64))
    hover = HoverTool(
        tooltips=[
            ("household", "@households{custom}"),
            ("day", "@days{custom}"),
            ("readings", "@readings{custom}"),
            ("expected", "@expected{0,0}"),
        ],
        formatters={
            "@households": CustomJSHover(args={"names": list(names)}, code=_HOUSEHOLD_CODE),
            "@days": CustomJSHover(args={"start": start, "days": days}, code=_DAY_CODE),
            "@readings": CustomJSHover(code=_READINGS_CODE),
        },
    )
    return hv.Image(grid, ["day", "household"], list(values), bounds=bounds).opts(
        cmap=COVERAGE_COLORS,
        clim=(0, 100),
        clipping_colors={"NaN": NOT_METERED},
        colorbar=True,
        clabel="% of expected",
        colorbar_opts={"width": 12, "ticker": BasicTicker(desired_num_ticks=5)},
        xlabel="day",
        ylabel="household",
        yticks=BasicTicker(min_interval=1, desired_num_ticks=8, num_minor_ticks=0),
        yformatter=CustomJSTickFormatter(args={"names": list(names)}, code=_TICK_CODE),
        invert_yaxis=True,
        responsive=True,
        fontsize=_FONT_SIZES,
        height=height,
        default_tools=["pan", "wheel_zoom", "box_zoom", "reset"],
        active_tools=["box_zoom"],
        tools=[hover],
        backend_opts={"plot.toolbar.logo": None},
    )


def rows_in(y_range: tuple[float, float] | None) -> tuple[int, int] | None:
    """Return the rows, start and stop, that a range of the coverage's vertical axis shows."""
    if y_range is None or None in y_range:
        return None
    low, high = sorted(y_range)
    return int(np.floor(low + 0.5)), int(np.ceil(high + 0.5))


def days_in(x_range: tuple[Any, Any] | None, first_day: np.datetime64) -> tuple[int, int] | None:
    """Return the columns, start and stop, that a range of times shows."""
    if x_range is None or None in x_range:
        return None
    low, high = (
        (pd.Timestamp(time) - pd.Timestamp(first_day)) / pd.Timedelta(days=1) for time in x_range
    )
    return int(np.floor(low)), int(np.ceil(high))


def coverage_height(households: int) -> int:
    """Return how many pixels the coverage of so many households takes."""
    return int(np.clip(110 + 12 * households, 200, 460))


def demand_plot(reference: ReferenceDistribution) -> hv.Rectangles:
    """Draw the bins of the reference readings as boxes whose area is the share they hold.

    On the logarithmic axis a height is the share a doubling of demand would hold, on the linear
    one the share of a kWh.
    """
    edges = np.concatenate([[reference.lowest], reference.edges, [reference.highest]])
    logarithmic = uses_log_axis(reference)
    table = pd.DataFrame(
        {
            "bin": np.arange(1, reference.n_bins + 1),
            "low": edges[:-1],
            "high": edges[1:],
            "readings": reference.readings,
            "share": 100 * reference.share,
        }
    )
    table = table[drawn_bins(reference)]
    if logarithmic:
        # The lowest reading may be 0: the first box is drawn from a doubling below its end on.
        first = max(reference.lowest, table["high"].iloc[0] / 2)
        table["left"] = np.maximum(table["low"], first)
        width = np.log2(table["high"] / table["left"])
        unit = "readings, % per doubling of demand"
    else:
        table["left"] = table["low"]
        width = table["high"] - table["low"]
        unit = "readings, % per kWh"
    table = table.assign(top=table["share"] / width, bottom=0.0)
    hover = HoverTool(
        tooltips=[
            ("bin", f"@bin of {reference.n_bins}"),
            ("demand", "over @low{0.000} to @high{0.000} kWh"),
            ("readings", "@readings{0,0} (@share{0.00} %)"),
        ]
    )
    boxes = hv.Rectangles(
        table,
        ["left", "bottom", "high", "top"],
        ["bin", "low", "readings", "share"],
    ).opts(
        fill_color=BLUE,
        fill_alpha=0.35,
        line_color=BLUE,
        line_width=0.8,
        hover_fill_alpha=0.8,
        tools=[hover],
    )
    ceiling = 1.06 * float(table["top"].max())
    left, right = float(table["left"].min()), float(edges[-1] if logarithmic else 1.3 * edges[-2])
    return boxes.opts(
        responsive=True,
        fontsize=_FONT_SIZES,
        height=_HEIGHT,
        logx=logarithmic,
        xlim=(left, right),
        xticks=decimal_ticks(left, right) if logarithmic else None,
        ylim=(0, ceiling),
        xlabel="demand per interval, kWh" + (" (logarithmic)" if logarithmic else ""),
        ylabel=unit,
        autohide_toolbar=True,
        default_tools=["pan", "wheel_zoom", "box_zoom", "reset"],
        active_tools=["box_zoom"],
    )


def uses_log_axis(reference: ReferenceDistribution) -> bool:
    """Whether demand spans so much that a linear axis would squeeze most of it.

    Never where a bin is below zero.
    """
    positive = reference.edges[reference.edges > 0]
    if not len(positive) or reference.edges[0] < 0:
        return False
    return bool(positive[-1] / positive[0] > 2**_LOG_DOUBLINGS)


def drawn_bins(reference: ReferenceDistribution) -> np.ndarray:
    """Which bins have a place on the axis and a width to be drawn with, (n_bins,) bool."""
    edges = np.concatenate([[reference.lowest], reference.edges, [reference.highest]])
    wide = np.diff(edges) > 0
    return wide & (edges[1:] > 0) if uses_log_axis(reference) else wide


def decimal_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, in plain numbers."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    places = (float(f"{step}e{power}") for power in powers for step in (1, 2, 5))
    return [(place, f"{place:g}") for place in places if low <= place <= high]


def slot_size_plot(sizes: np.ndarray, interval_minutes: int) -> hv.Overlay:
    """Draw how many readings the households have in each slot of the week.

    Parameters
    ----------
    sizes : ndarray of shape (5, slots)
        Minimum, 5 %, median, 95 % and maximum over households.
    """
    table = pd.DataFrame(dict(zip(("least", "low", "median", "high", "most"), sizes, strict=True)))
    table["slot"] = slot_labels(range(len(table)), interval_minutes)
    # Every slot is a step, as wide as it lasts.
    steps = table.loc[np.repeat(table.index, 2)].reset_index(drop=True)
    steps["day"] = (steps.index + 1) // 2 * interval_minutes / MINUTES_PER_DAY
    hover = HoverTool(
        tooltips=[
            ("", "@slot"),
            ("median", "@median{0,0.[0]} readings"),
            ("9 of 10 households", "@low{0,0.[0]} to @high{0,0.[0]}"),
            ("least and most", "@least{0,0} to @most{0,0}"),
        ],
        mode="vline",
        line_policy="prev",
    )
    band = {"line_alpha": 0, "color": BLUE}
    layers: list[hv.Element] = [
        hv.Area(steps, "day", ["least", "most"], label="all households").opts(
            fill_alpha=0.22, **band
        ),
        hv.Area(steps, "day", ["low", "high"], label="9 of 10").opts(fill_alpha=0.35, **band),
        hv.Curve(
            steps, "day", ["median", "slot", "least", "low", "high", "most"], label="median"
        ).opts(color=BLUE, line_width=2, tools=[hover]),
    ]
    layers += [hv.VLine(day).opts(color=GREY, line_width=0.6) for day in range(1, 7)]
    return hv.Overlay(layers).opts(
        responsive=True,
        fontsize=_FONT_SIZES,
        height=_HEIGHT,
        xticks=[(day + 0.5, name) for day, name in enumerate(DAYS)],
        xlim=(0, 7),
        ylim=(0, 1.12 * max(float(sizes.max()), 1.0)),
        xlabel="time of week",
        ylabel="readings of a household in a slot",
        legend_position="top",
        legend_cols=3,
        toolbar=None,
    )
