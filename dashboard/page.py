"""The page of a dataset: its tabs, sidebar and bar."""

from collections.abc import Callable

import holoviews as hv
import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.version import describe
from dashboard.compare import CompareTab
from dashboard.data import DataTab
from dashboard.explore import (
    MapView,
    PinnedPoints,
    PointDetail,
    RunController,
    anomaly_table,
    chosen_table,
    sidebar,
)
from dashboard.export import ExportDialog, Sharing
from dashboard.jobs import SessionFolder
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer, ViewState
from dashboard.widgets import ColorKey, PageKeys, PlainText, row

_DETAIL_WIDTH = 430
# As many names as the search field can hold; with more points, it offers households.
_MAXIMUM_NAMES = 5_000

hv.extension("bokeh")
pn.extension("tabulator")


class DatasetPage:
    """One session's page on one dataset.

    Parameters
    ----------
    workspace : Workspace
    folder : SessionFolder
        For files that the page writes.
    link : str, optional
        What a link to this dataset has in its query; None for data without a link.
    open_data : callable, optional
        Offers other data.
    """

    def __init__(
        self,
        workspace: Workspace,
        folder: SessionFolder,
        *,
        link: str | None = "",
        open_data: Callable[[], None] | None = None,
    ) -> None:
        self.workspace = workspace
        self.dataset = workspace.dataset
        self._open_data = open_data
        self._name = "Your own data" if link is None else self.dataset.path.name
        self.explorer = Explorer(self.dataset)
        self.run_controller = RunController(workspace, self.explorer)
        self.map = MapView(self.explorer)
        self.detail = PointDetail(self.explorer)
        self.data = DataTab(workspace)
        self.keys = self._make_keys()
        self.sharing = Sharing(
            workspace, folder, self.explorer, link, closed=self.keys.restore_focus
        )
        self.compare = CompareTab(
            workspace, self.explorer, explore=lambda: setattr(self.tabs, "active", 0)
        )
        self.exporting = ExportDialog(
            workspace,
            folder,
            self.explorer,
            self.compare.comparison,
            closed=self.keys.restore_focus,
        )
        self.search = pmui.AutocompleteInput(
            label="Find",
            placeholder="id  ( / )",
            min_characters=1,
            case_sensitive=False,
            restrict=True,
            size="small",
            width=140,
            margin=(10, 8, 2, 8),
        )
        self.search.param.watch(self._find, "value")
        self.explorer.param.watch(self._update_search, "run", precedence=4)

    def _make_keys(self) -> PageKeys:
        explorer = self.explorer
        return PageKeys(
            {
                "ArrowDown": lambda: explorer.step(1),
                "ArrowRight": lambda: explorer.step(1),
                "ArrowUp": lambda: explorer.step(-1),
                "ArrowLeft": lambda: explorer.step(-1),
                "Escape": explorer.clear,
                "Control+z": lambda: self.sharing.undo(),
                "Control+Z": lambda: self.sharing.redo(),
                "Control+y": lambda: self.sharing.redo(),
                "/": lambda: self.search.focus(),
            }
        )

    def _update_search(self, *_: param.parameterized.Event) -> None:
        run = self.explorer.run
        names = run.units["label"] if run.n <= _MAXIMUM_NAMES else run.units["household"].unique()
        self.search.options = [str(name) for name in names]

    def _find(self, event: param.parameterized.Event) -> None:
        run = self.explorer.run
        if not event.new or run is None:
            return
        if not self.explorer.select_label(event.new):
            rows = (run.units["household"] == event.new).to_numpy().nonzero()[0]
            if len(rows):
                self.explorer.selected = int(rows[run.hdr.rank[rows].argmin()])

    def open_link(self, token: str) -> None:
        """Show the view of a link, or why that is not possible."""
        try:
            self.explorer.restore(ViewState.from_token(token, self.dataset))
        except WattfoldError as error:
            self.run_controller.warning.say(f"{error} This is the default map.")

    def _legend(self) -> ColorKey:
        explorer = self.explorer
        legend = ColorKey(sizing_mode="stretch_width", margin=(0, 10))
        legend.link(explorer, hidden="hidden", bidirectional=True)

        def draw(*_: param.parameterized.Event) -> None:
            if self.map.scene is not None:
                legend.show_scene(self.map.scene, dark=explorer.dark)

        explorer.param.watch(draw, ["run", "color_by", "safe_colors", "dark"], precedence=5)
        return legend

    def _controls(self) -> pn.viewable.Viewable:
        """What is above the map: colours, layers, search."""
        choice = self.explorer.param
        # Not the library's toggle, which has no accessible name.
        safe_colors = pmui.IconButton(
            icon="palette",
            color=choice.safe_colors.rx().rx.where("primary", "default"),
            size="small",
            margin=(12, 2, 4, 2),
            description=choice.safe_colors.rx().rx.where(
                "Colours for any kind of colour vision: on",
                "Colours for any kind of colour vision: off",
            ),
        )
        safe_colors.on_click(
            lambda _: setattr(self.explorer, "safe_colors", not self.explorer.safe_colors)
        )
        # More room above than below: the labels of fields are on their upper edge.
        return row(
            pmui.Select.from_param(choice.color_by, width=150, size="small", margin=(10, 4, 2, 10)),
            safe_colors,
            pmui.CheckButtonGroup.from_param(
                choice.layers,
                label="",
                size="small",
                margin=(13, 4, 5, 4),
                description="",
                sx={"& button": {"textTransform": "none", "padding": "3px 9px"}},
            ),
            pn.Spacer(sizing_mode="stretch_width"),
            self.search,
        )

    def _explore(self) -> pn.viewable.Viewable:
        waiting = pn.Column(
            pmui.LoadingSpinner(size=48),
            PlainText("Drawing the first map …", look="body"),
            align="center",
            margin=(140, 0),
        )
        map_place = pn.Column(waiting, sizing_mode="stretch_both", min_height=280, margin=0)
        detail_place = pn.Column(
            PlainText(
                "Choose a point on the map to see the demand behind it.",
                look="quiet",
                margin=(20, 12),
            ),
            sizing_mode="stretch_both",
            scroll=True,
            margin=0,
        )

        def put(*_: param.parameterized.Event) -> None:
            map_place.objects = [self.map.pane]
            detail_place.objects = [self.detail.panel]
            self.explorer.param.unwatch(watcher)

        watcher = self.explorer.param.watch(put, "run", precedence=6)

        def tell(event: param.parameterized.Event) -> None:
            """Show why there is no first map in its place; later errors leave the last map."""
            if self.explorer.run is None:
                why = PlainText(event.new, look="error", margin=(60, 30))
                map_place.objects = [why if event.new else waiting]

        self.run_controller.error.param.watch(tell, "text")
        tables = pmui.Tabs(
            ("Anomalies", anomaly_table(self.explorer)),
            ("Chosen", chosen_table(self.explorer)),
            sizing_mode="stretch_width",
            margin=0,
        )
        self.explorer.param.watch(
            lambda event: setattr(tables, "active", int(len(event.new) > 0)), "chosen"
        )
        return pn.Column(
            pn.Row(
                pn.Column(
                    self._controls(),
                    self._legend(),
                    map_place,
                    tables,
                    sizing_mode="stretch_both",
                    margin=0,
                ),
                pmui.Paper(
                    detail_place, width=_DETAIL_WIDTH, sizing_mode="stretch_height", margin=(6, 8)
                ),
                sizing_mode="stretch_both",
                # All of the window below bar and tabs; scroll to see the pinned points below it.
                styles={"height": "calc(100vh - 124px)", "min-height": "600px", "flex": "none"},
                margin=0,
            ),
            PinnedPoints(self.detail).panel,
            sizing_mode="stretch_both",
            margin=0,
        )

    def main(self) -> list[pn.viewable.Viewable]:
        """What fills the window: the tabs."""
        self.tabs = pmui.Tabs(
            ("Explore", self._explore()),
            ("Compare", self.compare.view),
            ("Data", self.data.view),
            sizing_mode="stretch_both",
            margin=0,
        )
        shown = {1: self.compare.show, 2: self.data.show}
        self.tabs.param.watch(lambda event: shown.get(event.new, lambda: None)(), "active")
        return [
            self.tabs,
            self.keys,
            self.sharing.dialog,
            self.exporting.dialog,
            self.exporting.download,
        ]

    def sidebar(self) -> list[pn.viewable.Viewable]:
        """What is at the left: the data, and the choices that make a map."""
        households = self.dataset.households
        first, last = households["first"].min(), households["last"].max()
        facts = f"{len(households):,} households · {first:%-d %b %Y} to {last:%-d %b %Y}"
        other = pmui.Button(
            label="Open data",
            icon="folder_open",
            variant="text",
            size="small",
            margin=(0, 8, 4, 8),
            visible=self._open_data is not None,
        )
        if self._open_data is not None:
            offer = self._open_data
            other.on_click(lambda _: offer())
        return [
            PlainText(self._name, look="heading", margin=(8, 12, 0, 12)),
            PlainText(facts, look="quiet", margin=(0, 12, 0, 12)),
            other,
            *sidebar(self.explorer),
            self.run_controller.panel,
            PlainText(f"Wattfold {describe()}", look="quiet", margin=(16, 12, 8, 12)),
        ]

    def header(self) -> list[pn.viewable.Viewable]:
        """What is in the bar."""
        return [
            pn.Spacer(sizing_mode="stretch_width"),
            self.exporting.button,
            self.sharing.bar,
        ]
