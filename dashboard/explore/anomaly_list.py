"""The list beside the map: what is unusual about which homes, or which points are isolated."""

from typing import Any

import numpy as np
import panel_material_ui as pmui
import param
from bokeh.models.widgets.tables import NumberFormatter

from core.anomalies.words import q_words
from dashboard.explore.point_tables import PointTable
from dashboard.jobs import run_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.widgets import JobStatus, PlainText, as_sentence, column, row, wrapped_row

_TITLES = {
    "what": "Home",
    "headline": "What is unusual",
    "size": "kWh a week",
    "since": "Since",
    "q": "q",
    "detector": "Found by",
    "verdict": "Verdict",
}
_WIDTHS = {"what": 88, "size": 100, "since": 84, "q": 56, "detector": 82, "verdict": 82}
_TIPS = {
    "size": "How much more or less it uses than expected",
    "q": "The share of ordinary homes to expect among this one and those above it",
    "detector": "The test that finds it most unusual",
}
_SMALL_BUTTONS = {
    "& button": {
        "textTransform": "none",
        "padding": "1px 10px",
        "fontSize": "0.8rem",
        "whiteSpace": "nowrap",
    }
}
_ISOLATED = (
    "The points in the emptiest parts of this map: where the map is drawn thinly, which need not "
    "mean that a home is unusual."
)


class AnomalyList:
    """Finds what is unusual about the homes of every new map, and lists it.

    A worker judges the homes once for all maps of the same homes and period.
    """

    def __init__(self, workspace: Workspace, explorer: Explorer) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self._judged: tuple[Any, Any] | None = None  # the last homes and period, and what is known
        # Where there is no room beside the buttons, as on a phone, it has a line of its own.
        self.sentence = PlainText(
            look="quiet", margin=(6, 8), align="center", styles={"flex": "1 1 200px"}
        )
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", visible=False, margin=(2, 12)
        )
        self.status = JobStatus(side=12, cancel=self.cancel)
        self.again = pmui.Button(
            label="Look again", variant="outlined", size="small", visible=False, margin=(2, 12)
        )
        on_click(self.cancel, lambda: self._stop("Not looked for."))
        on_click(self.again, self._find)
        choice = explorer.param
        self._switch = pmui.RadioButtonGroup.from_param(
            choice.listed,
            label="",
            size="small",
            margin=(4, 6, 4, 10),
            description="",
            sx=_SMALL_BUTTONS,
        )
        self._order = pmui.RadioButtonGroup.from_param(
            choice.list_order,
            label="",
            size="small",
            margin=(4, 10, 4, 4),
            description="",
            sx=_SMALL_BUTTONS,
        )
        self.unusual = PointTable(explorer, self._unusual_table, **_look())
        self.isolated = PointTable(explorer, explorer.table)
        self.panel = column(
            wrapped_row(self._switch, self.sentence, self._order),
            row(self.status.panel, self.cancel, self.again),
            self.unusual.panel,
            self.isolated.panel,
        )
        explorer.param.watch(lambda _: self._find(), "run", precedence=3)
        explorer.param.watch(self._show, ["run", "unusual", "listed", "list_order"], precedence=4)
        explorer.flagged.param.watch(self._show, "worklist")
        self._show()

    def _unusual_table(self, rows: np.ndarray) -> Any:
        table = self.explorer.unusual.table(rows)
        verdicts = self.explorer.flagged.verdicts(table["what"])
        return table.assign(q=table["q"].map(q_words), verdict=verdicts)

    # Judging homes

    def _find(self) -> None:
        """Look for what is unusual about the homes on the map."""
        self._stop("")
        if not self.explorer.judges_households:
            return
        config = self.explorer.run.config
        about = (config.households, config.period, config.seed)
        if self._judged is not None and self._judged[0] == about:
            self.explorer.show_unusual(self._judged[1])
            return

        def show(found: Any) -> None:
            if found is None:
                self._give_up(run_jobs.NOT_KEPT)
                return
            self._judged = (about, found)
            self.status.say("")
            self.explorer.show_unusual(found)

        self.status.fetch(
            lambda: run_jobs.find_unusual(self.workspace, config),
            lambda: run_jobs.submit_unusual(self.workspace, config),
            show=show,
            failed=self._give_up,
        )
        self.status.say("Looking for unusual homes …")

    def _give_up(self, why: str) -> None:
        self.status.say(as_sentence(why))
        self.again.visible = True
        self.explorer.show_unusual(None)

    def _stop(self, why: str) -> None:
        self.again.visible = False
        self.status.stop()
        self.status.say("")
        if why:
            self._give_up(why)

    # The list

    def _show(self, *_: param.parameterized.Event) -> None:
        explorer = self.explorer
        judges, unusual = explorer.judges_households, explorer.unusual
        lists_unusual = explorer.lists_unusual
        self._switch.visible = judges
        known = lists_unusual and unusual is not None
        self._order.visible = known and len(unusual.rows) > 1
        self.unusual.panel.visible = known and len(unusual.rows) > 0
        self.isolated.panel.visible = explorer.run is not None and not lists_unusual
        if explorer.run is None:
            self.sentence.text = "Comes with the first map."
            return
        if self.isolated.panel.visible:
            self.isolated.show(explorer.run.hdr.anomalies)
            self.sentence.text = _ISOLATED
        elif known:
            self.unusual.show(explorer.listed_rows())
            self.sentence.text = _summary(unusual, explorer.run.n)
        else:
            self.sentence.text = "Comparing every home with similar homes and its own past"


def _summary(unusual: Any, n: int) -> str:
    listed = len(unusual.rows)
    judged = int((unusual.places >= 0).sum())
    notices = "".join(f" · {notice}" for notice in unusual.anomalies.notices)
    if not listed:
        return f"Nothing unusual: none of {judged:,} homes stands out.{notices}"
    sure = unusual.n_sure
    clearly = f"{sure or 'None'} of {judged:,} homes {'is' if sure < 2 else 'are'} clearly unusual"
    false = unusual.expected_false
    about = "fewer than one" if false < 0.5 else f"about {false:.0f}"
    more = f", {listed - sure:,} more worth a look" if listed > sure else ""
    return f"{clearly}{more}; expect {about} of the {listed:,} to be ordinary.{notices}"


def _look() -> dict[str, Any]:
    """How the table of unusual homes looks."""
    return {
        "titles": _TITLES,
        "widths": _WIDTHS,
        "header_tooltips": _TIPS,
        "formatters": lambda: {
            "size": NumberFormatter(format="+0,0.0"),
            "headline": {"type": "textarea"},  # as many lines as it takes
        },
        "text_align": dict.fromkeys(("size", "q"), "right"),
        "header_align": dict.fromkeys(("size", "q"), "right"),
        "layout": "fit_columns",
        # On a phone the table scrolls sideways.
        "configuration": {"columns": [{"field": "headline", "minWidth": 190}]},
    }
