"""The page: what is where, and what goes with what."""

from collections.abc import Callable

import holoviews as hv
import panel as pn
import panel_material_ui as pmui
import param

from core.build import describe
from core.errors import WattfoldError
from core.readings import Dataset
from dashboard.compare_tab import CompareTab
from dashboard.components import ColorKey, PageKeys, PlainText
from dashboard.data_tab import DataTab
from dashboard.detail import Detail, Pinned
from dashboard.export_menu import ExportMenu
from dashboard.fitting import Fitting
from dashboard.map_view import MapView
from dashboard.scene import Scene
from dashboard.sharing import Sharing
from dashboard.sidebar import sidebar
from dashboard.state import Explorer
from dashboard.tables import anomaly_table, chosen_table

_DETAIL_WIDTH = 430
# As many names as the search field can hold; of more points, the households are offered.
_MAXIMUM_NAMES = 5_000

hv.extension("bokeh")
pn.extension("tabulator")


class Page:
    """One session's page on one dataset.

    Parameters
    ----------
    session : str
        For whom workers work.
    link : str, optional
        What a link to this dataset has in its query; None if a link cannot lead here.
    open_data : callable, optional
        Offers other data.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        session: str,
        link: str | None = "",
        open_data: Callable[[], None] | None = None,
    ) -> None:
        self.dataset = dataset
        self.session = session
        self._open_data = open_data
        self._name = "Your own data" if link is None else dataset.path.name
        self.explorer = Explorer(dataset)
        self.fitting = Fitting(dataset, self.explorer, self.session)
        self.map = MapView(self.explorer)
        self.detail = Detail(self.explorer)
        self.data = DataTab(dataset)
        self.keys = self._make_keys()
        self.sharing = Sharing(self.explorer, link, closed=self.keys.give_back)
        self.compare = CompareTab(
            dataset, self.explorer, explore=lambda: setattr(self.tabs, "active", 0)
        )
        self.exporting = ExportMenu(
            dataset, self.explorer, session, self.compare.board, closed=self.keys.give_back
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
        self.explorer.param.watch(self._offer_names, "run", precedence=4)

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

    def _offer_names(self, *_: param.parameterized.Event) -> None:
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
        """Show what a link holds, or say why not."""
        try:
            self.explorer.restore(Scene.from_token(token, self.dataset))
        except WattfoldError as error:
            self.fitting.warn(f"{error} This is the map one starts with.")

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something."""
        parts = self.fitting, self.sharing, self.compare, self.exporting
        return any(part.expects_news for part in parts)

    def poll(self) -> None:
        """Look how the job is; called a few times a second."""
        self.fitting.poll()
        self.sharing.poll()
        self.compare.poll()
        self.exporting.poll()

    def _legend(self) -> ColorKey:
        explorer = self.explorer
        legend = ColorKey(sizing_mode="stretch_width", margin=(0, 10))
        legend.link(explorer, hidden="hidden", bidirectional=True)

        def draw(*_: param.parameterized.Event) -> None:
            coloring = self.map.coloring
            if coloring is None:
                return
            entries = [
                {"name": name, "color": color, "note": f"{count:,}"}
                for name, color, count in zip(
                    coloring.names, coloring.colors, coloring.counts, strict=False
                )
                if count
            ]
            missing = f"{coloring.missing:,} not known (grey)" if coloring.missing else ""
            scale = coloring.colors[: len(coloring.colors) - bool(coloring.missing)]
            legend.param.update(
                title=coloring.title,
                entries=entries,
                scale=[] if coloring.names else list(scale[::4]),
                ticks=[list(tick) for tick in coloring.ticks],
                missing="" if coloring.names else missing,
            )

        explorer.param.watch(draw, ["run", "color_by", "safe_colors"], precedence=5)
        return legend

    def _controls(self) -> pn.viewable.Viewable:
        """What is above the map: colours, layers, search."""
        choice = self.explorer.param
        # Not the library's toggle, which has no name for those who do not see it.
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
        # More room above than below: the names of fields stand on their upper edge.
        return pn.Row(
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
            sizing_mode="stretch_width",
            margin=0,
        )

    def _explore(self) -> pn.viewable.Viewable:
        waiting = pn.Column(
            pmui.LoadingSpinner(size=48),
            PlainText("The first map is being drawn", look="body"),
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
            """Say in place of the first map why there is none; later ones leave the last."""
            if self.explorer.run is None:
                why = PlainText(event.new, look="error", margin=(60, 30))
                map_place.objects = [why if event.new else waiting]

        self.fitting.error.param.watch(tell, "text")
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
                # All of the window below bar and tabs; what is pinned comes below, by scrolling.
                styles={"height": "calc(100vh - 124px)", "min-height": "600px", "flex": "none"},
                margin=0,
            ),
            Pinned(self.detail).panel,
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
            self.fitting.panel,
            PlainText(f"Wattfold {describe()}", look="quiet", margin=(16, 12, 8, 12)),
        ]

    def header(self) -> list[pn.viewable.Viewable]:
        """What is in the bar."""
        return [
            pn.Spacer(sizing_mode="stretch_width"),
            self.exporting.button,
            self.sharing.bar,
        ]

    def end(self) -> None:
        """Let go of what this page alone holds."""
        self.exporting.end()
        self.compare.end()
