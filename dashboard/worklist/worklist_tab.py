"""The worklist in the drawer: homes to look into, what was found there, and more of the kind."""

import io
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from core.anomalies import Anomalies
from core.anomalies.words import q_words
from core.errors import WattfoldError
from core.runs import RunConfig
from core.worklist import MoreLike
from core.worklist.cases import money_text
from dashboard.export import FileJob
from dashboard.jobs import FollowedJob, SessionFolder, worklist_jobs
from dashboard.jobs.worklist_jobs import CaseFileRequest
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.state.flagged_homes import parse_price
from dashboard.widgets import (
    Download,
    JobStatus,
    PlainText,
    as_sentence,
    column,
    make_table,
    row,
    wrapped_row,
)
from dashboard.worklist import _sentences

_HEIGHT = 156
_MOST_ALIKE = 50
_TITLES = {
    "what": "Home",
    "verdict": "Verdict",
    "note": "Note",
    "headline": "What is unusual",
    "size": "kWh a week",
    "money": "A year",
    "since": "Since",
    "q": "q",
    "detector": "Found by",
}
_WIDTHS: dict[str, Any] = {
    "what": 104,
    "verdict": 122,
    "note": 120,
    "size": 92,
    "money": 78,
    "since": 84,
    "q": 56,
    "detector": 84,
}
_ALIKE_TITLES = {
    "what": "Home",
    "similarity": "Alike",
    "shares": "What it shares",
    "verdict": "Verdict",
}
_SMALL: dict[str, Any] = {"size": "small", "variant": "outlined", "margin": (4, 4)}


class WorklistTab:
    """The list, its filter, its exports, and homes like those on it.

    Put ``panel`` into the drawer and ``download`` on the page. The table is made when the tab is
    first shown with somebody on the list.
    """

    def __init__(self, workspace: Workspace, folder: SessionFolder, explorer: Explorer) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.flagged = explorer.flagged
        self.download = Download()
        self.file_job = FileJob(folder, self.download)
        self._anomalies: Anomalies | None = None
        self._found: tuple[MoreLike, tuple[str, ...]] | None = None
        self._is_shown = False
        self._tables: dict[str, pn.widgets.Tabulator] = {}
        self.sentence = PlainText(
            _sentences.EMPTY, look="quiet", margin=(2, 12), sizing_mode="stretch_width"
        )
        self._make_controls()
        self.cases, self.alike = column(), column(visible=False)
        self.controls = wrapped_row(
            self.verdict, self.more, self.csv, self.print, self.price, self.by,
            visible=False,
        )  # fmt: skip
        self.panel = column(
            self.controls,
            row(self.status.panel, self.cancel),
            row(self.file_job.panel, self.file_job.cancel),
            row(self.back, self.sentence),
            self.cases,
            self.alike,
        )
        self.flagged.param.watch(self._refresh, ["worklist", "price"])
        explorer.param.watch(self._take_anomalies, "unusual", precedence=4)
        explorer.param.watch(self._mark, "selected", precedence=4)

    def _make_controls(self) -> None:
        flagged = self.flagged
        self.verdict = pmui.Select(
            label="Show",
            options={"All": ""},
            value="",
            size="small",
            width=140,
            margin=(6, 8, 2, 12),
        )
        self.more = pmui.Button(label="More like these", **_SMALL)
        self.csv = pmui.FileDownload(
            callback=self._csv, filename="wattfold-worklist.csv", label="Save CSV", **_SMALL
        )
        self.print = pmui.Button(label="Print case file", **_SMALL)
        field: dict[str, Any] = {
            "size": "small",
            "description": "",
            "width": 124,
            "margin": (6, 6, 2, 6),
        }
        self.price = pmui.TextInput.from_param(flagged.param.price, placeholder="£0.30", **field)
        self.by = pmui.TextInput.from_param(flagged.param.by, **field)
        self.cancel = pmui.Button(label="Cancel", visible=False, **_SMALL)
        self.status = JobStatus(side=12, cancel=self.cancel)
        self.back = pmui.Button(
            label="Back to the worklist", visible=False, **{**_SMALL, "margin": (0, 0, 4, 12)}
        )
        self.verdict.param.watch(lambda _: self._refresh(), "value")
        on_click(self.more, self.find_more)
        on_click(self.print, self.print_cases)
        on_click(self.cancel, self._stop)
        on_click(self.back, self._go_back)

    # The list

    def show(self) -> None:
        """Fill the tab, which is in view from now on."""
        self._is_shown = True
        self._refresh()

    def _take_anomalies(self, *_: param.parameterized.Event) -> None:
        """Keep what is known of homes while a map does not know it, such as one of half-hours."""
        if self.explorer.unusual is not None:
            self._anomalies = self.explorer.unusual.anomalies
            self._refresh()

    def _refresh(self, *_: param.parameterized.Event) -> None:
        if not self._is_shown:
            return
        is_list, total = self._found is None, self.flagged.progress()[1]
        self.controls.visible = is_list and total > 0
        self.cases.visible = is_list and total > 0
        self.alike.visible = self.back.visible = not is_list
        self._offer_verdicts()
        if self._found is not None:
            self._list_alike(*self._found)
            return
        cases = self.flagged.cases(self._anomalies, verdict=self.verdict.value)
        self._fill("cases", _case_rows(cases, self.flagged.money()[1]), _TITLES, _WIDTHS)
        self.sentence.text = self._told()

    def _told(self) -> str:
        """What is said of the list, or of a price that is none."""
        looked, total = self.flagged.progress()
        try:
            parse_price(self.flagged.price)
            self.price.error_state = False
        except WattfoldError as error:
            self.price.error_state = True
            return str(error)
        every = self.flagged.cases(self._anomalies)
        told = [_sentences.progress_text(looked, total), _sentences.precision_text(every)]
        return " ".join(filter(None, told)) if total else _sentences.EMPTY

    def _offer_verdicts(self) -> None:
        """Offer the verdicts there are, each with its count."""
        counts = self.flagged.worklist.counts()
        options = {f"All ({sum(counts.values()):,})": ""}
        options |= {f"{verdict} ({count:,})": verdict for verdict, count in counts.items()}
        chosen = self.verdict.value if self.verdict.value in options.values() else ""
        self.verdict.param.update(options=options, value=chosen)

    def _fill(
        self, name: str, table: pd.DataFrame, titles: dict[str, str], widths: dict[str, Any]
    ) -> None:
        """Show rows in the table of that name, which is made with the first of them."""
        if name in self._tables:
            self._tables[name].value = table[list(titles)]
        elif len(table):
            widget = make_table(
                table,
                titles,
                formats={"size": "+0,0.0", "similarity": "0.00"},
                widths=widths,
                height=_HEIGHT,
                selectable=1,
                margin=(0, 10),
            )
            widget.on_click(lambda event: self._go(name, event.row))
            self._tables[name] = widget
            {"cases": self.cases, "alike": self.alike}[name].objects = [widget]
        self._mark()

    def _go(self, name: str, place: int) -> None:
        """Select the home in a row, if it is on the map."""
        homes = self._tables[name].value["what"]
        if self.explorer.run is None or not 0 <= place < len(homes):
            return
        rows = (self.explorer.run.units["household"] == homes.iat[place]).to_numpy().nonzero()[0]
        if len(rows):
            self.explorer.look_at(int(rows[0]))
        else:
            self.status.say(f"{homes.iat[place]} is not on this map.")

    def _mark(self, *_: param.parameterized.Event) -> None:
        explorer = self.explorer
        if explorer.run is None or explorer.selected is None:
            return
        home = explorer.household_of(explorer.selected)
        for table in self._tables.values():
            places = (table.value["what"] == home).to_numpy().nonzero()[0]
            table.selection = [int(place) for place in places]

    # Files

    def _csv(self) -> io.StringIO:
        return io.StringIO(
            self.flagged.cases_csv(self._anomalies, verdict=self.verdict.value or "")
        )

    def _config(self) -> RunConfig:
        run = self.explorer.run
        return RunConfig() if run is None else run.config

    def print_cases(self) -> None:
        """Have the cases printed that are listed."""
        price, currency = self.flagged.money()
        try:
            request = CaseFileRequest(
                paths=self.workspace.paths,
                config=self._config().to_json(),
                worklist=self.flagged.worklist.to_json(),
                verdict=self.verdict.value or "",
                price=price,
                currency=currency,
                directory=str(self.file_job.new_directory()),
            )
            self.file_job.start(worklist_jobs.submit_case_file(self.workspace, request))
        except WattfoldError as error:
            self.file_job.show_error(str(error))

    # More like these

    def find_more(self) -> None:
        """Rank the other homes by what those that are listed have in common."""
        self._stop()
        cases = self.flagged.cases(self._anomalies, verdict=self.verdict.value)
        flagged = tuple(cases["household"])
        try:
            job = worklist_jobs.submit_more_like(self.workspace, self._config(), flagged)
        except WattfoldError as error:
            self.status.say(str(error))
            return

        def show(job: FollowedJob) -> None:
            self._found = job.result, flagged
            self._refresh()

        self.status.follow(job)
        self.status.wait_for(
            job, done=show, failed=lambda error: self.status.say(as_sentence(error))
        )

    def _list_alike(self, found: MoreLike, flagged: tuple[str, ...]) -> None:
        table = found.table.head(_MOST_ALIKE).rename(columns={"household": "what"})
        table["verdict"] = self.flagged.verdicts(table["what"])
        widths = {"what": 104, "similarity": 70, "verdict": 92}
        self._fill("alike", table, _ALIKE_TITLES, widths)
        self.sentence.text = _sentences.more_like_text(found, flagged)

    def _go_back(self) -> None:
        self._found = None
        self._refresh()

    def _stop(self) -> None:
        self.status.stop()
        self.status.say("")


def _case_rows(cases: pd.DataFrame, currency: str) -> pd.DataFrame:
    """Cases as they are listed; what is not known is empty."""

    def known(name: str, default: Any) -> pd.Series:
        return cases[name] if name in cases else pd.Series(default, cases.index)

    money = known("money_per_year", float("nan"))
    return pd.DataFrame(
        {
            "what": cases["household"],
            "verdict": cases["verdict"].where(~cases["disputed"], cases["verdict"] + " (disputed)"),
            "note": cases["note"],
            "headline": known("reason", "").fillna("not judged"),
            "size": known("kwh_per_week", float("nan")).astype(float),
            "money": ["" if pd.isna(each) else money_text(each, currency) for each in money],
            "since": known("since", "").fillna(""),
            "q": ["" if pd.isna(each) else q_words(each) for each in known("q", float("nan"))],
            "detector": known("detector", "").fillna(""),
        }
    ).reset_index(drop=True)
