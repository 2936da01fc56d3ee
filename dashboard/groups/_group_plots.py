"""Two groups, drawn with Bokeh: their mean weeks, and how their readings are distributed."""

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import HoverTool, Range1d

from core.groups import GroupComparison
from core.slots import parse_slots, slot_labels
from dashboard.groups._sentences import clearest_hours
from dashboard.small_figures import (
    SELECTED,
    empty_source,
    make_figure,
    make_week_figure,
    quiet_legend,
    strips,
    unbroken,
)

_COLORS = (SELECTED, "#7f8794")
_MARK = "#e69f00"
# The last readings are cut off: they would flatten the others.
_SEEN = 0.98
_LONGEST_NAME = 24


class GroupWeekFigure:
    """The mean weeks of two groups, the middle half of their homes, the hours that differ most."""

    def __init__(self) -> None:
        bands = [f"{end}{side}" for side in (0, 1) for end in ("mean", "low", "high")]
        self.week = empty_source("day", "slot", *bands)
        self.marks = empty_source("left", "right")
        plot = make_week_figure(230)
        plot.yaxis.axis_label = "mean demand, kWh"
        plot.vstrip(x0="left", x1="right", source=self.marks, color=_MARK, alpha=0.22, line_alpha=0)
        lines = []
        for side in (1, 0):
            plot.varea(
                "day",
                f"low{side}",
                f"high{side}",
                source=self.week,
                color=_COLORS[side],
                fill_alpha=0.2,
            )
        for side in (1, 0):
            line = plot.line(
                "day", f"mean{side}", source=self.week, color=_COLORS[side], line_width=1.6
            )
            lines.append(line)
        plot.add_tools(
            HoverTool(
                renderers=[lines[1]],
                mode="vline",
                tooltips=[
                    ("", "@slot"),
                    ("group", "@mean0{0.000} kWh"),
                    ("other", "@mean1{0.000} kWh"),
                ],
            )
        )
        self.legend: Any = quiet_legend([("group", [lines[1]]), ("other", [lines[0]])])
        plot.add_layout(self.legend, "above")
        self.figure = plot

    def show(self, found: GroupComparison) -> None:
        """Draw a comparison."""
        minutes = found.interval_minutes
        length, n_slots = minutes / (24 * 60), 7 * 24 * 60 // minutes
        data: dict[str, Any] = {
            "day": (np.arange(n_slots) + 0.5) * length,
            "slot": slot_labels(np.arange(n_slots), minutes),
        }
        for side, band in enumerate(found.week):
            for name in ("mean", "low", "high"):
                whole = np.full(n_slots, np.nan)  # lines break where slots are not compared
                whole[found.slots] = getattr(band, name)
                data[f"{name}{side}"] = whole
        self.week.data = data
        marked = [parse_slots(text, minutes) for text in clearest_hours(found)["slots"]]
        spans = unbroken(np.concatenate(marked)) if marked else []
        self.marks.data = strips(spans, length)
        for item, name in zip(self.legend.items, found.names, strict=True):
            item.label = value(_short(name))
        highest = max(np.nanmax(data[f"high{side}"]) for side in (0, 1))
        highest = max(highest, *(np.nanmax(data[f"mean{side}"]) for side in (0, 1)))
        lowest = min(np.nanmin(data[f"low{side}"]) for side in (0, 1))
        self.figure.y_range.update(start=min(0.0, float(lowest)), end=1.05 * float(highest) or 1.0)


class GroupDistributionFigure:
    """The share of readings up to every demand, of two groups."""

    def __init__(self) -> None:
        self.sources = [empty_source("kwh", "share") for _ in range(2)]
        plot = make_figure(170, x_range=Range1d(start=0, end=1))
        plot.y_range.update(start=0, end=100)
        plot.xaxis.axis_label = "demand, kWh"
        plot.yaxis.axis_label = "readings up to it, %"
        for source, color in reversed(list(zip(self.sources, _COLORS, strict=True))):
            plot.step("kwh", "share", source=source, color=color, line_width=1.6, mode="after")
        self.figure = plot

    def show(self, found: GroupComparison) -> None:
        """Draw a comparison."""
        below = 100 * np.cumsum(found.shares, axis=1)[:, :-1]
        for source, share in zip(self.sources, below, strict=True):
            source.data = {"kwh": found.edges, "share": share}
        seen = np.flatnonzero(below.min(axis=0) >= 100 * _SEEN)
        last = found.edges[seen[0]] if len(seen) else found.edges[-1]
        self.figure.x_range.update(start=min(0.0, float(found.edges[0])), end=float(last) or 1.0)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
