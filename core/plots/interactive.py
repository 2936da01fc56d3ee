"""Results as HoloViews objects, drawn with Bokeh: to zoom and hover over in a notebook."""

from datetime import date

import holoviews as hv
import numpy as np

from core.figures.anomaly_evidence import AnomalyEvidence
from core.figures.calendar import CHANGE, COLORMAP, GAP, DemandCalendar
from core.scene import MapScene
from core.scene.holoviews_map import draw_map
from core.scene.palette import OTHERS
from core.theme import LIGHT

WIDTH, HEIGHT = 640, 460
_TITLE = "9pt"
_CLOCK = [(hour, f"{hour:02d}:00") for hour in range(0, 25, 6)]


def map_plot(scene: MapScene) -> hv.DynamicMap:
    """Draw a map with equal scales on both axes."""
    _use_bokeh()
    sized = hv.opts.Points(width=WIDTH, height=HEIGHT, responsive=False, backend="bokeh")
    return draw_map(scene).opts(sized)


def calendar_plot(
    calendar: DemandCalendar, *, change: date | None = None, title: str | None = None
) -> hv.Overlay:
    """Draw days from left to right, the day from top to bottom, gaps grey."""
    _use_bokeh()
    days = calendar.days.astype("datetime64[ns]")
    hours = calendar.hours + calendar.interval_minutes / 120
    unit = f"kWh per {calendar.interval_minutes} minutes"
    picture = hv.Image((days, hours, calendar.kwh.T), ["day", "hour"], hv.Dimension("kwh"))
    picture = picture.opts(
        cmap=COLORMAP,
        clim=calendar.color_range,
        clipping_colors={"NaN": GAP},
        colorbar=True,
        clabel=unit,
        invert_yaxis=True,
        ylim=(0, 24),
        yticks=_CLOCK,
        tools=["hover"],
        width=WIDTH,
        height=HEIGHT // 2,
        title=title or "",
        fontsize={"title": _TITLE},
        backend="bokeh",
    )
    changes = [] if change is None else [np.datetime64(change, "ns")]
    return picture * hv.VLines(changes).opts(color=CHANGE, backend="bokeh")


def evidence_plot(
    evidence: AnomalyEvidence, calendar: DemandCalendar, *, title: str | None = None
) -> hv.Layout:
    """Draw a home's mean day and its days against what is expected, and its calendar."""
    _use_bokeh()
    size = {"width": WIDTH, "height": HEIGHT // 2, "backend": "bokeh"}
    hour = np.arange(len(evidence.own)) / 2
    step = {"interpolation": "steps-post", "backend": "bokeh"}
    own, usual = (
        hv.Curve((hour, day), "hour", "kWh per half-hour", label=name).opts(color=color, **step)
        for day, name, color in (
            (evidence.own, evidence.own_name, LIGHT.accent),
            (evidence.usual, evidence.usual_name, OTHERS),
        )
    )
    mean_day = (usual * own).opts(
        title=title or "", fontsize={"title": _TITLE}, xticks=_CLOCK, show_legend=True, **size
    )
    when = evidence.days.astype("datetime64[ns]")
    days = hv.Curve((when, evidence.kwh), "day", evidence.daily_name).opts(
        color=LIGHT.accent, tools=["hover"], **size
    )
    known = [evidence.expected_kwh] if np.isfinite(evidence.expected_kwh) else []
    changed = [] if evidence.change is None else [np.datetime64(evidence.change, "ns")]
    daily = (
        days
        * hv.HLines(known).opts(color=OTHERS, backend="bokeh")
        * hv.VLines(changed).opts(color=CHANGE, backend="bokeh")
    )
    plots = [mean_day, daily.opts(**size), calendar_plot(calendar, change=evidence.change)]
    return hv.Layout(plots).cols(1).opts(shared_axes=False, backend="bokeh")


def _use_bokeh() -> None:
    """Load HoloViews' drawing by Bokeh, as ``hv.extension("bokeh")`` does."""
    if hv.Store.current_backend != "bokeh" or "bokeh" not in hv.Store.renderers:
        hv.extension("bokeh", logo=False)
