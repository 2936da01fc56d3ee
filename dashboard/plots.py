"""Pure functions from data to HoloViews elements."""

from collections.abc import Mapping

import holoviews as hv
import numpy as np
import pandas as pd
from bokeh.models import HoverTool

from core.embedding import METHODS
from core.figures.palette import HDR_COLORS, OTHERS, TYPICAL
from core.profile import REGIONS, week_quantiles
from core.runs import Run
from core.slots import DAYS

# A blue that reads on white and on black; the print figures' own is too dark for the latter.
LABEL = "#3b82f6"

# Numbers of fewer values, such as occupants, are told apart better as categories.
MAXIMUM_CATEGORIES = 10


def map_plot(run: Run, values: pd.Series, *, color_by: str) -> hv.Overlay:
    """Draw the embedding, one marker a point, with the anomalies labelled.

    Parameters
    ----------
    values : Series of n values
        What colours the points: numbers or categories; missing values are a category of their own.
    """
    table = pd.DataFrame({"x": run.y[:, 0], "y": run.y[:, 1] if run.y.shape[1] > 1 else 0.0})
    table["label"] = run.units["label"].to_numpy()
    table["hdr"] = [f"{level} %" for level in run.hdr.labels]
    table["rank"] = run.hdr.rank
    table["m"] = run.units["m"].to_numpy()
    options: dict[str, object] = {"color": "value", "line_color": OTHERS, "line_width": 0.6}
    if color_by == "HDR":
        table["value"] = values.to_numpy()
        options |= {"cmap": dict(HDR_COLORS)}
    elif pd.api.types.is_numeric_dtype(values) and values.nunique() > MAXIMUM_CATEGORIES:
        table["value"] = values.to_numpy(dtype=float, na_value=np.nan)
        options |= {"cmap": "viridis", "colorbar": True, "clabel": color_by}
    else:
        table["value"] = values.astype("str").fillna("not known").to_numpy()
        options |= {"cmap": "Category10"}
    # Legends follow the order of the rows, and what is drawn last lies on top.
    table = table.sort_values("rank" if color_by == "HDR" else "value", ascending=color_by != "HDR")
    tooltips = [
        ("", "@label"),
        ("HDR", "@hdr"),
        ("anomaly rank", f"@rank{{0,0}} of {run.n:,}"),
        ("readings", "@m{0,0}"),
    ]
    if color_by != "HDR":
        tooltips.append((color_by, "@value"))
    points = hv.Points(table, ["x", "y"], ["value", "label", "hdr", "rank", "m"]).opts(
        size=float(np.clip(120 / np.sqrt(run.n), 3, 9)),
        tools=[HoverTool(tooltips=tooltips), "tap"],
        active_tools=["wheel_zoom"],
        nonselection_alpha=1.0,
        xlabel=f"{METHODS[run.config.method].title} 1",
        ylabel=f"{METHODS[run.config.method].title} 2",
        **options,
    )
    named = table[table["rank"] <= len(run.hdr.anomalies)]
    labels = hv.Labels(named, ["x", "y"], "label").opts(
        text_color=LABEL, text_font_size="9pt", yoffset=0.035 * (float(np.ptp(table["y"])) or 1.0)
    )
    return points * labels


def selection_ring(run: Run, row: int) -> hv.Points:
    """Ring the point that is looked at."""
    place = (run.y[row, 0], run.y[row, 1] if run.y.shape[1] > 1 else 0.0)
    return hv.Points([place]).opts(
        marker="circle", size=16, fill_color=None, line_color=LABEL, line_width=2.5
    )


def distribution_plot(groups: Mapping[str, np.ndarray], *, height: int = 210) -> hv.Overlay:
    """Draw distributions of demand over each other, as shares of their readings.

    Parameters
    ----------
    groups : mapping of name to readings in kWh
        The first is drawn filled, the others as outlines.
    """
    top = max(float(np.quantile(kwh, 0.995)) for kwh in groups.values()) or 1.0
    edges = np.linspace(min(0.0, min(kwh.min() for kwh in groups.values())), top, 61)
    layers: list[hv.Element] = []
    for (name, kwh), color in zip(groups.items(), (LABEL, TYPICAL, OTHERS), strict=False):
        share = 100 * np.histogram(np.minimum(kwh, top), edges)[0] / len(kwh)
        if not layers:
            layer = hv.Histogram((edges, share), label=name).opts(
                fill_color=color, fill_alpha=0.45, line_color=None
            )
        else:
            outline = (np.repeat(edges, 2)[1:-1], np.repeat(share, 2))
            layer = hv.Curve(outline, label=name).opts(color=color, line_width=1.5)
        layers.append(layer)
    return hv.Overlay(layers).opts(
        responsive=True,
        height=height,
        xlabel="demand per interval, kWh",
        ylabel="readings, %",
        legend_position="top_right",
        toolbar=None,
    )


def week_plot(readings: pd.DataFrame, interval_minutes: int, *, height: int = 230) -> hv.Overlay:
    """Draw the quantile regions of demand over the week, and the median."""
    times, kwh = readings["time"].to_numpy(), readings["kwh"].to_numpy()
    week = week_quantiles(times, kwh, interval_minutes)
    layers: list[hv.Element] = []
    for region, alpha in zip(range(len(REGIONS))[::-1], (0.15, 0.3, 0.5, 0.8), strict=True):
        band = (week.days, week.low[region], week.high[region])
        layers.append(
            hv.Area(band, vdims=["low", "high"], label=f"{REGIONS[region]} %").opts(
                color=TYPICAL, fill_alpha=alpha, line_alpha=0
            )
        )
    layers.append(hv.Curve((week.days, week.median), label="median").opts(color=LABEL))
    layers += [hv.VLine(day).opts(color=OTHERS, line_width=0.6) for day in range(1, 7)]
    return hv.Overlay(layers).opts(
        responsive=True,
        height=height,
        xticks=[(day + 0.5, name) for day, name in enumerate(DAYS)],
        xlim=(0, 7),
        xlabel="",
        ylabel="demand, kWh",
        legend_position="top",
        legend_cols=5,
        toolbar=None,
    )
