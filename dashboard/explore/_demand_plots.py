"""The demand behind a point, drawn with Bokeh.

Each figure is made once and shown other data whenever another point is looked at: that takes
milliseconds, where making a figure takes a good part of a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import (
    BoxZoomTool,
    HoverTool,
    PanTool,
    Range1d,
    ResetTool,
)

from core.figures.demand_summary import REGIONS, WeekQuantiles, demand_curve
from core.figures.readings_series import with_gaps
from core.scene.palette import OTHERS, TYPICAL
from core.slots import slot_labels
from dashboard.small_figures import (
    SELECTED,
    empty_source,
    make_figure,
    make_week_figure,
    quiet_legend,
    strips,
    unbroken,
)

_THIS_SLOT = "#d55e00"
_SIMILAR = "#5f6773"

_BARS = 60
# The tail beyond this share of the readings is gathered in the last bar.
_SEEN = 0.995
# The regions of the week from the narrowest to the widest.
_REGION_ALPHAS = (0.8, 0.5, 0.3, 0.15)


@dataclass(frozen=True, eq=False)
class Population:
    """How the demand of all households is distributed.

    Attributes
    ----------
    edges : ndarray of shape (bins − 1,)
        In kWh, increasing; bins are closed on the right and the last is open.
    counts : ndarray of shape (bins,)
        Readings in each.
    """

    edges: np.ndarray
    counts: np.ndarray

    def shares(self, edges: np.ndarray) -> np.ndarray:
        """Percent of the readings between other edges; within a bin they are spread evenly.

        What is below the first edge or above the last counts in the first or last share.
        """
        below = np.cumsum(self.counts) / self.counts.sum()
        low, high = min(edges[0], 0.0), max(edges[-1], 2 * self.edges[-1])
        known = np.interp(edges[1:-1], [low, *self.edges, high], [0.0, *below])
        return 100 * np.diff([0.0, *known, 1.0])


def bar_edges(samples: Sequence[np.ndarray]) -> np.ndarray:
    """Edges, in kWh, of bars that suit all samples."""
    top = max(float(np.quantile(kwh, _SEEN)) for kwh in samples) or 1.0
    return np.linspace(min(0.0, *(float(kwh.min()) for kwh in samples)), top, _BARS + 1)


def bar_shares(kwh: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Percent of the readings in each bar; the last takes what is beyond it."""
    return 100 * np.histogram(np.clip(kwh, edges[0], edges[-1]), edges)[0] / len(kwh)


class DistributionFigure:
    """The demand of a point as bars and density, over the population's and a typical point's.

    ``interval`` is what the time of one reading is called.
    """

    def __init__(self, interval: str, *, height: int = 205, legend: bool = True) -> None:
        self.bars = empty_source("low", "high", "share")
        self.curve, self.everyone, self.typical = (
            empty_source("x", "y"),
            empty_source("x", "y"),
            empty_source("x", "y"),
        )
        plot = make_figure(height, x_range=Range1d(start=0, end=1))
        plot.xaxis.axis_label, plot.yaxis.axis_label = f"kWh per {interval}", "readings, %"
        bars = plot.quad(
            left="low",
            right="high",
            top="share",
            bottom=0,
            source=self.bars,
            fill_color=SELECTED,
            fill_alpha=0.4,
            line_color=None,
        )
        everyone = plot.line("x", "y", source=self.everyone, color=OTHERS, line_width=1.5)
        typical = plot.line("x", "y", source=self.typical, color=TYPICAL, line_width=1.5)
        plot.line("x", "y", source=self.curve, color=SELECTED, line_width=2)
        plot.add_tools(
            HoverTool(
                renderers=[bars],
                tooltips=[
                    ("demand", "@low{0.000}–@high{0.000} kWh"),
                    ("readings", "@share{0.00} %"),
                ],
            )
        )
        if legend:
            items = [("this point", [bars]), ("most typical", [typical]), ("all", [everyone])]
            plot.add_layout(quiet_legend(items), "above")
        self.figure = plot

    def show(
        self,
        kwh: np.ndarray,
        population: Population,
        *,
        typical: np.ndarray | None = None,
        edges: np.ndarray | None = None,
        top: float | None = None,
    ) -> None:
        """Draw readings in kWh.

        Parameters
        ----------
        typical : ndarray, optional
            Readings of the most typical point.
        edges : ndarray, optional
            Of the bars; by default they suit what is drawn.
        top : float, optional
            Where the vertical axis ends, in percent.
        """
        if edges is None:
            edges = bar_edges([kwh] if typical is None else [kwh, typical])
        shares = bar_shares(kwh, edges)
        values, density = demand_curve(kwh)
        seen = values <= edges[-1]
        self.bars.data = {
            "low": edges[:-1].tolist(),
            "high": edges[1:].tolist(),
            "share": shares.tolist(),
        }
        self.curve.data = {
            "x": values[seen],
            "y": 100 * (edges[1] - edges[0]) * density[seen],
        }
        self.everyone.data = _outline(edges, population.shares(edges))
        self.typical.data = (
            {"x": [], "y": []} if typical is None else _outline(edges, bar_shares(typical, edges))
        )
        self.figure.x_range.update(start=float(edges[0]), end=float(edges[-1]))
        # A typical point that is far more peaked may be cut off, lest it flatten this one.
        highest = float(shares.max())
        beside = 0.0 if typical is None else float(bar_shares(typical, edges).max())
        self.figure.y_range.end = top or 1.08 * max(highest, min(beside, 2 * highest), 1.0)


def _outline(edges: np.ndarray, shares: np.ndarray) -> dict[str, list[float]]:
    return {"x": np.repeat(edges, 2)[1:-1].tolist(), "y": np.repeat(shares, 2).tolist()}


class WeekFigure:
    """The quantile regions of demand over the week, and the median."""

    def __init__(self, *, height: int = 220, legend: bool = True) -> None:
        regions = [f"{end}{region}" for region in REGIONS for end in ("low", "high")]
        self.week = empty_source("day", "median", "slot", *regions)
        self.windows, self.slot = empty_source("left", "right"), empty_source("left", "right")
        self.similar = empty_source("day", "kwh")
        plot = make_week_figure(height)
        plot.vstrip(
            x0="left", x1="right", source=self.windows, color=SELECTED, alpha=0.14, line_alpha=0
        )
        bands = []
        for region, alpha in zip(REGIONS[::-1], _REGION_ALPHAS[::-1], strict=True):
            band = plot.varea(
                "day",
                f"low{region}",
                f"high{region}",
                source=self.week,
                color=TYPICAL,
                fill_alpha=alpha,
            )
            bands.append((f"{region} %", [band]))
        plot.vstrip(
            x0="left", x1="right", source=self.slot, color=_THIS_SLOT, alpha=0.75, line_alpha=0
        )
        similar = plot.line("day", "kwh", source=self.similar, color=_SIMILAR, line_width=1.6)
        median = plot.line("day", "median", source=self.week, color=SELECTED, line_width=1.4)
        plot.add_tools(
            HoverTool(
                renderers=[median],
                mode="vline",
                tooltips=[
                    ("", "@slot"),
                    ("median", "@median{0.000} kWh"),
                    ("99 %", f"@low{REGIONS[-1]}{{0.000}}–@high{REGIONS[-1]}{{0.000}} kWh"),
                ],
            )
        )
        if legend:
            lines = [("median", [median]), ("similar", [similar])]
            plot.add_layout(quiet_legend([*lines, *bands[::-1]]), "above")
        self.figure = plot

    def show_similar(self, week: WeekQuantiles | None) -> None:
        """Draw the median of similar homes; None takes it away."""
        if week is None:
            self.similar.data = {"day": [], "kwh": []}
        else:
            middle = week.interval_minutes / (24 * 60) / 2
            self.similar.data = {"day": week.days + middle, "kwh": week.median}

    def show(
        self,
        week: WeekQuantiles,
        *,
        slot: int | None = None,
        window: np.ndarray | None = None,
        top: float | None = None,
    ) -> None:
        """Draw a household's week.

        Parameters
        ----------
        slot : int, optional
            The half-hour that is looked at, marked.
        window : ndarray of int, optional
            Slots in which the point differs most from what its neighbours suggest, shaded.
        top : float, optional
            Where the vertical axis ends, in kWh.
        """
        length = week.interval_minutes / (24 * 60)
        data: dict[str, Any] = {
            "day": week.days + length / 2,
            "median": week.median,
            "slot": slot_labels(np.arange(len(week.median)), week.interval_minutes),
        }
        for place, region in enumerate(REGIONS):
            data[f"low{region}"], data[f"high{region}"] = week.low[place], week.high[place]
        self.week.data = data
        everywhere = window is None or len(window) == len(week.median)
        spans = [] if everywhere or window is None else unbroken(window)
        self.windows.data = strips(spans, length)
        self.slot.data = strips([] if slot is None else [(slot, slot)], length)
        highest, lowest = np.nanmax(week.high[-1]), np.nanmin(week.low[-1])
        self.figure.y_range.update(
            start=min(0.0, float(lowest)), end=top or 1.05 * float(highest) or 1.0
        )


class SeriesFigure:
    """Readings as they were taken; intervals without one are gaps."""

    def __init__(self) -> None:
        self.line = empty_source("time", "kwh")
        plot = make_figure(170, x_axis_type="datetime", x_range=Range1d(start=0, end=1))
        plot.yaxis.axis_label = "demand, kWh"
        plot.line("time", "kwh", source=self.line, color=SELECTED, line_width=0.8)
        # The wheel scrolls the panel; a tool of the toolbar zooms.
        plot.add_tools(BoxZoomTool(dimensions="width"), PanTool(dimensions="width"), ResetTool())
        plot.toolbar.active_drag = None
        plot.toolbar_location, plot.toolbar.logo = "right", None
        plot.toolbar.autohide = True
        self.figure = plot

    def show(self, readings: pd.DataFrame, interval_minutes: int) -> None:
        """Draw a household's ``time`` and ``kwh``."""
        time, kwh = with_gaps(
            readings["time"].to_numpy(), readings["kwh"].to_numpy(), interval_minutes
        )
        self.line.data = {"time": time, "kwh": kwh}
        ends = time[[0, -1]].astype("datetime64[ms]").astype(float)
        first, last = (float(end) for end in ends)
        self.figure.x_range.update(start=first, end=last, reset_start=first, reset_end=last)
        self.figure.y_range.update(
            start=min(0.0, float(np.nanmin(kwh))), end=1.05 * float(np.nanmax(kwh)) or 1.0
        )
