"""Two periods side by side: fields for both, arrows on one map, and who moved most."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models.widgets.tables import NumberFormatter

from core.anomalies.words import q_words
from core.errors import WattfoldError
from core.over_time import PeriodComparison
from core.periods import Period
from core.runs import RunConfig
from dashboard.jobs import time_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.periods._moves_plot import MovesFigure
from dashboard.state import Explorer
from dashboard.widgets import (
    COMPACT,
    JobStatus,
    PlainText,
    as_sentence,
    column,
    section,
    split_row,
)

_ABOUT = (
    "Places every home twice on one map, once by each period, and joins the two places by an "
    "arrow. The mean shift of all homes, which is mostly the season, is taken out before homes are "
    "ranked; q comes from dealing out the weeks of both periods at random."
)
_TITLES = {
    "household": "Home",
    "moved": "Moved",
    "by_chance": "By chance",
    "q": "q",
    "kwh_per_week": "kWh a week",
}
_SURE = 0.1
_HEIGHT = 560


class PeriodsTab:
    """The tab; empty until :meth:`show` is first called."""

    def __init__(self, workspace: Workspace, explorer: Explorer) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.found: PeriodComparison | None = None
        self.view = pn.Column(sizing_mode="stretch_width", margin=(4, 8))

    def show(self) -> None:
        """Fill the tab when it is first opened; take over the period of the settings."""
        if not self.view.objects:
            self._fill()
        if self.explorer.first_day or self.explorer.last_day:
            self.fields[0].value, self.fields[1].value = (
                self.explorer.first_day,
                self.explorer.last_day,
            )

    def _fill(self) -> None:
        # The first and the second half of the record, until the analyst writes others.
        first, last = self.workspace.dataset.first_and_last_day
        middle = first + (last - first) / 2
        days: list[date] = [first, middle, middle + timedelta(days=1), last]
        labels = [f"{which}: {end}" for which in ("First", "Second") for end in ("from", "to")]
        self.fields = [
            pmui.TextInput(
                label=label,
                value=day.isoformat(),
                placeholder="2013-01-31",
                size="small",
                width=136,
                margin=(10, 6),
            )
            for label, day in zip(labels, days, strict=True)
        ]
        self.compare = pmui.Button(label="Compare", size="small", margin=(14, 6))
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", visible=False, margin=(14, 6)
        )
        on_click(self.compare, self.start)
        on_click(self.cancel, lambda: self._stop("Cancelled."))
        self.status = JobStatus(side=6, cancel=self.cancel)
        self.error = PlainText(look="error", visible=False, margin=6, sizing_mode="stretch_width")
        self.summary = PlainText(look="body", margin=(4, 6), sizing_mode="stretch_width")
        self.plot = MovesFigure(height=_HEIGHT)
        self.plot.paint(dark=self.explorer.dark)
        self.explorer.param.watch(lambda event: self.plot.paint(dark=event.new), "dark")
        for source in (self.plot.all, self.plot.most):
            source.selected.on_change("indices", self._tapped(source))
        self.table = column(styles={"flex": "0 0 470px"})
        self.result = split_row(
            pn.pane.Bokeh(self.plot.figure, sizing_mode="stretch_width", margin=0),
            self.table,
            visible=False,
        )
        self._widget: pn.widgets.Tabulator | None = None
        self.view.objects = [
            section(
                "Two periods",
                _ABOUT,
                # Not a row, which is never narrower than all that is in it.
                pn.FlexBox(
                    *self.fields,
                    self.compare,
                    self.cancel,
                    align_items="center",
                    sizing_mode="stretch_width",
                    margin=0,
                ),
                self.status.panel,
                self.error,
                self.summary,
                self.result,
            )
        ]

    def _periods(self) -> tuple[RunConfig, Period]:
        """The settings with the first period, and the second; raises where they are no periods."""
        texts = [(field.value or "").strip() or None for field in self.fields]
        config = replace(self.explorer.config(), first_day=texts[0], last_day=texts[1], months=None)
        return config, Period.parse(*texts[2:])

    def start(self) -> None:
        """Compare the two periods."""
        self._stop("")
        try:
            config, against = self._periods()
        except WattfoldError as error:
            self.error.say(as_sentence(str(error)))
            return
        self.status.fetch(
            lambda: time_jobs.find_comparison(self.workspace, config, against),
            lambda: time_jobs.submit_comparison(self.workspace, config, against),
            show=self._draw,
            failed=lambda error: self.error.say(as_sentence(error)),
        )

    def _stop(self, why: str) -> None:
        self.status.stop()
        self.error.say("")
        self.status.say(why)

    def _draw(self, found: PeriodComparison | None) -> None:
        if found is None:
            self.error.say("The result was not kept; free some disk space and compare again.")
            return
        self.found = found
        self.summary.text = summary(found)
        self.result.visible = True
        self.plot.show(found)
        table = found.table()[list(_TITLES)]
        table["q"] = table["q"].map(q_words)
        if self._widget is None:
            self._widget = self._make_widget(table)
            self.table.objects = [self._widget]
        else:
            self._widget.value = table

    def _make_widget(self, table: Any) -> pn.widgets.Tabulator:
        numbers = [name for name in _TITLES if name != "household"]
        widget = pn.widgets.Tabulator(
            table,
            titles=_TITLES,
            show_index=False,
            disabled=True,
            selectable=1,
            height=_HEIGHT,
            layout="fit_columns",
            sizing_mode="stretch_width",
            formatters={
                "household": {"type": "plaintext"},
                "moved": NumberFormatter(format="0.00"),
                "by_chance": NumberFormatter(format="0.00"),
                "kwh_per_week": NumberFormatter(format="+0,0.0"),
            },
            text_align=dict.fromkeys(numbers, "right"),
            header_align=dict.fromkeys(numbers, "right"),
            stylesheets=[COMPACT],
            margin=(0, 0, 0, 10),
        )
        widget.on_click(lambda event: self._select(event.row))
        return widget

    def _select(self, place: int) -> None:
        """Select the home in a row of the table, here and in Explore."""
        if self.found is None or not 0 <= place < len(self.found.households):
            return
        home = str(self.found.table()["household"].iat[place])
        self._go_to(home)

    def _tapped(self, source: Any) -> Any:
        def tapped(_: str, __: Any, indices: list[int]) -> None:
            if indices and 0 <= indices[0] < len(source.data["home"]):
                self._go_to(str(source.data["home"][indices[0]]))

        return tapped

    def _go_to(self, home: str) -> None:
        self.plot.select(home)
        if self.explorer.run is not None and self.explorer.judges_households:
            self.explorer.select_label(home)


def summary(found: PeriodComparison) -> str:
    """Say what all homes did, and how many did something else."""
    sure = int((found.q <= _SURE).sum())
    left_out = (
        f" {len(found.left_out):,} homes have too few readings in one of them."
        if found.left_out
        else ""
    )
    return (
        f"{found.first} against {found.second}. The mean shift of all {len(found.households):,} "
        f"homes (orange) is {found.season:.2f} of the way between two typical homes; it is taken "
        f"out below. Beyond it, {sure:,} homes moved more than their weeks differ by chance (q at "
        f"most {_SURE:g}).{left_out}"
    )
