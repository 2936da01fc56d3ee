"""The small maps: one for every method and search, in rows and columns, linked with each other."""

from functools import partial
from typing import Any

import numpy as np
import panel as pn
import param

from core.embedding import METHODS, align
from core.quality import MEASURES
from core.runs import Run
from core.scene import DARK, LIGHT, View, color_points, map_points, map_scene
from core.scene.coloring import HDR, OF_EACH_MAP, choices
from core.scene.view import nearest
from core.study.study_tables import run_seconds
from dashboard.compare._small_map_images import (
    Frame,
    Picture,
    consensus_coloring,
    draw_small_map,
)
from dashboard.compare.comparison import ComparedMap, Comparison
from dashboard.jobs import FollowedJob, coalesced
from dashboard.widgets import ColorKey, MapMarks, PlainText, SmallMap

FIRST_HDR, CONSENSUS = "HDR of the first map", "Consensus"
# So many maps side by side can still be read.
_FEW_COLUMNS = 3
_WIDEST = 400  # pixels
_SHOWN_ONCE = (
    "Searches that are named together found neighbours that lead to the same maps, shown once."
)


class MapPlaces:
    """Where the points of a run are in its picture: turned like the first map, then framed."""

    def __init__(self, run: Run, model: np.ndarray | None) -> None:
        self.run = run
        scene = map_scene(run)
        turned = scene.points if model is None else align(scene.points, model).turn(scene.points)
        self.scene = scene.with_(points=turned)
        self.frame = Frame.around(turned)

    def at(self, rows: np.ndarray) -> np.ndarray:
        """Places of some points in the picture, (m, 2)."""
        return self.frame(self.scene.points[rows])

    def nearest(self, x: float, y: float, reach: float) -> int | None:
        """The point nearest to a place of the picture, if it is within reach."""
        # A frame of one pixel for each of its units, so that the reach is in pixels.
        frame = View((0.0, 1.0), (0.0, 1.0), 1, 1)
        return nearest(self.frame(self.scene.points), (x, y), frame, reach=reach)


class MapGrid(param.Parameterized):
    """All small maps of a comparison, with their colours and the selection."""

    color_by: Any = param.Selector(
        default=HDR, objects=[HDR, CONSENSUS], label="Colour by", doc="What colours say"
    )
    hidden: Any = param.List(default=[], doc="Categories that are switched off in the legend")

    def __init__(self, comparison: Comparison, *, opened: Any) -> None:
        super().__init__()
        self.comparison = comparison
        self._opened = opened
        self.maps: dict[ComparedMap, SmallMap] = {}
        self.places: dict[ComparedMap, MapPlaces] = {}
        self._model: Run | None = None
        # Of each search: what is seen of it, and what names it.
        self._seen: dict[str, list[Any]] = {}
        self._named: dict[str, list[Any]] = {}
        self._hint = PlainText(_SHOWN_ONCE, look="quiet", margin=(4, 10, 0, 10), visible=False)
        self._drawing: dict[ComparedMap, FollowedJob] = {}
        self._stale: set[ComparedMap] = set()
        self._draw = coalesced(comparison.workspace.pool.schedule, self._draw_stale)
        self.panel = pn.Column(sizing_mode="stretch_width", margin=0)
        self.key = ColorKey(sizing_mode="stretch_width", margin=(0, 10))
        self.key.link(self, hidden="hidden", bidirectional=True)
        self.links = MapMarks()
        comparison.param.watch(self._arrange, "arranged")
        comparison.param.watch(self._take_runs, "finished")
        comparison.param.watch(self._tell, ["progressed", "finished"])
        comparison.param.watch(self._mark, "selected")
        comparison.explorer.param.watch(self._mark, ["pins", "layers"])
        comparison.explorer.param.watch(self._recolor, ["safe_colors", "chosen", "dark"])
        self.param.watch(self._recolor, ["color_by", "hidden"])

    # Layout

    def _arrange(self, *_: param.parameterized.Event) -> None:
        if self.comparison.grid is None:
            return
        plan = self.comparison.grid.plan
        for gone in self.maps.keys() - set(self.comparison.grid.maps):
            for kept in (self.maps, self.places, self._drawing):
                kept.pop(gone, None)
            self._stale.discard(gone)
        # The longer of the two goes across: screens are wider than high.
        by_method = len(plan.methods) >= len(plan.searches)
        down = plan.searches if by_method else plan.methods
        across = plan.methods if by_method else plan.searches
        method_title = {name: METHODS[name].title for name in plan.methods}
        search_title = {name: plan.search_title(name) for name in plan.searches}
        rows: list[Any] = [self._hint]
        self._seen = {search: [] for search in plan.searches}
        self._named = {search: [] for search in plan.searches}
        for line in down:
            row_title = (search_title if by_method else method_title)[line]
            cards = []
            for column in across:
                method, search = (column, line) if by_method else (line, column)
                heading = (method_title if by_method else search_title)[column]
                full = f"{method_title[method]}, neighbours by {search_title[search]}"
                cards.append(self._card(method, search, heading, full))
                if not by_method:
                    self._seen[search].append(cards[-1])
                    self._named[search].append(cards[-1])
            title = PlainText(row_title, look="heading", margin=(4, 10, 0, 10))
            cards_row = pn.Row(*cards, sizing_mode="stretch_width", margin=(0, 4))
            if by_method:
                self._seen[line] = [title, cards_row]
                self._named[line] = [title]
            rows += [title, cards_row]
        self.panel.objects = rows
        self._fold()

    def _fold(self) -> None:
        """Show maps that are the same once.

        The others are hidden, not taken away: the browser may still be told about them.
        """
        grid = self.comparison.grid
        if grid is None:
            return
        study = grid.study(self.comparison.dataset)
        groups = study.search_groups
        self._hint.visible = len(groups) < len(grid.plan.searches)
        for group in groups:
            for search in group:
                for part in self._seen[search]:
                    part.visible = search == group[0]
            for part in self._named[group[0]]:
                name = "text" if isinstance(part, PlainText) else "heading"
                part.param.update(**{name: study.group_title(group)})

    def _card(self, method: str, search: str, heading: str, full: str) -> SmallMap:
        grid = self.comparison.grid
        assert grid is not None  # noqa: S101 (there is one, or nothing would be arranged)
        entry = grid.map_of(method, search)
        shown: dict[str, Any] = {"heading": heading, "hint": f"Open {full} in Explore"}
        if entry is None:
            return _small_map(**shown, state="failed", message=grid.why_not(method, search))
        if entry not in self.maps:
            self.maps[entry] = _small_map(
                opened=partial(self._opened, entry), tapped=partial(self._tapped, entry)
            )
        few = max(len(grid.plan.methods), len(grid.plan.searches)) <= _FEW_COLUMNS
        self.maps[entry].param.update(
            **shown, max_width=_WIDEST if few else None, shape="1.3" if few else "1.2"
        )
        return self.maps[entry]

    # What is said of each

    def _tell(self, *_: param.parameterized.Event) -> None:
        runs = self.comparison.runs
        best = {
            name: max(
                (round(value, 3) for run in runs if (value := _figure(run, name)) is not None),
                default=None,
            )
            for name in ("recall", "trustworthiness")
        }
        for entry, card in self.maps.items():
            card.param.update(**_status(entry), figures=self._figures(entry, best))

    def _figures(self, entry: ComparedMap, best: dict[str, float | None]) -> list[list[Any]]:
        if entry.run is None:
            return []
        figures: list[list[Any]] = []
        for short, name, meaning in (
            ("T", "trustworthiness", "Trustworthiness: near on the map is near in truth"),
            ("R", "recall", "Recall: the share of true neighbours that the search found"),
        ):
            value = _figure(entry.run, name)
            if value is not None:
                several = name == "trustworthiness" and len(self.comparison.runs) > 1
                figures.append(
                    [short, _three(value), meaning, several and round(value, 3) == best[name]]
                )
        seconds = run_seconds(entry.run)
        if seconds is not None:
            figures.append(["", _seconds(seconds), "For neighbours and map, when computed", False])
        return figures

    # Pictures

    def _take_runs(self, *_: param.parameterized.Event) -> None:
        """Lay out the runs that have come in; another first map turns them all."""
        first = self.comparison.first
        if first is None:
            self._model = None
            return
        self._fold()
        if first is not self._model:
            self._model = first
            self.places.clear()
            self.param.color_by.objects = [HDR, FIRST_HDR, CONSENSUS, *choices(first)[1:]]
        model = map_points(first.y, first.hdr.density)
        for entry in self.maps:
            if entry.run is not None and entry not in self.places:
                self.places[entry] = MapPlaces(entry.run, None if entry.run is first else model)
                self._stale.add(entry)
        if self.color_by == CONSENSUS:
            self._stale |= self.places.keys()
        self._draw()
        self._draw_key()
        self._mark()

    def _recolor(self, *events: param.parameterized.Event) -> None:
        if self.hidden and any(event.name == "color_by" for event in events):
            self.hidden = []  # which comes back here
            return
        self._stale |= self.places.keys()
        self._draw()
        self._draw_key()

    def _draw_stale(self) -> None:
        """Draw in a thread: a crowd takes longer than the event loop should."""
        for entry in list(self._stale):
            if entry in self._drawing:
                self._drawing.pop(entry).cancel()
            self._stale.discard(entry)
            pool = self.comparison.workspace.pool
            self._drawing[entry] = pool.call(self._painter(entry), threads="draw")
            self._drawing[entry].on_end(partial(self._show_picture, entry))

    def _show_picture(self, entry: ComparedMap, drawn: FollowedJob) -> None:
        del self._drawing[entry]
        if entry in self.maps and drawn.result is not None:
            self.maps[entry].param.update(
                **drawn.result.parameters(), state="drawn", opens=True, message=""
            )

    @property
    def settled(self) -> bool:
        """Whether all pictures that there can be are drawn."""
        return not self._drawing and not self._stale

    def _painter(self, entry: ComparedMap) -> Any:
        """What draws a map, with all it needs as it is now."""
        run, first = entry.run, self._model
        assert run is not None and first is not None  # noqa: S101 (only runs are drawn)
        explorer = self.comparison.explorer
        consensus = self.comparison.consensus()
        assert consensus is not None  # noqa: S101 (there is a run)
        color_by, safe, hidden = self.color_by, explorer.safe_colors, list(self.hidden)
        minutes = self.comparison.dataset.interval_minutes
        scene, chosen = self.places[entry].scene, self._chosen()
        theme = DARK if explorer.dark else LIGHT

        def paint() -> Picture:
            shown = scene
            if color_by == CONSENSUS:
                coloring = consensus_coloring(consensus, safe=safe)
                shown = shown.with_(
                    order=np.argsort(consensus.count, kind="stable"),
                    marked=consensus.points[consensus.count[consensus.points] > 1],
                )
            else:
                by = HDR if color_by == FIRST_HDR else color_by
                source = run if color_by in OF_EACH_MAP else first
                coloring = color_points(source, by, interval_minutes=minutes, safe=safe)
            shown = shown.with_(coloring=coloring, shown=coloring.shown(hidden), chosen=chosen)
            return draw_small_map(shown, theme=theme)

        return paint

    def _chosen(self) -> np.ndarray | None:
        """Which points are chosen on Explore, if these are its points, (n,)."""
        explorer, first = self.comparison.explorer, self._model
        if explorer.run is None or first is None or not len(explorer.chosen):
            return None
        same = explorer.run.n == first.n and self.comparison.row_of(int(explorer.chosen[0]))
        if same != explorer.chosen[0]:
            return None
        chosen = np.zeros(first.n, bool)
        chosen[explorer.chosen] = True
        return chosen

    def _draw_key(self) -> None:
        first, safe = self._model, self.comparison.explorer.safe_colors
        if first is None:
            return
        if self.color_by == CONSENSUS:
            consensus = self.comparison.consensus()
            assert consensus is not None  # noqa: S101 (there is a run)
            coloring = consensus_coloring(consensus, safe=safe)
        else:
            by = HDR if self.color_by == FIRST_HDR else self.color_by
            minutes = self.comparison.dataset.interval_minutes
            coloring = color_points(first, by, interval_minutes=minutes, safe=safe)
        self.key.show_colors(
            coloring,
            dark=self.comparison.explorer.dark,
            counted=self.color_by not in OF_EACH_MAP,
        )

    # The selection

    def _tapped(self, entry: ComparedMap, x: float, y: float, reach: float) -> None:
        places = self.places.get(entry)
        row = None if places is None else places.nearest(x, y, reach)
        if row is not None:
            self.comparison.select(row)

    def _mark(self, *_: param.parameterized.Event) -> None:
        """Ring the selected and the pinned points on every map; show where its neighbours are."""
        comparison, explorer = self.comparison, self.comparison.explorer
        pins = [row for pin in explorer.pins if (row := comparison.row_of(pin)) is not None]
        shown = []
        for entry, places in self.places.items():
            marks, spokes = marks_of(entry.run, places, comparison.selected, pins)
            shown.append(
                [self.maps[entry].key, marks, spokes if "edges" in explorer.layers else []]
            )
        self.links.marks = shown


def marks_of(
    run: Run | None, places: MapPlaces, selected: int | None, pins: list[int]
) -> tuple[list[list[float]], list[list[float]]]:
    """Rings around points, and lines from the selected one to its neighbours."""
    marks = [[*map(float, places.at(np.array([pin]))[0]), 5.0] for pin in pins]
    if run is None or selected is None:
        return marks, []
    ends = run.neighbors.indices[selected]
    here, *there = places.at(np.array([selected, *ends[ends >= 0]])).tolist()
    return [*marks, [*here, 7.0]], [[*here, *place] for place in there]


def _small_map(**parameters: Any) -> SmallMap:
    return SmallMap(sizing_mode="stretch_width", margin=(0, 6, 6, 6), **parameters)


def _status(entry: ComparedMap) -> dict[str, Any]:
    """What a card says before there is a picture."""
    if entry.state == "done":
        return {}
    says = {
        "looking": "looking for it" if not entry.computed else "drawing",
        "absent": "not computed yet",
        "queued": "waiting",
        "running": f"{entry.message}\n{entry.fraction:.0%}",
        "failed": entry.message,
    }
    state = {"absent": "absent", "failed": "failed"}.get(entry.state, "waiting")
    fraction = entry.fraction if entry.state == "running" else 0.0
    return {"state": state, "message": says[entry.state], "fraction": fraction, "opens": False}


def _figure(run: Run, name: str) -> float | None:
    if name in MEASURES:
        return None if run.quality is None else run.quality.measures()[name]
    return run.recall


def _three(value: float) -> str:
    """Three digits, as tables of the field have them: .943, and 1 for what is 1."""
    return "1" if value == 1 else f"{value:.3f}".removeprefix("0")


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"
