"""The evidence behind an anomaly and the calendar of a home, drawn with Bokeh."""

from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.models import (
    BoxZoomTool,
    CustomJSTickFormatter,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    Range1d,
    ResetTool,
)
from bokeh.models.annotations import ColorBar
from bokeh.palettes import Magma256

from core.figures.anomaly_evidence import AnomalyEvidence
from core.figures.calendar import CHANGE, GAP, DemandCalendar
from core.scene.palette import OTHERS
from dashboard.small_figures import (
    SELECTED,
    empty_source,
    make_figure,
    quiet_legend,
    unbroken,
)

_DAY_MS = 86_400_000
_CLOCK = "return `${String(tick).padStart(2, '0')}:00`"


def _milliseconds(days: Any) -> np.ndarray:
    return np.asarray(days).astype("datetime64[ms]").astype(np.float64)


class MeanDayFigure:
    """A home's mean day against what is expected of it."""

    def __init__(self) -> None:
        self.lines = empty_source("hour", "own", "usual", "clock")
        self.hours = empty_source("left", "right")
        plot = make_figure(165, x_range=Range1d(start=0, end=24))
        plot.yaxis.axis_label = "kWh per half-hour"
        plot.xaxis.ticker = FixedTicker(ticks=list(range(0, 25, 6)))
        plot.xaxis.formatter = CustomJSTickFormatter(code=_CLOCK)
        plot.vstrip(
            x0="left", x1="right", source=self.hours, color=SELECTED, alpha=0.12, line_alpha=0
        )
        usual = plot.step(
            "hour", "usual", source=self.lines, color=OTHERS, line_width=2, mode="after"
        )
        own = plot.step(
            "hour", "own", source=self.lines, color=SELECTED, line_width=2, mode="after"
        )
        plot.add_tools(
            HoverTool(
                renderers=[own],
                mode="vline",
                tooltips=[("", "@clock"), ("this", "@own{0.000}"), ("usual", "@usual{0.000} kWh")],
            )
        )
        self.legend: Any = quiet_legend([("this home", [own]), ("expected", [usual])])
        plot.add_layout(self.legend, "above")
        self.figure = plot

    def show(self, evidence: AnomalyEvidence) -> None:
        """Draw the two days of a finding."""
        hour = np.arange(49) / 2
        clock = [f"{half // 2:02d}:{half % 2 * 30:02d}" for half in range(48)]
        closed = [np.append(day, day[-1]) for day in (evidence.own, evidence.usual)]
        self.lines.data = {
            "hour": hour,
            "own": closed[0],
            "usual": closed[1],
            "clock": [*clock, "24:00"],
        }
        spans = unbroken(np.flatnonzero(evidence.hours)) if evidence.hours.any() else []
        self.hours.data = {
            "left": [first / 2 for first, _ in spans],
            "right": [(last + 1) / 2 for _, last in spans],
        }
        names = (evidence.own_name, evidence.usual_name)
        for item, name in zip(self.legend.items, names, strict=True):
            item.label = value(name)
        high = float(np.nanmax([*closed[0], *closed[1]]))
        low = float(np.nanmin([*closed[0], *closed[1], 0.0]))
        self.figure.y_range.update(start=1.08 * low, end=1.08 * high or 1.0)


class DailyFigure:
    """A home's demand day by day, what is expected, and the day on which it changed."""

    def __init__(self) -> None:
        self.days = empty_source("day", "kwh")
        self.expected = empty_source("x", "y")
        self.since = empty_source("x")
        plot = make_figure(140, x_axis_type="datetime", x_range=Range1d(start=0, end=1))
        expected = plot.line("x", "y", source=self.expected, color=OTHERS, line_width=2)
        dots = plot.scatter("day", "kwh", source=self.days, size=3.5, color=SELECTED, alpha=0.7)
        plot.line("day", "kwh", source=self.days, color=SELECTED, line_width=0.7, alpha=0.6)
        plot.vspan("x", source=self.since, line_color=CHANGE, line_width=1.6)
        plot.add_tools(
            HoverTool(
                renderers=[dots],
                tooltips=[("", "@day{%a %-d %b %Y}"), ("", "@kwh{0.00} kWh")],
                formatters={"@day": "datetime"},
            )
        )
        plot.add_layout(quiet_legend([("this home", [dots]), ("expected", [expected])]), "above")
        self.figure = plot

    def show(self, evidence: AnomalyEvidence) -> None:
        """Draw the days of a finding."""
        when = _milliseconds(evidence.days)
        self.days.data = {"day": when, "kwh": evidence.kwh}
        ends = [float(when[0]), float(when[-1]) + _DAY_MS]
        known = np.isfinite(evidence.expected_kwh)
        self.expected.data = (
            {"x": ends, "y": [evidence.expected_kwh] * 2} if known else {"x": [], "y": []}
        )
        changed = not np.isnat(evidence.since)
        self.since.data = {"x": [float(_milliseconds(evidence.since))] if changed else []}
        self.figure.x_range.update(start=ends[0], end=ends[1])
        highest = np.nanmax([*evidence.kwh, *([evidence.expected_kwh] if known else [])])
        lowest = min(0.0, float(np.nanmin(evidence.kwh)))
        self.figure.y_range.update(start=lowest, end=1.08 * float(highest) or 1.0)
        self.figure.yaxis.axis_label = evidence.daily_name


class CalendarFigure:
    """Every day a column, every half-hour a row, demand as colour; gaps are grey."""

    def __init__(self) -> None:
        self.image = empty_source("image", "x", "y", "dw", "dh")
        self.since = empty_source("x")
        plot = make_figure(215, x_axis_type="datetime", x_range=Range1d(start=0, end=1))
        # The day runs from top to bottom, as in a diary.
        plot.y_range.update(start=24, end=0)
        plot.yaxis.ticker = FixedTicker(ticks=[0, 6, 12, 18, 24])
        plot.yaxis.formatter = CustomJSTickFormatter(code=_CLOCK)
        plot.grid.visible = False
        self.colors = LinearColorMapper(palette=Magma256[::-1], low=0, high=1, nan_color=GAP)
        image: Any = plot.image(
            image="image",
            x="x",
            y="y",
            dw="dw",
            dh="dh",
            source=self.image,
            color_mapper=self.colors,
        )
        plot.vspan("x", source=self.since, line_color=CHANGE, line_width=2)
        plot.add_tools(
            HoverTool(
                renderers=[image],
                tooltips=[("", "$x{%a %-d %b %Y}"), ("", "@image{0.000} kWh")],
                formatters={"$x": "datetime"},
            ),
            BoxZoomTool(dimensions="width"),
            ResetTool(),
        )
        plot.toolbar.active_drag = None
        plot.toolbar_location, plot.toolbar.logo, plot.toolbar.autohide = "right", None, True
        plot.add_layout(
            ColorBar(
                color_mapper=self.colors,
                width=8,
                padding=4,
                major_label_text_font_size="8pt",
                background_fill_alpha=0,
            ),
            "right",
        )
        self.figure = plot

    def show(self, calendar: DemandCalendar, since: np.datetime64 | None = None) -> None:
        """Draw a home's calendar, with the day on which its demand changed."""
        first, last = (float(day) for day in _milliseconds(calendar.days[[0, -1]]))
        self.image.data = {
            "image": [calendar.kwh.T.astype(np.float32)],
            "x": [first],
            "y": [0.0],
            "dw": [last + _DAY_MS - first],
            "dh": [24.0],
        }
        low, high = calendar.color_range
        self.colors.update(low=low, high=high)
        self.since.data = {"x": [] if since is None else [float(_milliseconds(since))]}
        end = last + _DAY_MS
        self.figure.x_range.update(start=first, end=end, reset_start=first, reset_end=end)
