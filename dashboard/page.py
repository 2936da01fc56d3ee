"""The page of a dataset: the bar, the settings, and the tabs.

Panes of the Explore tab: the map, the story of a point beside it, and the drawer with the tables
below it. The settings are at the left of all tabs.
"""

from collections.abc import Callable

import holoviews as hv
import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.version import describe
from dashboard.compare import CompareTab
from dashboard.data import DataTab
from dashboard.drawer import make_drawer
from dashboard.explore import (
    AnomalyList,
    DimensionTour,
    MapPaths,
    MapView,
    PointDetail,
    RunController,
    map_summary,
    settings,
)
from dashboard.export import ExportDialog, Sharing
from dashboard.groups import GroupPanel
from dashboard.jobs import SessionFolder
from dashboard.jobs.workspace import Workspace
from dashboard.keeps import Keeps
from dashboard.page_schedule import on_click
from dashboard.periods import PeriodsTab
from dashboard.segments import SegmentsTab
from dashboard.side_pane import make_side_pane
from dashboard.state import Explorer, ViewState
from dashboard.theme import DETAIL_WIDTH, DRAWER_HEIGHT, FULL_HEIGHT, NOT_ON_PHONES
from dashboard.widgets import (
    ColorKey,
    PageKeys,
    PlainText,
    SplitPane,
    TabBar,
    column,
    row,
    wrapped_row,
)
from dashboard.worklist import WorklistTab

_SETTINGS_WIDTH = 272  # pixels, when they are first opened
_ZOOM_STEP = 1.5
# In the lower left corner of the map, where it takes no room of its own.
_ON_THE_MAP = {
    "position": "absolute",
    "left": "0",
    "bottom": "0",
    "z-index": "3",
    "width": "min(100%, 460px)",
}
# As many names as the search field can hold; with more points, it offers households.
_MAXIMUM_NAMES = 5_000

_NO_MAP = "There is no map of these settings; the reason is above. Change them at the left."
_NOT_YET = "This map takes a while to compute. Press Run above to start it."

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
        self.detail = PointDetail(workspace, self.explorer)
        self.anomalies = AnomalyList(workspace, self.explorer)
        self.worklist = WorklistTab(workspace, folder, self.explorer)
        self.group = GroupPanel(workspace, folder, self.explorer)
        self.segments = SegmentsTab(
            workspace, self.explorer, self.map, choose=self.group.selection.choose
        )
        self.paths = MapPaths(workspace, self.explorer, self.map)
        self.tour = DimensionTour(workspace, self.explorer, self.map)
        self.data = DataTab(workspace)
        self.keeps = Keeps(workspace, self.explorer, name=self._name, link=link)
        self.periods = PeriodsTab(workspace, self.explorer)
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
        self.made = pmui.Button(
            label="",
            variant="text",
            size="small",
            margin=(2, 4),
            align="center",
            visible=False,
        )
        on_click(self.made, lambda: setattr(self.settings, "open", True))
        self.search = pmui.AutocompleteInput(
            label="Find",
            placeholder="id  ( / )",
            min_characters=1,
            case_sensitive=False,
            restrict=True,
            size="small",
            width=150,
            margin=(2, 8),
            align="center",
            stylesheets=[NOT_ON_PHONES],
        )
        self.search.param.watch(self._find, "value")
        self.tabs = TabBar(["Explore", "Compare", "Periods", "Data"], label="Pages", align="center")
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
                "Control+Shift+z": lambda: self.sharing.redo(),
                "Control+y": lambda: self.sharing.redo(),
                "+": lambda: self.map.zoom(_ZOOM_STEP),
                "=": lambda: self.map.zoom(_ZOOM_STEP),
                "-": lambda: self.map.zoom(1 / _ZOOM_STEP),
                "0": lambda: setattr(explorer, "ranges", None),
                "/": lambda: self.search.focus(),
                "f": self.detail.verdict.flag,
                "F": self.detail.verdict.flag,
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
        legend = ColorKey(
            choose=explorer.choose_category,
            sizing_mode="stretch_width",
            align="center",
            margin=(0, 8),
        )
        legend.link(explorer, hidden="hidden", bidirectional=True)

        def draw(*_: param.parameterized.Event) -> None:
            if self.map.scene is not None:
                legend.show_scene(self.map.scene, dark=explorer.dark)

        drawn = ["run", "color_by", "safe_colors", "dark", "unusual", "listed", "list_order"]
        explorer.param.watch(draw, drawn, precedence=5)
        return legend

    def _map_bar(self) -> pn.viewable.Viewable:
        """What is above the map: its state, its layers, its colours and what they say."""
        choice = self.explorer.param
        # Not the library's toggle, which has no accessible name.
        safe_colors = pmui.IconButton(
            icon="palette",
            color=choice.safe_colors.rx().rx.where("primary", "default"),
            size="small",
            margin=(4, 0),
            align="center",
            description=choice.safe_colors.rx().rx.where(
                "Colours for any kind of colour vision: on",
                "Colours for any kind of colour vision: off",
            ),
        )
        on_click(
            safe_colors,
            lambda: setattr(self.explorer, "safe_colors", not self.explorer.safe_colors),
        )
        layers = pmui.CheckButtonGroup.from_param(
            choice.layers,
            label="",
            size="small",
            margin=(3, 8),
            align="center",
            description="",
            sx={"& button": {"padding": "1px 8px", "fontSize": 12}},
        )
        self.explorer.param.watch(self._tell_how_made, "run")
        color_by = pmui.Select.from_param(
            choice.color_by, width=112, size="small", margin=(7, 0, 3, 10), align="center"
        )
        return column(
            wrapped_row(self.made, self.run_controller.line, safe_colors, layers),
            self.run_controller.messages,
            row(color_by, self._legend()),
        )

    def _tell_how_made(self, *_: param.parameterized.Event) -> None:
        """Say how the map is made, where the settings do not say it."""
        run = self.explorer.run
        if run is not None:
            is_needed = not self.settings.open
            self.made.param.update(label=map_summary(run.config), visible=is_needed)

    def _explore(self) -> pn.viewable.Viewable:
        """The map, its tables below it, and the story of a point beside both."""
        upper = pn.Column(
            self._map_bar(),
            self._map_place(),
            column(self.paths.player, self.tour.player, styles=_ON_THE_MAP),
            sizing_mode="stretch_both",
            margin=0,
        )
        drawer = SplitPane(
            main=upper,
            side=make_drawer(self.explorer, self.anomalies, self.worklist, self.segments),
            place="bottom",
            size=DRAWER_HEIGHT,
            minimum=64,
            label="the tables",
            keep="drawer",
        )
        return SplitPane(
            main=drawer,
            side=make_side_pane(self.explorer, self.detail, self.group),
            place="right",
            size=DETAIL_WIDTH,
            minimum=260,
            label="the selected point",
            keep="detail",
        )

    def _map_place(self) -> pn.viewable.Viewable:
        waiting = pn.Column(
            pmui.LoadingSpinner(size=40, align="center"),
            PlainText("Drawing the first map …", look="quiet", align="center"),
            align="center",
            margin=(100, 0),
        )
        place = pn.Column(waiting, sizing_mode="stretch_both", margin=0)

        def put(*_: param.parameterized.Event) -> None:
            place.objects = [self.map.panel]
            self.explorer.param.unwatch(watcher)

        watcher = self.explorer.param.watch(put, "run", precedence=6)

        def tell(event: param.parameterized.Event) -> None:
            """Say that there is no first map; later errors leave the last map."""
            if self.explorer.run is None:
                hint = PlainText(_NO_MAP, look="quiet", align="center", margin=(100, 30))
                place.objects = [hint if event.new else waiting]

        def wait_for_click(event: param.parameterized.Event) -> None:
            """A first map that takes long, as of a link, is computed when somebody asks for it."""
            if self.explorer.run is None:
                hint = PlainText(_NOT_YET, look="quiet", align="center", margin=(100, 30))
                place.objects = [hint if event.new else waiting]

        self.run_controller.error.param.watch(tell, "text")
        self.run_controller.run.param.watch(wait_for_click, "visible")
        return place

    def main(self) -> list[pn.viewable.Viewable]:
        """What fills the window below the bar."""
        parts = [self._explore(), self.compare.view, self.periods.view, self.data.view]
        pages = [
            pn.Column(part, sizing_mode="stretch_both", margin=0, scroll=scroll)
            for part, scroll in zip(parts, (False, True, True, True), strict=True)
        ]
        schedule = self.workspace.pool.schedule
        shown = {1: self.compare.show, 2: self.periods.show, 3: self.data.show}
        self.tabs.param.watch(lambda event: schedule(shown.get(event.new, lambda: None)), "active")
        settings = column()
        self.settings = SplitPane(
            main=self.tabs.stack(pages, sizing_mode="stretch_both"),
            side=settings,
            place="left",
            size=_SETTINGS_WIDTH,
            minimum=220,
            open=False,
            label="the settings",
            keep="settings",
            stylesheets=[FULL_HEIGHT],
        )

        def fill() -> None:
            """Make the settings when they are first seen: most pages are opened without them."""
            if not settings.objects:
                settings.objects = self._settings()

        # A browser that has kept them open says so while it still builds the page.
        self.settings.param.watch(lambda _: schedule(fill), "open")
        self.settings.param.watch(lambda _: schedule(self._tell_how_made), "open")
        return [
            self.settings,
            self.keys,
            *self.keeps.parts,
            self.sharing.dialog,
            self.exporting.dialog,
            self.exporting.download,
            self.worklist.download,
            self.group.download,
        ]

    def _settings(self) -> list[pn.viewable.Viewable]:
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
            on_click(other, offer)
        return [
            PlainText(self._name, look="heading", margin=(10, 12, 0, 12)),
            PlainText(facts, look="quiet", margin=(0, 12, 0, 12)),
            other,
            *settings(self.explorer),
            PlainText(f"Wattfold {describe()}", look="quiet", margin=(16, 12, 8, 12)),
        ]

    def header(self) -> list[pn.viewable.Viewable]:
        """What is in the bar."""
        fold = pmui.IconButton(
            icon="tune", description="Settings", size="small", margin=(0, 4), align="center"
        )
        on_click(fold, lambda: setattr(self.settings, "open", not self.settings.open))
        return [
            fold,
            PlainText(
                "Wattfold",
                look="brand",
                margin=(0, 12, 0, 4),
                align="center",
                stylesheets=[NOT_ON_PHONES],
            ),
            self.tabs,
            pn.Spacer(sizing_mode="stretch_width"),
            self.search,
            self.exporting.button,
            self.sharing.bar,
        ]
