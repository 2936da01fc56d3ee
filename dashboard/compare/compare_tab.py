"""The Compare tab: the same points by several methods and neighbour searches, side by side.

The tab is empty until it is first shown. Then it looks for maps in the store; others are computed
when Run is pressed, and come in one by one.
"""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from core.runs import RunConfig
from dashboard.compare._consensus_table import ConsensusTable
from dashboard.compare._neighbor_graphs import GraphRow
from dashboard.compare._parameter_sweep import SweepForm
from dashboard.compare._quality_view import QualityTable, TimePlot
from dashboard.compare._small_maps import MapGrid
from dashboard.compare.comparison import ComparedMap, Comparison
from dashboard.jobs import coalesced
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.state.run_choices import DISTANCE_TITLES, UNIT_TITLES
from dashboard.widgets import PlainText, column, duration, row, section

_CHOICE_STYLE = {
    "& button": {"textTransform": "none", "padding": "2px 9px", "whiteSpace": "nowrap"}
}


class CompareTab:
    """Linked maps of the same points, their quality, and the anomalies that they agree on.

    Put ``view`` on the page and call :meth:`show` whenever the tab is opened.

    Parameters
    ----------
    explore : callable
        Switches to Explore, for a map that is opened there.
    """

    def __init__(
        self, workspace: Workspace, explorer: Explorer, *, explore: Callable[[], None]
    ) -> None:
        self.explorer = explorer
        self._explore = explore
        self.comparison = Comparison(workspace, explorer)
        self.grid = MapGrid(self.comparison, opened=self._open)
        self.table = QualityTable(self.comparison)
        self.plot = TimePlot(self.comparison)
        self.sweep = SweepForm(self.comparison)
        self.graphs = GraphRow(self.comparison)
        self.consensus = ConsensusTable(self.comparison)
        self.subject = PlainText(look="quiet", margin=(4, 10, 0, 10), sizing_mode="stretch_width")
        self.status = PlainText(
            look="body", margin=(4, 10), align="center", sizing_mode="stretch_width"
        )
        self.selection = PlainText(look="body", margin=(6, 10, 0, 10), width=290)
        self.error = PlainText(
            look="error", visible=False, margin=(4, 10), sizing_mode="stretch_width"
        )
        # Its label stays: Panel loses one that changes while the browser still builds the button.
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
        on_click(self.run, self.comparison.start)
        on_click(self.cancel, self.comparison.cancel)
        on_click(self.renew, self.comparison.arrange)
        schedule = workspace.pool.schedule
        watch = self.comparison.param.watch
        watch(self._show_status, ["arranged", "progressed", "finished"])
        watch(self._show_selection, ["selected", "finished"])
        # Settings that belong together change one after the other, in one turn of the event loop.
        self._follow_settings = coalesced(schedule, self._compare_settings)
        explorer.param.watch(self._follow_settings, Explorer.CHOICES)
        # Below the maps, and still to be brought up to date.
        self._below = (self.consensus, self.plot, self.table, self.graphs)
        self._outdated: list[Any] = []
        self._refresh_below = coalesced(schedule, self._refresh_next)
        watch(self._on_runs, "finished")
        watch(self._refresh_below, ["progressed", "finished"])
        explorer.param.watch(self._on_runs, "unusual")
        explorer.param.watch(self._refresh_below, "unusual")
        self._colors = row(visible=False)
        self._details = column(visible=False)
        self.view = pn.Column(sizing_mode="stretch_width", margin=(4, 4))

    # What happens when

    def show(self) -> None:
        """Fill the tab when it is first opened; later compare other settings if nothing is lost."""
        if not self.view.objects:
            # Maps first: what is put into a place that the browser is still building can be lost.
            self.comparison.arrange()
            self.view.objects = self._parts()
        else:
            self._follow_settings()

    def _compare_settings(self) -> None:
        """Follow Explore's settings, unless there are maps of others, computed or on the way."""
        comparison = self.comparison
        if not self.view.objects:
            return
        if (comparison.grid is None or comparison.outdated) and not (
            comparison.busy or comparison.runs
        ):
            comparison.arrange()
        else:
            self._show_status()

    def _on_runs(self, *_: param.parameterized.Event) -> None:
        self._outdated += [part for part in self._below if part not in self._outdated]

    def _refresh_next(self) -> None:
        """Refresh one part, so that the page answers in between, once all maps have come in.

        A table that is shown other numbers while the browser still builds it breaks.
        """
        comparison = self.comparison
        if self._outdated and comparison.runs and not (comparison.reading or comparison.busy):
            self._outdated.pop(0).refresh()
            self._show_details()
            self._refresh_below()

    def _open(self, each: ComparedMap) -> None:
        self.comparison.open(each)
        self._explore()

    # Texts

    def _show_status(self, *_: param.parameterized.Event) -> None:
        comparison = self.comparison
        self.error.say(comparison.error)
        if comparison.grid is None:
            return
        busy, missing = comparison.busy, comparison.missing
        self.subject.text = subject(comparison.grid.plan.config, comparison.n)
        self.status.text = "" if comparison.error else self._status_text()
        self.run.visible = bool(missing) and not (busy or comparison.looking or comparison.error)
        self.cancel.visible = busy
        self.renew.visible = comparison.outdated
        self._details.visible = self._colors.visible = bool(comparison.runs)

    def _status_text(self) -> str:
        comparison = self.comparison
        states = [each.state for each in comparison.maps]
        total, missing = len(states), len(comparison.missing)
        done, failed = states.count("done"), states.count("failed")
        if comparison.busy:
            return f"{done} of {total} maps are there; the others are being computed."
        if comparison.looking:
            return "Looking for stored maps …"
        if missing:
            seconds = comparison.cost()
            about = "" if seconds is None else f": about {duration(seconds)}"
            there = f"{done} of {total} maps are there. " if done else ""
            again = f" ({failed} failed)" if failed else ""
            maps = "maps" if missing > 1 else "map"
            return (
                f"{there}{missing} {maps} to compute{again}, {comparison.n:,} points each{about}."
            )
        if comparison.outdated:
            return "Explore's settings have changed: these maps show the previous ones."
        return (
            f"{total} maps of the same points, rotated to match. Point at a place to find it on "
            "all maps, click to select it; a heading opens its map in Explore."
        )

    def _show_selection(self, *_: param.parameterized.Event) -> None:
        """Tell the ranks of the selected point on all maps."""
        row, first, consensus = (
            self.comparison.selected,
            self.comparison.first,
            self.comparison.consensus(),
        )
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
        choice = self.comparison.param
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
            row(self.run, self.cancel, self.renew, self.status),
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
            row(
                section(
                    "Consensus",
                    "Unusual homes and the detector that found each, then what is isolated on any "
                    "map; on how many maps each is. Click a row to select its point.",
                    self.consensus.panel,
                    styles={"flex": "1.35 1 0"},
                ),
                section(
                    "Time against quality",
                    "One point per map; up and left is better. A sweep adds maps of one method "
                    "for several settings of the search.",
                    self.plot.panel,
                    self.sweep.panel,
                    styles={"flex": "1 1 0"},
                ),
            ),
            section(
                "Quality of every map",
                "Higher is better, except for seconds; the best is bold. Click a heading to sort.",
                self.table.panel,
            ),
            section(
                "Neighbour graphs",
                "All at the places of the first map; edges that are not in the exact graph are "
                "red. Lines lead to the neighbours of the selected point.",
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
