"""The map on the page: the state of an explorer wired to the streams of its HoloViews map."""

from typing import Any

import numpy as np
import panel as pn
import param

from core.scene import DARK, LIGHT, MapScene, View
from core.scene.holoviews_map import MapStreams, draw_map
from core.scene.view import inside_region, nearest
from dashboard.page_schedule import in_next_turn
from dashboard.state import Explorer

_TAP_REACH = 12  # pixels


class MapView:
    """The map of an explorer's run.

    The plot is made once and lives as long as the page: scenes and selections go to its streams, so
    zoom, tools and hover stay as they are; only another run shows all of the map anew.
    """

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.scene: MapScene | None = None
        self.streams = MapStreams()
        self._hidden: list[Any] = []
        self._is_there = False  # what is seen was chosen on the map itself
        self._mark = in_next_turn(self._draw_selection)
        self.pane = pn.pane.HoloViews(
            draw_map(follow=self.streams), linked_axes=False, sizing_mode="stretch_both", margin=0
        )
        self.panel = pn.Column(self.pane, sizing_mode="stretch_both", margin=0)
        self.streams.tap.add_subscriber(self._tapped)
        self.streams.box.add_subscriber(self._boxed)
        self.streams.lasso.add_subscriber(self._lassoed)
        self.streams.ranges.add_subscriber(self._moved)
        self.streams.size.add_subscriber(self._resized, precedence=-1)
        watch = explorer.param.watch
        shown = ["run", "color_by", "safe_colors", "hidden", "chosen", "layers", "dark"]
        watch(self._show, [*shown, "unusual", "listed", "list_order", "plane"], precedence=1)
        watch(self._mark, ["selected", "pins", "layers"], precedence=2)
        watch(self._go_to_ranges, ["ranges", "plane"], precedence=3)
        watch(self._dim, "is_stale")

    @property
    def figure(self) -> Any:
        """The Bokeh figure that a browser shows; None before there is one."""
        return self.streams.figures[-1] if self.streams.figures else None

    # What the analyst does on the map

    def _tapped(self, x: float, y: float) -> None:
        scene = self.scene
        if scene is None or x is None or y is None:
            return
        view = self.streams.view
        rows = scene.rows_in(view.around((x, y), _TAP_REACH))
        found = nearest(scene.points[rows], (x, y), view, reach=_TAP_REACH)
        if found is not None:
            self.explorer.look_at(int(rows[found]))

    def _boxed(self, bounds: tuple[float, float, float, float] | None) -> None:
        if self.scene is not None and bounds is not None:
            x0, y0, x1, y1 = bounds
            box = View((min(x0, x1), max(x0, x1)), (min(y0, y1), max(y0, y1)), 1, 1)
            self._choose(box.inside(self.scene.points))

    def _lassoed(self, geometry: np.ndarray | None) -> None:
        if self.scene is not None and geometry is not None and len(geometry) > 2:
            self._choose(inside_region(self.scene.points, *geometry.T))

    def _choose(self, inside: np.ndarray) -> None:
        shown = self.scene.shown if self.scene is not None else None
        self.explorer.chosen = np.flatnonzero(inside if shown is None else inside & shown)

    def _moved(self, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        if self.scene is None or x_range is None:
            return
        view = self.streams.view
        whole = self.scene.view(view.width, view.height)
        seen = (*x_range, *y_range)
        is_whole = np.allclose(seen, (*whole.x, *whole.y), rtol=0, atol=1e-9 * np.ptp(whole.x))
        self._is_there = True
        try:
            self.explorer.ranges = None if is_whole else seen
        finally:
            self._is_there = False

    def zoom(self, factor: float) -> None:
        """Show a part of the plane that is so many times smaller, around the middle of the view."""
        if self.scene is not None:
            view = self.streams.view
            middle = [(low + high) / 2 for low, high in (view.x, view.y)]
            half = [(high - low) / 2 / factor for low, high in (view.x, view.y)]
            (x, y), (wide, tall) = middle, half
            self.explorer.ranges = (x - wide, x + wide, y - tall, y + tall)

    def _resized(self, **_: Any) -> None:
        """Note what is seen now: the browser has changed the ranges to keep the scales equal."""
        figure = self.figure
        if self.explorer.ranges is not None and figure is not None:
            x, y = figure.x_range, figure.y_range
            self.streams.ranges.update(x_range=(x.start, x.end), y_range=(y.start, y.end))

    # What is seen

    def _go_to_ranges(self, *_: param.parameterized.Event) -> None:
        """Show the part of the plane that is asked for, as by a link; all of it by default."""
        figure, ranges, scene = self.figure, self.explorer.ranges, self.scene
        if figure is None or scene is None or self._is_there:
            return
        view = self.streams.view
        x, y = figure.x_range, figure.y_range
        if ranges is None:
            wanted = scene.view(view.width, view.height)
        else:
            wanted = View(ranges[:2], ranges[2:], view.width, view.height).equal()
        if not np.allclose((x.start, x.end, y.start, y.end), (*wanted.x, *wanted.y)):
            x.update(start=wanted.x[0], end=wanted.x[1])
            y.update(start=wanted.y[0], end=wanted.y[1])
            self.streams.ranges.event(x_range=wanted.x, y_range=wanted.y)

    def show_alone(self, drawn: list[Any], *, reach: float | None = None) -> None:
        """Show these renderers instead of the map; none shows the map again.

        ``reach`` is how far from the origin they go in any direction, for what does not stay where
        the map is.
        """
        for renderer in self._hidden:
            renderer.visible = True
        figure = self.figure
        self._hidden = []
        if figure is None:
            return
        if drawn:
            self._hidden = [each for each in figure.renderers if each.visible and each not in drawn]
            for renderer in self._hidden:
                renderer.visible = False
            for renderer in drawn:
                renderer.visible = True
        if reach is not None:
            view = self.streams.view
            around = View((-reach, reach), (-reach, reach), view.width, view.height).equal()
            figure.x_range.update(start=around.x[0], end=around.x[1])
            figure.y_range.update(start=around.y[0], end=around.y[1])

    def _show(self, *events: param.parameterized.Event) -> None:
        explorer = self.explorer
        if explorer.run is None:
            return
        self.scene = explorer.map_scene()
        if any(event.name == "run" for event in events):
            ranges = explorer.ranges
            seen = (None, None) if ranges is None else (ranges[:2], ranges[2:])
            self.streams.ranges.update(x_range=seen[0], y_range=seen[1])
        self.streams.show(self.scene, theme=DARK if explorer.dark else LIGHT)
        self._mark()

    def _dim(self, *_: param.parameterized.Event) -> None:
        """Dim a map that is not the settings' any more, but not for a moment."""
        opacity = "0.4" if self.explorer.is_stale else "1"
        self.panel.styles = {"opacity": opacity, "transition": "opacity 200ms 300ms"}

    def _draw_selection(self) -> None:
        if self.scene is not None:
            self.streams.select(*self._selection())

    def _selection(self) -> tuple[list[int], list[int]]:
        """The point that is looked at and those pinned, and the neighbours it is joined with."""
        explorer = self.explorer
        if explorer.selected is None:
            return [], []
        joined: list[int] = []
        if "edges" in explorer.layers:
            joined = explorer.neighbors_of(explorer.selected)[0].tolist()
        return [explorer.selected, *explorer.pins], joined
