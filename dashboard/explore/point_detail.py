"""The story of the selected point, and the demand behind the pinned points."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from core.anomalies import Finding
from core.figures.anomaly_evidence import anomaly_evidence
from core.figures.calendar import demand_calendar
from core.figures.demand_summary import WeekQuantiles, week_quantiles
from core.readings import Dataset
from core.runs.readings_behind import readings_behind, within_period
from dashboard.explore import _demand_plots, _evidence_plots, _story_text
from dashboard.explore.similar_homes import similar_week
from dashboard.jobs import FollowedJob
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import in_next_turn, on_click
from dashboard.state import Explorer
from dashboard.state.session_file import MAXIMUM_NOTE
from dashboard.widgets import PlainText, PointLinks, column, row
from dashboard.worklist import VerdictField

_WAITING = "The story of the most unusual home comes here as soon as all are compared."
_EDGE: dict[str, Any] = {"margin": (0, 12)}


class PointDetail:
    """The story of the selected point, beside the map; empty until one is selected."""

    def __init__(self, workspace: Workspace, explorer: Explorer) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self._similar: FollowedJob | None = None
        # One tap needs the same household several times, and so do pins.
        self._household = lru_cache(maxsize=12)(explorer.dataset.readings)
        self.week_of = lru_cache(maxsize=12)(_weeks(explorer.dataset, self._household))
        # After its mark on the map.
        explorer.param.watch(
            in_next_turn(self._show_selected), ["selected", "pins", "unusual"], precedence=3
        )
        explorer.param.watch(self._offer_back, "unit")
        explorer.param.watch(self._show_note, "notes")
        self.verdict = VerdictField(explorer)
        self._is_filled = False
        # All three are on the page before they are filled: Bokeh measures every figure whenever a
        # part of the page gets its size, and fails on one that waits, built but not drawn, for the
        # script of a widget beside it.
        self._above, self._figures, self._below = column(), column(), column()
        self._above.objects = [
            PlainText(_WAITING, look="quiet", margin=(20, 12), sizing_mode="stretch_width")
        ]
        self.panel = column(self._above, self._figures, self._below)

    def _fill(self) -> None:
        explorer = self.explorer
        wide: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.title = PlainText(look="title", margin=(10, 12, 2, 12), **wide)
        self.headline = PlainText(look="headline", margin=(2, 12), **wide)
        self.certainty = PlainText(look="quiet", margin=(2, 12, 6, 12), **wide)
        self.note = pmui.TextAreaInput(
            label="Note",
            placeholder="Your observations",
            rows=1,
            max_rows=6,
            auto_grow=True,
            height=None,
            max_length=MAXIMUM_NOTE,
            size="small",
            margin=(2, 12, 6, 12),
            **wide,
        )
        self.note.param.watch(self._keep_note, "value")
        self.known = PlainText(look="quiet", **wide, **_EDGE)
        self.trust = PlainText(look="quiet", **wide, **_EDGE)
        self.similar = _heading("")
        self.neighbors = PointLinks(self._go, margin=(0, 6), **wide)
        self.mean_day = _evidence_plots.MeanDayFigure()
        self.daily = _evidence_plots.DailyFigure()
        self.calendar = _evidence_plots.CalendarFigure()
        self.distribution = _demand_plots.DistributionFigure(explorer.interval)
        self.regions = _demand_plots.WeekFigure()
        self.series = _demand_plots.SeriesFigure()
        # Figures that are hidden from the start are drawn without a size: hide what holds them.
        self.evidence = column(
            _heading("Why"), _pane(self.daily), _pane(self.mean_day), visible=False
        )
        self.pin = pmui.Button(label="Pin", variant="outlined", size="small", margin=(0, 6, 6, 12))
        self.week = pmui.Button(
            label="Open its week", variant="outlined", size="small", margin=(0, 6, 6, 0)
        )
        self.back = pmui.Button(
            label="Back to all households", variant="outlined", size="small", margin=(0, 6, 6, 0)
        )
        on_click(self.pin, self._toggle_pin)
        on_click(self.week, lambda: explorer.open_week(explorer.household_of(explorer.selected)))
        on_click(self.back, explorer.go_back)

    def _go(self, row: int) -> None:
        self.explorer.selected = row

    def _keep_note(self, event: param.parameterized.Event) -> None:
        row = self.explorer.selected
        if self.explorer.run is not None and row is not None:
            self.explorer.write_note(row, event.new or "")
            self.verdict.keep_note()

    def _show_note(self, *events: param.parameterized.Event) -> None:
        if events and not self._is_filled:
            return
        if self.explorer.selected is not None:
            self.note.value = self.explorer.note_on(self.explorer.selected)

    def _toggle_pin(self) -> None:
        row = self.explorer.selected
        if row in self.explorer.pins:
            self.explorer.unpin(row)
        else:
            self.explorer.pin(row)

    def _show_selected(self) -> None:
        explorer, row = self.explorer, self.explorer.selected
        if explorer.run is None or row is None:
            return
        if self._is_filled:
            self._show(row)
        else:
            self._fill()
            self._show(row)
            self._is_filled = True
            self._lay_out()

    def _show(self, row: int) -> None:
        explorer, run = self.explorer, self.explorer.run
        self._draw(row)
        self.title.text = explorer.label(row)
        self.headline.say(_story_text.headline(explorer, row))
        self.certainty.say(_story_text.certainty(explorer, row))
        self.trust.text = _story_text.trust(explorer, row)
        self.known.text = (
            "\n".join(f"{name}: {value}" for name, value in explorer.metadata(row).items())
            or "Nothing else is known of this household."
        )
        rows, distances = explorer.neighbors_of(row)
        different = explorer.difference_shares(distances)
        is_home = "slot" not in run.units
        self.similar.text = f"Most similar {'homes' if is_home else explorer.interval + 's'}"
        self.neighbors.items = [
            {
                "row": int(neighbor),
                "text": explorer.label(neighbor),
                "note": f"{_story_text.percent(float(share))} different",
                "bar": float(share),
            }
            for neighbor, share in zip(rows, different, strict=True)
        ]
        self.pin.label = "Unpin" if row in explorer.pins else "Pin"
        self.week.visible = explorer.run.config.unit != "slots"
        self._show_note()
        self.verdict.show()
        self._offer_back()

    def _offer_back(self, *events: param.parameterized.Event) -> None:
        if self._is_filled or not events:
            self.back.visible = self.explorer.unit == "slots" and self.explorer.can_go_back

    def _lay_out(self) -> None:
        self._above.objects = [
            self.title,
            self.headline,
            self.certainty,
            pn.Row(self.pin, self.week, self.back, margin=0),
            self.verdict.panel,
            self.note,
        ]
        self._figures.objects = [
            self.evidence,
            _heading("Its week"),
            _pane(self.regions),
            _heading("Its calendar, in kWh; grey is no reading"),
            _pane(self.calendar),
            _heading("Distribution of demand"),
            _pane(self.distribution),
            _heading("Readings"),
            _pane(self.series),
        ]
        self._below.objects = [
            self.similar,
            self.neighbors,
            _heading("Household"),
            self.known,
            _heading("Its place on the map"),
            self.trust,
            pn.Spacer(height=12),
        ]

    def _draw(self, row: int) -> None:
        explorer, run = self.explorer, self.explorer.run
        household = explorer.household_of(row)
        typical = explorer.typical()
        self.distribution.show(
            self.sample(row),
            _demand_plots.Population(run.edges, run.population),
            typical=self.sample(typical) if typical != row else None,
        )
        readings = within_period(run, self._household(household))
        calendar = demand_calendar(
            readings["time"].to_numpy(),
            readings["kwh"].to_numpy(),
            explorer.dataset.interval_minutes,
        )
        unusual = explorer.unusual
        finding = None if unusual is None else unusual.finding(row)
        judged = None if unusual is None else unusual.judgement(row)
        since = np.datetime64(judged["since"], "D") if judged and judged["since"] else None
        self.calendar.show(calendar, since)
        self.evidence.visible = finding is not None
        if finding is not None and judged is not None:
            evidence = anomaly_evidence(finding, judged["detector"], calendar, since=since)
            self.mean_day.show(evidence)
            self.daily.show(evidence)
        week = self.week_of(household)
        self.regions.show(week, slot=self.slot_of(row), window=self._slots_of(finding))
        self._show_similar(row)
        self.series.show(readings, explorer.dataset.interval_minutes)

    def _slots_of(self, finding: Finding | None) -> np.ndarray | None:
        """The slots of the week that a finding is about; it knows half-hours."""
        if finding is None:
            return None
        minutes = self.explorer.dataset.interval_minutes
        starts = np.arange(7 * 24 * 60 // minutes) * minutes
        return np.flatnonzero(finding.slots[starts // 30])

    def _show_similar(self, row: int) -> None:
        """Draw the median of similar homes as soon as their readings are read."""
        if self._similar is not None:
            self._similar.cancel()
            self._similar = None
        self.regions.show_similar(None)
        explorer = self.explorer
        if not explorer.judges_households:
            return
        rows, _ = explorer.neighbors_of(row)
        homes = [explorer.household_of(neighbor) for neighbor in rows if neighbor >= 0]
        if homes:
            period = explorer.run.config.period
            job = self.workspace.pool.call(similar_week, explorer.dataset, homes, period)
            job.on_end(lambda job: self.regions.show_similar(job.result))
            self._similar = job

    def slot_of(self, row: int) -> int | None:
        """The half-hour that a point is, if it is one."""
        units = self.explorer.run.units
        return int(units["slot"].iat[row]) if "slot" in units else None

    def sample(self, row: int) -> np.ndarray:
        """The readings behind a point, in kWh."""
        explorer = self.explorer
        readings = self._household(explorer.household_of(row))
        return readings_behind(explorer.run, explorer.dataset, row, readings)


def _heading(text: str) -> PlainText:
    return PlainText(text, look="heading", margin=(8, 12, 0, 12), sizing_mode="stretch_width")


def _weeks(
    dataset: Dataset, readings_of: Callable[[str], pd.DataFrame]
) -> Callable[[str], WeekQuantiles]:
    """Return what summarises a household's week; no method, whose cache would keep its object."""

    def make_week(household: str) -> WeekQuantiles:
        readings = readings_of(household)
        return week_quantiles(
            readings["time"].to_numpy(), readings["kwh"].to_numpy(), dataset.interval_minutes
        )

    return make_week


class PinnedPoints:
    """The pinned points side by side, with shared axes."""

    def __init__(self, detail: PointDetail) -> None:
        self.detail = detail
        self.explorer = detail.explorer
        self._cards: list[_PinnedCard] = []
        self._row = row()
        self.panel = column(
            PlainText("Pinned", look="heading", margin=(8, 12, 0, 12)), self._row, visible=False
        )
        self.explorer.param.watch(self._draw, "pins", precedence=3)

    def _draw(self, *_: param.parameterized.Event) -> None:
        pins = self.explorer.pins
        self.panel.visible = bool(pins)
        if not pins:
            return
        while len(self._cards) < len(pins):
            self._cards.append(_PinnedCard(self.explorer))
            self._row.append(self._cards[-1].panel)
        for card in self._cards[len(pins) :]:
            card.panel.visible = False
        run = self.explorer.run
        samples = [self.detail.sample(pin) for pin in pins]
        weeks = [self.detail.week_of(self.explorer.household_of(pin)) for pin in pins]
        edges = _demand_plots.bar_edges(samples)
        highest = 1.08 * max(float(_demand_plots.bar_shares(kwh, edges).max()) for kwh in samples)
        top = 1.05 * max(float(np.nanmax(week.high[-1])) for week in weeks)
        population = _demand_plots.Population(run.edges, run.population)
        for card, pin, kwh, week in zip(self._cards, pins, samples, weeks, strict=False):
            card.name(pin)
            card.distribution.show(kwh, population, edges=edges, top=highest)
            card.regions.show(week, slot=self.detail.slot_of(pin), top=top)


class _PinnedCard:
    """One pinned point."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.row = -1
        self.title = PlainText(look="heading", margin=(8, 10, 0, 10), sizing_mode="stretch_width")
        self.place = PlainText(look="quiet", margin=(0, 10), sizing_mode="stretch_width")
        self.distribution = _demand_plots.DistributionFigure(
            explorer.interval, height=150, legend=False
        )
        self.regions = _demand_plots.WeekFigure(height=160, legend=False)
        for drawn in (self.distribution, self.regions):
            drawn.figure.tags = ["pinned"]
        go = pmui.Button(label="Go", variant="text", size="small", margin=0)
        off = pmui.Button(label="Unpin", variant="text", size="small", margin=0)
        on_click(go, lambda: setattr(explorer, "selected", self.row))
        on_click(off, lambda: explorer.unpin(self.row))
        self.panel = pmui.Paper(
            column(
                self.title,
                self.place,
                _pane(self.distribution),
                _pane(self.regions),
                pn.Row(go, off, margin=(0, 4)),
            ),
            sizing_mode="stretch_width",
            margin=6,
        )

    def name(self, row: int) -> None:
        """Show the name and rank of another point."""
        self.row = row
        self.title.text = self.explorer.label(row)
        self.place.text = self.explorer.place(row)
        self.panel.visible = True


def _pane(drawn: Any) -> pn.viewable.Viewable:
    return pn.pane.Bokeh(drawn.figure, sizing_mode="stretch_width", margin=0)
