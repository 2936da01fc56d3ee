"""The neighbour graphs of a comparison side by side, all at the places of the first map."""

from concurrent.futures import Future
from functools import partial
from typing import Any

import panel as pn
import param

from core.figures.canvas import map_points
from core.runs import Run
from dashboard.compare_board import Board
from dashboard.compare_maps import MapPlaces, drawers, marks_of
from dashboard.compare_pictures import Picture, draw_graph
from dashboard.components import MapMarks, SmallMap

_WIDEST = 440  # pixels


class GraphRow:
    """One picture for each search: its edges, and those that the exact graph has not in red."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.panel = pn.Row(sizing_mode="stretch_width", margin=0)
        self.maps: dict[str, SmallMap] = {}
        self._runs: dict[str, Run] = {}
        self._places: MapPlaces | None = None
        self._drawing: dict[str, Future[Picture]] = {}
        self.links = MapMarks()
        board.param.watch(self._mark, "selected")

    def refresh(self) -> None:
        """Draw the graphs that have come in; all of them if the exact one is new."""
        board, first = self.board, self.board.first
        if first is None or board.grid is None:
            return
        runs = graph_runs(board)
        before, self._runs = self._runs, runs
        fresh = self._places is None or self._places.run is not first
        if fresh:
            self._places = MapPlaces(first, None)
        truth, known = runs.get("exact"), before.get("exact")
        points = map_points(first.y, first.hdr.density)
        names = first.units["label"].to_numpy()
        exact = None if truth is None else truth.neighbors.indices
        for search, run in runs.items():
            same = search in before and before[search] is run
            if not fresh and same and (truth is None) == (known is None):
                continue
            self._drawing[search] = drawers().submit(
                partial(draw_graph, points, run.neighbors.indices, names, truth=exact)
            )
        if list(self.maps) != list(runs):
            self.maps = {search: self.maps.get(search) or self._card() for search in runs}
            self.panel.objects = list(self.maps.values())
        for search, run in runs.items():
            self.maps[search].param.update(
                heading=board.grid.plan.search_title(search), figures=_figures(run, truth)
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

    def poll(self) -> None:
        """Show the pictures that are drawn."""
        for search in [search for search, drawn in self._drawing.items() if drawn.done()]:
            picture = self._drawing.pop(search).result()
            if search in self.maps:
                self.maps[search].param.update(**picture.parameters(), state="drawn", message="")

    def _tapped(self, x: float, y: float, reach: float) -> None:
        if self._places is not None:
            row = self._places.nearest(x, y, reach)
            if row is not None:
                self.board.select(row)

    def _mark(self, *_: param.parameterized.Event) -> None:
        if self._places is None:
            return
        self.links.marks = [
            [card.key, *marks_of(self._runs[search], self._places, self.board.selected, [])]
            for search, card in self.maps.items()
        ]


def graph_runs(board: Board) -> dict[str, Run]:
    """A run on each search's graph of K neighbours: t-SNE asks for more, others come first."""
    found: dict[str, Run] = {}
    if board.grid is None:
        return found
    cells = board.grid.study(board.dataset).cells
    for cell in sorted(cells, key=lambda cell: cell.method == "tsne"):
        if cell.run is not None:
            found.setdefault(cell.search, cell.run)
    return {search: found[search] for search in board.grid.plan.searches if search in found}


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
        figures.append(["", f"{seconds:.2f} s", "For the search, when it was made", False])
    components = run.components
    if components > 1:
        figures.append(["", f"{components:,} parts", "Parts that no edge joins", False])
    return figures
