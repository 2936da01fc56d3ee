"""What speaks for an anomaly: a mean day against another, and day by day; numbers and figure."""

import textwrap
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from core.anomalies import Finding
from core.anomalies.words import DAY_NAMES, clock_words, date_words
from core.figures.calendar import CHANGE, DemandCalendar, paint_calendar
from core.figures.canvas import TEXT, TITLE, new_figure, style_axes
from core.scene.palette import OTHERS
from core.theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HALF_HOURS = 48
# Detectors that compare days of the week; all others compare with what is expected.
_OF_WEEKDAYS = ("event", "rhythm")
_SATURDAY = 5


@dataclass(frozen=True, eq=False)
class AnomalyEvidence:
    """Two small pictures of one finding.

    Attributes
    ----------
    own, usual : ndarray of shape (48,)
        Two mean days, kWh per half-hour: what the home uses, and what it is compared with.
    own_name, usual_name : str
    hours : ndarray of bool, shape (48,)
        The half-hours concerned; none where that is all of the day.
    days : ndarray of datetime64[D], shape (d,)
    kwh : ndarray of shape (d,)
        Demand at the hours concerned; NaN on days with half of the readings or fewer.
    expected_kwh : float
        What is expected of a day; NaN where days are compared with each other.
    daily_name : str
        What the days show.
    since : datetime64[D] or NaT
    """

    own: np.ndarray
    usual: np.ndarray
    own_name: str
    usual_name: str
    hours: np.ndarray
    days: np.ndarray
    kwh: np.ndarray
    expected_kwh: float
    daily_name: str
    since: np.datetime64

    @property
    def change(self) -> date | None:
        """The day of ``since``, None for NaT."""
        return None if np.isnat(self.since) else date.fromisoformat(str(self.since))


def anomaly_evidence(
    finding: Finding,
    detector: str,
    calendar: DemandCalendar,
    *,
    since: np.datetime64 | None = None,
) -> AnomalyEvidence:
    """Put the pictures of a finding together.

    Parameters
    ----------
    finding : Finding
    detector : str
        The one that found it.
    calendar : DemandCalendar
        The household's readings.
    since : datetime64[D], optional
        A change to mark where the finding itself dates none.
    """
    demand = _half_hours(calendar)
    weekday = (calendar.days.astype(np.int64) + 3) % 7
    concerned = finding.slots.reshape(7, HALF_HOURS)
    hours: np.ndarray = np.asarray(concerned.any(axis=0))
    on = concerned[weekday]
    some = np.asarray(concerned.any(axis=1))[weekday]
    present = np.isfinite(demand) & on
    enough = present.sum(axis=1) > on.sum(axis=1) / 2
    kwh = np.where(present, demand, 0.0).sum(axis=1) * (
        on.sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    )
    kwh = np.where(enough & some, kwh, np.nan)
    what = "" if hours.all() else f", {_span(hours)}"
    if detector in _OF_WEEKDAYS:
        own, usual, names = _weekdays(demand, weekday, calendar.days, finding, detector)
        expected = np.nan
    else:
        own, usual, names = finding.profile, finding.expected, ("this home", "expected")
        if not np.isnat(finding.since):
            names = (f"this home since {date_words(finding.since)}", "expected")
        expected = float(finding.expected[hours].sum())
    return AnomalyEvidence(
        own=own,
        usual=usual,
        own_name=names[0],
        usual_name=names[1],
        hours=np.zeros(HALF_HOURS, bool) if hours.all() else hours,
        days=calendar.days[some],
        kwh=kwh[some],
        expected_kwh=expected,
        daily_name=f"kWh a day{what}",
        since=finding.since if since is None else since,
    )


def draw_evidence(
    evidence: AnomalyEvidence,
    calendar: DemandCalendar,
    *,
    title: str | None = None,
    size: tuple[float, float] = (7.2, 6.0),
) -> "Figure":
    """Draw a home's mean day and its days against what is expected, and its calendar.

    Parameters
    ----------
    evidence : AnomalyEvidence
    calendar : DemandCalendar
        The same household's.
    title : str, optional
    size : (float, float)
        Width and height in inches.
    """
    figure = new_figure(*size)
    mean_day, daily, days = figure.subplots(3, 1)
    for axes in (mean_day, daily, days):
        style_axes(axes)
    if title is not None:
        figure.suptitle(textwrap.fill(title, 90), fontsize=TITLE, parse_math=False)
    hour = np.arange(HALF_HOURS + 1) / 2
    for day, name, color in (
        (evidence.usual, evidence.usual_name, OTHERS),
        (evidence.own, evidence.own_name, LIGHT.accent),
    ):
        mean_day.step(
            hour, np.append(day, day[-1]), where="post", color=color, linewidth=1.2, label=name
        )
    for half_hour in np.flatnonzero(evidence.hours):
        mean_day.axvspan(half_hour / 2, half_hour / 2 + 0.5, color=LIGHT.accent, alpha=0.1, lw=0)
    mean_day.set(xlim=(0, 24), ylabel="kWh per half-hour")
    mean_day.set_xticks([0, 6, 12, 18, 24], labels=["00:00", "06:00", "12:00", "18:00", "24:00"])
    mean_day.legend(fontsize=TEXT - 1, frameon=False)
    daily.plot(evidence.days, evidence.kwh, color=LIGHT.accent, linewidth=0.7)
    if np.isfinite(evidence.expected_kwh):
        daily.axhline(evidence.expected_kwh, color=OTHERS, linewidth=1.2)
    if evidence.change is not None:
        daily.axvline(evidence.change, color=CHANGE, linewidth=1.4)
    daily.set_ylabel(evidence.daily_name)
    legend = paint_calendar(days, calendar, change=evidence.change)
    if legend:
        figure.legend(
            handles=legend, loc="outside lower right", ncols=2, fontsize=TEXT - 1, frameon=False
        )
    return figure


def _half_hours(calendar: DemandCalendar) -> np.ndarray:
    """Demand by day and half-hour, (days, 48)."""
    n, per_day = calendar.kwh.shape
    if per_day < HALF_HOURS:
        times = HALF_HOURS // per_day
        return np.repeat(calendar.kwh / times, times, axis=1)
    return calendar.kwh.reshape(n, HALF_HOURS, -1).sum(axis=2)


def _weekdays(
    demand: np.ndarray, weekday: np.ndarray, days: np.ndarray, finding: Finding, detector: str
) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
    """The mean days of two kinds of days of the week, from the change on."""
    late = np.ones(len(days), bool) if np.isnat(finding.since) else days >= finding.since
    if detector == "event":
        day = int(finding.slots.reshape(7, HALF_HOURS).sum(axis=1).argmax())
        first, names = weekday == day, (f"{DAY_NAMES[day]}s", "other days")
    else:
        first, names = weekday >= _SATURDAY, ("Saturdays and Sundays", "Mondays to Fridays")
    return _mean_day(demand[late & first]), _mean_day(demand[late & ~first]), names


def _mean_day(days: np.ndarray) -> np.ndarray:
    present = np.isfinite(days)
    count = present.sum(axis=0)
    total = np.where(present, days, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(days.shape[1], np.nan), where=count > 0)


def _span(hours: np.ndarray) -> str:
    """The hours in words; a span over midnight is one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], hours.astype(int), [0]]))).reshape(-1, 2)
    spans = edges.tolist()
    if len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == HALF_HOURS:
        spans = [[spans[-1][0], spans[0][1]], *spans[1:-1]]
    return " and ".join(clock_words(start, stop) for start, stop in spans)
