"""One function for each kind of result, with Matplotlib or with HoloViews."""

from datetime import date
from typing import Any

import numpy as np

from core.anomalies import Anomalies
from core.errors import InputError
from core.figures import demand_calendar, draw_calendar, draw_map
from core.figures.anomaly_evidence import anomaly_evidence, draw_evidence
from core.figures.calendar import DemandCalendar
from core.periods import WHOLE_RECORD, Period
from core.readings import Dataset
from core.runs import Run
from core.scene import map_scene
from core.scene.coloring import choices


def plot_map(run: Run, *, color_by: str = "HDR", interactive: bool = False) -> Any:
    """Draw the map of a run, see :meth:`core.runs.Run.plot`."""
    if color_by not in choices(run):
        raise InputError(
            f"this map cannot be coloured by {color_by!r}; choose one of {', '.join(choices(run))}"
        )
    scene = map_scene(run, color_by=color_by, interval_minutes=run.interval_minutes)
    if not interactive:
        return draw_map(scene)
    from core.plots import interactive as with_holoviews

    return with_holoviews.map_plot(scene)


def plot_calendar(dataset: Dataset, household: str, *, interactive: bool = False) -> Any:
    """Draw a household's calendar, see :meth:`core.readings.Dataset.calendar`."""
    return _draw_calendar(_calendar(dataset, household), household, interactive=interactive)


def plot_anomaly(anomalies: Anomalies, household: str, *, interactive: bool = False) -> Any:
    """Draw why a household is unusual, see :meth:`core.anomalies.Anomalies.plot`."""
    if anomalies.dataset is None:
        raise InputError("these anomalies know no readings to draw; find them by find_anomalies")
    if "slot" in anomalies.table:
        raise InputError("these are half-hours; find_anomalies of households has their evidence")
    calendar = _calendar(anomalies.dataset, household, anomalies.period)
    judged = anomalies.table.set_index("household")
    if household not in judged.index:
        raise InputError(f"household {household!r} was not judged: it has too few weeks")
    told = judged.loc[household]
    since = np.datetime64(told["since"], "D") if told["since"] else None
    title = f"{household}: {told['reason']}"
    finding = anomalies.findings.get(household)
    if finding is None:
        change = date.fromisoformat(told["since"]) if told["since"] else None
        return _draw_calendar(calendar, title, change=change, interactive=interactive)
    evidence = anomaly_evidence(finding, told["detector"], calendar, since=since)
    if not interactive:
        return draw_evidence(evidence, calendar, title=title)
    from core.plots import interactive as with_holoviews

    return with_holoviews.evidence_plot(evidence, calendar, title=title)


def _calendar(dataset: Dataset, household: str, period: Period = WHOLE_RECORD) -> DemandCalendar:
    readings = dataset.readings(household)
    if not period.is_whole:
        readings = readings[period.holds(readings["time"].to_numpy())]
    return demand_calendar(
        readings["time"].to_numpy(), readings["kwh"].to_numpy(), dataset.interval_minutes
    )


def _draw_calendar(
    calendar: DemandCalendar, title: str, *, change: date | None = None, interactive: bool
) -> Any:
    if not interactive:
        return draw_calendar(calendar, change=change, title=title)
    from core.plots import interactive as with_holoviews

    return with_holoviews.calendar_plot(calendar, change=change, title=title)
