"""The Compare tab: the same points by several methods and neighbour searches, side by side.

The tab is empty until it is first shown. Then it looks for maps that were made before; others are
made when Run is pressed, and come in one after the other.
"""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from core.readings import Dataset
from core.runs import RunConfig
from dashboard import fits
from dashboard.choices import DISTANCE_TITLES, UNIT_TITLES
from dashboard.compare_board import Board, Entry
from dashboard.compare_consensus import ConsensusTable
from dashboard.compare_graphs import GraphRow
from dashboard.compare_maps import MapGrid
from dashboard.compare_quality import QualityTable, TimePlot
from dashboard.compare_sweep import SweepForm
from dashboard.components import PlainText
from dashboard.data_sections import section
from dashboard.job_line import duration
from dashboard.state import Explorer

_CHOICE_STYLE = {
    "& button": {"textTransform": "none", "padding": "2px 9px", "whiteSpace": "nowrap"}
}


class CompareTab:
    """Maps of the same points, linked; what they are worth; what they agree on.

    Put ``view`` on the page, call :meth:`show` whenever it comes into sight and :meth:`poll` a few
    times a second, both from callbacks of the session.

    Parameters
    ----------
    explore : callable
        Brings Explore into sight, for a map that is opened there.
    """

    def __init__(
        self, dataset: Dataset, explorer: Explorer, *, explore: Callable[[], None]
    ) -> None:
        self.dataset = dataset
        self.explorer = explorer
        self._explore = explore
        self.board = Board(dataset, explorer)
        self.grid = MapGrid(self.board, opened=self._open)
        self.table = QualityTable(self.board)
        self.plot = TimePlot(self.board)
        self.sweep = SweepForm(self.board)
        self.graphs = GraphRow(self.board)
        self.consensus = ConsensusTable(self.board)
        self.subject = PlainText(look="quiet", margin=(4, 10, 0, 10), sizing_mode="stretch_width")
        self.status = PlainText(
            look="body", margin=(4, 10), align="center", sizing_mode="stretch_width"
        )
        self.selection = PlainText(look="body", margin=(6, 10, 0, 10), width=290)
        self.error = PlainText(
            look="error", visible=False, margin=(4, 10), sizing_mode="stretch_width"
        )
        self.run = pmui.Button(label="Run", size="small", visible=False, margin=(2, 4, 2, 10))
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", visible=False, margin=(2, 4, 2, 10)
        )
        self.renew = pmui.Button(
            label="Compare what Explore shows",
            variant="outlined",
            size="small",
            visible=False,
            margin=(2, 4, 2, 10),
        )
        self.run.on_click(lambda _: self.board.start())
        self.cancel.on_click(lambda _: self.board.cancel())
        self.renew.on_click(lambda _: self.board.arrange())
        self.board.param.watch(self._tell, ["arranged", "progressed", "finished"])
        self.board.param.watch(self._tell_selection, ["selected", "finished"])
        explorer.param.watch(self._note_change, Explorer.CHOICES)
        # What follows the runs, in the order in which it is brought up to date.
        self._followers = (self.consensus, self.plot, self.table, self.graphs)
        self._late: list[Any] = []
        self.board.param.watch(self._note_runs, "finished")
        self._changed = False
        self._seen = False
        self._colors = pn.Row(visible=False, sizing_mode="stretch_width", margin=0)
        self._details = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)
        self.view = pn.Column(sizing_mode="stretch_width", margin=(4, 4))

    # What happens when

    def show(self) -> None:
        """Fill the tab when it is first seen; compare other points if nothing is there to lose."""
        if not self._seen:
            self._seen = True
            self.view.objects = self._parts()
            self.board.arrange()
        else:
            self._changed = True

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something; nobody knows once the tab was seen."""
        return self._seen

    def poll(self) -> None:
        """Go on with what is under way; called a few times a second."""
        if not self._seen:
            return
        if self._changed:
            self._changed = False
            self._consider()
        self.board.poll()
        self.grid.poll()
        self.graphs.poll()
        # One at a time, so that the page answers in between, and not for every map of many.
        if self._late and self.board.runs and not self.board.found_lately:
            self._late.pop(0).refresh()
            self._show_details()

    def _note_change(self, *_: param.parameterized.Event) -> None:
        # Choices that belong together change one after the other: `poll` looks at all of them.
        self._changed = True

    def _note_runs(self, *_: param.parameterized.Event) -> None:
        self._late += [follower for follower in self._followers if follower not in self._late]

    def _consider(self) -> None:
        """Follow Explore's choices, unless maps of others are there or under way."""
        board = self.board
        if (board.grid is None or board.outdated) and not board.busy and not board.runs:
            board.arrange()
        else:
            self._tell()

    def end(self) -> None:
        """Make no more maps for a page that is gone."""
        if self._seen:
            fits.pool().cancel_session(self.board.session)

    def _open(self, entry: Entry) -> None:
        self.board.open(entry)
        self._explore()

    # What is said

    def _tell(self, *_: param.parameterized.Event) -> None:
        board = self.board
        self.error.param.update(text=board.error, visible=bool(board.error))
        if board.grid is None:
            return
        busy, missing = board.busy, board.missing
        self.subject.text = subject(board.grid.plan.config, board.n)
        self.status.text = "" if board.error else self._status()
        self.run.param.update(
            visible=bool(missing) and not (busy or board.looking or board.error),
            label="Run" if len(missing) == len(board.entries) else f"Run the other {len(missing)}",
        )
        self.cancel.visible = busy
        self.renew.visible = board.outdated
        self._details.visible = self._colors.visible = bool(board.runs)

    def _status(self) -> str:
        board = self.board
        total, missing = len(board.entries), len(board.missing)
        done = sum(entry.state == "done" for entry in board.entries)
        failed = sum(entry.state == "failed" for entry in board.entries)
        if board.busy:
            return f"{done} of {total} maps are there; the others come in as they are made."
        if board.looking:
            return "Looking for maps that were made before …"
        if missing:
            seconds = board.cost()
            about = "" if seconds is None else f": about {duration(seconds)}"
            there = f"{done} of {total} maps are there. " if done else ""
            again = f" ({failed} failed)" if failed else ""
            maps = "maps" if missing > 1 else "map"
            return f"{there}{missing} {maps} to make{again}, of {board.n:,} points each{about}."
        if board.outdated:
            return "Explore has changed since: these maps are of the choices before."
        return (
            f"{total} maps of the same points, turned alike. Point at a place to find it on all, "
            "click to select it; a heading opens its map in Explore."
        )

    def _tell_selection(self, *_: param.parameterized.Event) -> None:
        """Say where the selected point stands on all maps."""
        row, first, consensus = self.board.selected, self.board.first, self.board.consensus()
        if row is None or first is None or consensus is None:
            self.selection.text = ""
            return
        low, high = int(consensus.best_rank[row]), int(consensus.worst_rank[row])
        ranks = f"rank {low:,}" if low == high else f"ranks {low:,} to {high:,} of {first.n:,}"
        self.selection.text = (
            f"{first.units['label'].iat[row]} is selected: {ranks}, among the top "
            f"{consensus.n_top} on {consensus.count[row]} of {consensus.runs}."
        )

    # Layout

    def _parts(self) -> list[Any]:
        choice = self.board.param
        chooser: dict[str, Any] = {
            "label": "",
            "size": "small",
            "margin": (2, 4),
            "sx": _CHOICE_STYLE,
            "description": "",
        }
        self._colors.objects = [
            pmui.Select.from_param(
                self.grid.param.color_by, width=170, size="small", margin=(6, 4, 2, 10)
            ),
            pn.Column(self.grid.key, sizing_mode="stretch_width", margin=(10, 0, 0, 0)),
            self.selection,
        ]
        return [
            pn.Row(
                PlainText("Methods", look="heading", margin=(8, 6, 0, 10), width=78),
                pmui.CheckButtonGroup.from_param(choice.methods, **chooser),
                margin=0,
            ),
            pn.Row(
                PlainText("Neighbours", look="heading", margin=(8, 6, 0, 10), width=78),
                pmui.CheckButtonGroup.from_param(choice.searches, **chooser),
                margin=0,
            ),
            self.subject,
            pn.Row(
                self.run,
                self.cancel,
                self.renew,
                self.status,
                sizing_mode="stretch_width",
                margin=0,
            ),
            self.error,
            self._colors,
            self.grid.panel,
            self.grid.links,
            self._details,
        ]

    def _show_details(self) -> None:
        """Put what is below the maps on the tab, once there is something in it."""
        if self._details.objects:
            return
        self._details.objects = [
            pn.Row(
                section(
                    "Consensus",
                    "In how many maps a point is among the top anomalies: what all agree on does "
                    "not depend on the method. A click selects.",
                    self.consensus.panel,
                    styles={"flex": "1.35 1 0"},
                ),
                section(
                    "Time against quality",
                    "One point a map; up and left is better. A sweep adds maps of one method "
                    "for several settings of the search.",
                    self.plot.panel,
                    self.sweep.panel,
                    styles={"flex": "1 1 0"},
                ),
                sizing_mode="stretch_width",
                margin=0,
            ),
            section(
                "Quality of every map",
                "Higher is better, but for seconds; the best is bold. Click a heading to sort.",
                self.table.panel,
            ),
            section(
                "Neighbour graphs",
                "All at the places of the first map; edges that the exact graph has not are red. "
                "Lines lead to the neighbours of the selected point.",
                self.graphs.panel,
                self.graphs.links,
            ),
        ]


def subject(config: RunConfig, n: int) -> str:
    """What is compared, in a line."""
    parts = [
        f"{n:,} points: {UNIT_TITLES[config.unit]}"
        + (f" ({config.household})" if config.household else ""),
        DISTANCE_TITLES[config.distance],
        f"K = {config.k}",
    ]
    if config.unit != "households":
        parts.append(f"window ±{config.window}")
    if config.households is not None:
        parts.append(f"{len(config.households):,} households")
    if config.slots is not None:
        parts.append(config.slots)
    return " · ".join(parts)
