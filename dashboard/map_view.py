"""The map: one Bokeh figure whose layers are replaced in place.

The figure is made once and lives as long as the page. A change of colours, selection or layers
replaces the data of its sources, so zoom, tools and hover stay as they are; only another run sets
the ranges anew.
"""

from typing import Any

import numpy as np
import panel as pn
import param
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.events import RangesUpdate, Reset, SelectionGeometry, Tap
from bokeh.models import (
    BoxSelectTool,
    ColumnDataSource,
    HoverTool,
    LassoSelectTool,
    PanTool,
    Range1d,
    ResetTool,
    WheelZoomTool,
)
from bokeh.plotting import figure

from core.embedding import METHODS
from core.figures.palette import HDR_COLORS, HDR_COLORS_SAFE
from dashboard import map_layers
from dashboard.coloring import DIMMED, Coloring
from dashboard.map_layers import View
from dashboard.state import Explorer

# A blue that reads on white and on black.
ACCENT = "#3b82f6"
OUTLINE = "#7d828b"

_TAP_REACH = 12  # pixels
_REDRAW_MILLISECONDS = 60
_HOVER_SIZE = 8  # pixels, of the unseen markers of a crowd
_FIRST_SIZE = (640, 380)  # until the browser tells
_LEAST_SIZE = 40  # less is what it tells before it has laid out the page

_MARKERS = ("x", "y", "color", "label", "hdr", "rank", "mean", "m", "value")


class MapView:
    """The map of an explorer's run."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.coloring: Coloring | None = None
        self._scheduled = False
        self._by_rank = np.empty(0, np.int64)
        self._places_by_rank = np.empty((0, 2))
        self._image = ColumnDataSource({name: [] for name in ("image", "x", "y", "dw", "dh")})
        self._markers = ColumnDataSource({name: [] for name in _MARKERS})
        self._contours = ColumnDataSource({name: [] for name in ("xs", "ys", "color", "level")})
        self._edges = ColumnDataSource({name: [] for name in ("x0", "y0", "x1", "y1")})
        self._labels = ColumnDataSource({name: [] for name in ("x", "y", "text")})
        self._rings = ColumnDataSource({name: [] for name in ("x", "y", "size")})
        self.figure = self._make_figure()
        self.pane = pn.pane.Bokeh(self.figure, sizing_mode="stretch_both", min_height=260)
        watch = explorer.param.watch
        watch(self._redraw, ["run", "color_by", "safe_colors", "hidden", "chosen"], precedence=1)
        watch(self._mark, ["selected", "pins"], precedence=2)
        watch(self._switch_layers, "layers")
        watch(self._go_to_ranges, "ranges", precedence=3)

    def _make_figure(self) -> Any:
        plot = figure(
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=0, end=1),
            tools=[],
            sizing_mode="stretch_both",
            toolbar_location="right",
            output_backend="canvas",
            min_border=8,
            # How long after the last turn of the wheel Bokeh tells of the new view.
            lod_timeout=100,
            lod_threshold=None,
            tags=["map"],
        )
        plot.grid.grid_line_alpha = 0.35
        self._layers: dict[str, list[Any]] = {}
        image = plot.image_rgba("image", "x", "y", "dw", "dh", source=self._image)
        edges = plot.segment(
            "x0", "y0", "x1", "y1", source=self._edges, color=ACCENT, alpha=0.55, line_width=1.2
        )
        markers = plot.scatter(
            "x",
            "y",
            source=self._markers,
            size=6,
            fill_color="color",
            line_color=OUTLINE,
            line_width=0.6,
        )
        # Choosing is ours: what is chosen is coloured by us, wherever it is drawn.
        markers.selection_glyph = markers.nonselection_glyph = None
        contours = plot.multi_line(
            "xs", "ys", source=self._contours, color="color", line_width=1.4, line_alpha=0.9
        )
        plot.scatter(
            "x",
            "y",
            source=self._rings,
            size="size",
            fill_color=None,
            line_color=ACCENT,
            line_width=2.4,
        )
        labels = plot.text(
            "x",
            "y",
            "text",
            source=self._labels,
            text_color=ACCENT,
            text_align="center",
            text_baseline="middle",
            text_font_size="9pt",
        )
        self._marker_glyph = markers.glyph
        self._layers = {
            "points": [image, markers],
            "contours": [contours],
            "labels": [labels],
            "edges": [edges],
        }
        self._value = ("value", "@value")
        self._hover = HoverTool(renderers=[markers], tooltips=self._tooltips(""), limit=4)
        pan, zoom = PanTool(), WheelZoomTool(zoom_on_axis=False)
        box, lasso = BoxSelectTool(renderers=[]), LassoSelectTool(renderers=[], continuous=False)
        plot.add_tools(pan, zoom, box, lasso, ResetTool(), self._hover)
        plot.toolbar.active_drag = pan
        plot.toolbar.active_scroll = zoom
        plot.toolbar.logo = None
        plot.on_event(Tap, self._tapped)
        plot.on_event(SelectionGeometry, self._regioned)
        plot.on_event(RangesUpdate, self._moved)
        plot.on_event(Reset, self._moved)
        for size in ("inner_width", "inner_height"):
            plot.on_change(size, lambda attr, old, new: self._schedule())
        self._set_visible()
        return plot

    def _tooltips(self, title: str) -> list[tuple[str, str]]:
        lines = [
            ("", "@label"),
            ("", "@hdr"),
            ("anomaly rank", "@rank{0,0}"),
            ("mean demand", "@mean{0.000} kWh"),
            ("readings", "@m{0,0}"),
        ]
        return [*lines, (title, "@value")] if title else lines

    # What the analyst does on the map

    def _tapped(self, event: Any) -> None:
        explorer = self.explorer
        if explorer.run is None or event.x is None:
            return
        shown = self._shown()
        rows = np.flatnonzero(shown)
        found = map_layers.nearest(
            explorer.places[rows], (event.x, event.y), self.view, reach=_TAP_REACH
        )
        if found is not None:
            explorer.selected = int(rows[found])

    def _regioned(self, event: Any) -> None:
        explorer = self.explorer
        if explorer.run is None or not event.final:
            return
        geometry = event.geometry
        if geometry["type"] == "rect":
            x0, x1, y0, y1 = (geometry[name] for name in ("x0", "x1", "y0", "y1"))
            view = View((min(x0, x1), max(x0, x1)), (min(y0, y1), max(y0, y1)), 1, 1)
            inside = view.inside(explorer.places)
        elif geometry["type"] == "poly":
            inside = map_layers.inside_region(explorer.places, geometry["x"], geometry["y"])
        else:
            return
        explorer.chosen = np.flatnonzero(inside & self._shown())

    def _moved(self, _: Any) -> None:
        x, y = self.figure.x_range, self.figure.y_range
        whole = all((axis.start, axis.end) == (axis.reset_start, axis.reset_end) for axis in (x, y))
        self.explorer.ranges = None if whole else (x.start, x.end, y.start, y.end)
        self._schedule()

    # What is seen

    def _go_to_ranges(self, *_: param.parameterized.Event) -> None:
        """Show the part of the plane that is asked for, as by a link; all of it by default."""
        x, y, ranges = self.figure.x_range, self.figure.y_range, self.explorer.ranges
        if self.explorer.run is None or ranges == (x.start, x.end, y.start, y.end):
            return
        x0, x1, y0, y1 = ranges or (x.reset_start, x.reset_end, y.reset_start, y.reset_end)
        if (x0, x1, y0, y1) != (x.start, x.end, y.start, y.end):
            x.update(start=x0, end=x1)
            y.update(start=y0, end=y1)
            self._schedule()

    @property
    def view(self) -> View:
        """The part of the plane that is seen."""
        x, y = self.figure.x_range, self.figure.y_range
        try:
            width, height = self.figure.inner_width, self.figure.inner_height
        except UnsetValueError:  # the browser has not drawn it yet
            width = height = 0
        if min(width, height) < _LEAST_SIZE:
            width, height = _FIRST_SIZE
        return View((x.start, x.end), (y.start, y.end), int(width), int(height))

    def _shown(self) -> np.ndarray:
        """Which points the legend lets through, (n,)."""
        assert self.coloring is not None  # noqa: S101 (there is a run, so there are colours)
        return self.coloring.shown(self.explorer.hidden)

    def _redraw(self, *events: param.parameterized.Event) -> None:
        with pn.io.unlocked():  # all of it in one message
            if any(event.name == "run" for event in events):
                self._frame_run()
            self._recolor()

    def _frame_run(self) -> None:
        """Show all of a new run."""
        run = self.explorer.run
        # The most anomalous first, once: every view of the map asks for points in this order.
        self._by_rank = np.argsort(run.hdr.rank)
        self._places_by_rank = self.explorer.places[self._by_rank]
        view = map_layers.whole_view(self.explorer.places, width=1, height=1)
        x0, x1, y0, y1 = self.explorer.ranges or (*view.x, *view.y)
        for axis, start, end, (low, high) in (
            (self.figure.x_range, x0, x1, view.x),
            (self.figure.y_range, y0, y1, view.y),
        ):
            axis.update(start=start, end=end, reset_start=low, reset_end=high)
        title = METHODS[run.config.method].title
        self.figure.xaxis.axis_label = f"{title} 1"
        self.figure.yaxis.axis_label = f"{title} 2"

    def _recolor(self) -> None:
        explorer = self.explorer
        if explorer.run is None:
            return
        self.coloring = explorer.coloring()
        own = (
            "" if explorer.color_by in ("HDR", "Mean demand", "Sample size") else explorer.color_by
        )
        self._hover.tooltips = self._tooltips(own)
        self._draw_contours()
        self._draw_view()

    def _draw_contours(self) -> None:
        if "contours" not in self.explorer.layers or self.explorer.run is None:
            return
        palette = HDR_COLORS_SAFE if self.explorer.safe_colors else HDR_COLORS
        self._contours.data = map_layers.contour_lines(
            self.explorer.run.hdr, list(palette.values())
        )

    def _schedule(self, *_: Any) -> None:
        """Draw what depends on the view soon; many small changes are drawn once."""
        if self._scheduled or self.explorer.run is None:
            return
        self._scheduled = True

        def draw() -> None:
            self._scheduled = False
            with pn.io.unlocked():
                self._draw_view()

        document = pn.state.curdoc
        if document is None:
            draw()
        else:
            document.add_timeout_callback(draw, _REDRAW_MILLISECONDS)

    def _draw_view(self) -> None:
        """Draw the layers that depend on what part of the plane is seen."""
        explorer, coloring = self.explorer, self.coloring
        if coloring is None:
            return
        run, view = explorer.run, self.view
        chosen = np.zeros(run.n, bool)
        chosen[explorer.chosen] = True
        if not len(explorer.chosen):
            chosen[:] = True
        order = self._by_rank
        seen = np.flatnonzero(view.inside(self._places_by_rank) & self._shown()[order])
        rows = order[seen]
        crowd = len(rows) > map_layers.MAXIMUM_MARKERS
        if crowd:
            points = self._places_by_rank[seen]
            drawn = rows[map_layers.one_for_each_spot(points, view)]
            image = map_layers.shade(points, coloring.take(rows), view, chosen=chosen[rows])
            (x0, x1), (y0, y1) = view.x, view.y
            self._image.data = {
                "image": [image],
                "x": [x0],
                "y": [y0],
                "dw": [x1 - x0],
                "dh": [y1 - y0],
            }
        else:
            # What is drawn last lies on top: the anomalies.
            drawn = rows[::-1]
            self._image.data = {name: [] for name in self._image.data}
        self._markers.data = self._marker_columns(drawn, chosen)
        alpha = 0.0 if crowd else 1.0
        size = _HOVER_SIZE if crowd else map_layers.marker_size(len(rows), view)
        self._marker_glyph.update(size=size, fill_alpha=alpha, line_alpha=alpha)
        self._draw_labels(view)

    def _marker_columns(self, rows: np.ndarray, chosen: np.ndarray) -> dict[str, Any]:
        run, coloring = self.explorer.run, self.coloring
        assert coloring is not None  # noqa: S101 (there is a run, so there are colours)
        units = run.units.iloc[rows]
        colors = np.array(coloring.colors, object)[coloring.codes[rows]]
        colors[~chosen[rows]] = DIMMED
        return {
            "x": self.explorer.places[rows, 0],
            "y": self.explorer.places[rows, 1],
            "color": colors.tolist(),
            "label": units["label"].tolist(),
            "hdr": [f"HDR {level} %" for level in run.hdr.labels[rows]],
            "rank": run.hdr.rank[rows],
            "mean": units["mean_kwh"].to_numpy(),
            "m": units["m"].to_numpy(),
            "value": coloring.texts(rows),
        }

    def _draw_labels(self, view: View) -> None:
        run, shown = self.explorer.run, self._shown()
        rows = np.array([row for row in run.hdr.anomalies if shown[row]], dtype=np.int64)
        rows = rows[view.inside(self.explorer.places[rows])] if len(rows) else rows
        texts = [self.explorer.label(row) for row in rows]
        texts = [text if len(text) <= 24 else text[:23] + "…" for text in texts]
        radius = max(map_layers.marker_size(run.n, view) / 2, 3)
        places = map_layers.place_labels(self.explorer.places[rows], texts, view, radius=radius)
        written = np.isfinite(places[:, 0])
        self._labels.data = {
            "x": places[written, 0].tolist(),
            "y": places[written, 1].tolist(),
            "text": [text for text, use in zip(texts, written, strict=True) if use],
        }

    def _mark(self, *_: param.parameterized.Event) -> None:
        """Ring the point that is looked at and those pinned; draw the edges to its neighbours."""
        explorer = self.explorer
        if explorer.run is None or explorer.selected is None:
            self._rings.data = {name: [] for name in self._rings.data}
            self._edges.data = {name: [] for name in self._edges.data}
            return
        places = explorer.places
        rows = np.array([explorer.selected, *explorer.pins], np.int64)
        self._rings.data = {
            "x": places[rows, 0].tolist(),
            "y": places[rows, 1].tolist(),
            "size": [17] + [12] * len(explorer.pins),
        }
        ends = explorer.neighbors_of(explorer.selected)[0]
        x, y = places[explorer.selected]
        self._edges.data = {
            "x0": [float(x)] * len(ends),
            "y0": [float(y)] * len(ends),
            "x1": places[ends, 0].tolist(),
            "y1": places[ends, 1].tolist(),
        }

    def _switch_layers(self, *_: param.parameterized.Event) -> None:
        self._draw_contours()
        self._set_visible()

    def _set_visible(self) -> None:
        for name, renderers in self._layers.items():
            for renderer in renderers:
                renderer.visible = name in self.explorer.layers
