"""The neighbour graphs of a comparison side by side, all at the places of the first map."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import panel as pn
import param

from core.runs import Run
from core.scene import DARK, LIGHT, MapScene, Theme
from dashboard.compare._small_map_images import Picture, draw_small_map, graph_scene
from dashboard.compare._small_maps import MapPlaces, marks_of
from dashboard.compare.comparison import Comparison
from dashboard.jobs import FollowedJob
from dashboard.widgets import MapMarks, SmallMap

_WIDEST = 440  # pixels


class GraphRow:
    """One picture for each search: its edges, and those that the exact graph has not in red."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.panel = pn.Row(sizing_mode="stretch_width", margin=0)
        self.maps: dict[str, SmallMap] = {}
        self._runs: dict[str, Run] = {}
        self._places: MapPlaces | None = None
        self._theme = LIGHT
        self._drawing: dict[str, FollowedJob] = {}
        self.links = MapMarks()
        comparison.param.watch(self._mark, "selected")
        comparison.explorer.param.watch(lambda _: self.refresh(), "dark")

    def refresh(self) -> None:
        """Draw the graphs that have come in; all of them if the exact one is new."""
        comparison, first = self.comparison, self.comparison.first
        if first is None or comparison.grid is None:
            return
        runs = graph_runs(comparison)
        before, self._runs = self._runs, runs
        fresh = self._places is None or self._places.run is not first
        if self._places is None or fresh:
            self._places = MapPlaces(first, None)
        truth, known = runs.get("exact"), before.get("exact")
        scene = self._places.scene
        theme = DARK if comparison.explorer.dark else LIGHT
        fresh |= theme is not self._theme
        self._theme = theme
        exact = None if truth is None else truth.neighbors.indices
        for search, run in runs.items():
            same = search in before and before[search] is run
            if not fresh and same and (truth is None) == (known is None):
                continue
            if search in self._drawing:
                self._drawing.pop(search).cancel()
            draw = partial(_draw_graph, scene, run.neighbors.indices, exact, theme)
            self._drawing[search] = comparison.workspace.pool.call(draw, threads="draw")
            self._drawing[search].on_end(partial(self._show_picture, search))
        if list(self.maps) != list(runs):
            self.maps = {search: self.maps.get(search) or self._card() for search in runs}
            self.panel.objects = list(self.maps.values())
        for search, run in runs.items():
            self.maps[search].param.update(
                heading=comparison.grid.plan.search_title(search), figures=_figures(run, truth)
            )
        self._mark()

    def _card(self) -> SmallMap:
        return SmallMap(
            tapped=self._tapped,
            state="waiting",
            message="drawing",
            shape="1.25",
            sizing_mode="stretch_width",
            max_width=_WIDEST,
            margin=(0, 6),
        )

    def _show_picture(self, search: str, drawn: FollowedJob) -> None:
        del self._drawing[search]
        if search in self.maps and drawn.result is not None:
            self.maps[search].param.update(**drawn.result.parameters(), state="drawn", message="")

    def _tapped(self, x: float, y: float, reach: float) -> None:
        if self._places is not None:
            row = self._places.nearest(x, y, reach)
            if row is not None:
                self.comparison.select(row)

    def _mark(self, *_: param.parameterized.Event) -> None:
        if self._places is None:
            return
        self.links.marks = [
            [card.key, *marks_of(self._runs[search], self._places, self.comparison.selected, [])]
            for search, card in self.maps.items()
        ]


def _draw_graph(
    scene: MapScene, indices: np.ndarray, exact: np.ndarray | None, theme: Theme
) -> Picture:
    picture = draw_small_map(graph_scene(scene, indices, exact), theme=theme)
    return replace(picture, size=0.6 * picture.size)


def graph_runs(comparison: Comparison) -> dict[str, Run]:
    """A run on each search's graph of K neighbours: t-SNE asks for more, others come first."""
    found: dict[str, Run] = {}
    if comparison.grid is None:
        return found
    cells = comparison.grid.study(comparison.dataset).cells
    for cell in sorted(cells, key=lambda cell: cell.method == "tsne"):
        if cell.run is not None:
            found.setdefault(cell.search, cell.run)
    return {search: found[search] for search in comparison.grid.plan.searches if search in found}


def _figures(run: Run, truth: Run | None) -> list[list[Any]]:
    figures: list[list[Any]] = []
    if run.recall is not None:
        figures.append(
            ["recall", f"{run.recall:.3f}", "The share of true neighbours that were found", False]
        )
    if truth is not None and truth.neighbors.indices.shape == run.neighbors.indices.shape:
        same = (truth.neighbors.indices == run.neighbors.indices).all(axis=1).mean()
        figures.append(
            ["same list", f"{same:.1%}", "Points whose list of neighbours is the exact one", False]
        )
    seconds = run.computed_in.get("neighbors")
    if seconds is not None:
        figures.append(["", f"{seconds:.2f} s", "For the search, when it was computed", False])
    components = run.components
    if components > 1:
        figures.append(["", f"{components:,} parts", "Parts that no edge joins", False])
    return figures
