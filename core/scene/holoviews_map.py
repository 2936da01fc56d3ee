"""The map as HoloViews: the same on the page and in a notebook.

    from core.scene import map_scene
    from core.scene.holoviews_map import draw_map

    draw_map(map_scene(run))

Few points in view are markers; many are an image by Datashader, with one unseen marker every few
pixels to hover over. Zooming draws again what depends on the view, through streams. The selection
is drawn by Bokeh alone: HoloViews looks through the whole page at every change.
"""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import mul
from typing import Any

import holoviews as hv
import numpy as np
import param
from holoviews import streams

from core.scene._drawn_selection import DrawnSelection
from core.scene.labels import DISTANCES, LETTER, place_labels
from core.scene.map_scene import MapScene
from core.scene.shading import MAXIMUM_MARKERS, shade_points
from core.scene.view import View, marker_size
from core.theme import LIGHT, Theme

FIRST_SIZE = (640, 380)  # pixels, until the browser tells
_HOVER_SIZE = 8.0  # pixels, of the unseen markers of a crowd
# Points that labels keep off, of a crowd.
_BESIDE = 4_000

_FACTS = ("label", "hdr", "rank", "mean_kwh", "m", "value")
_LOOK = ("color", "marker", "size", "line_color", "line_width", "alpha")
# Numbers of colours that follow those of the points.
_PALE, _OUTLINE, _INK = range(3)
# Fields without {safe} are set as text, whatever the ids hold.
_TOOLTIP = """
<div style="max-width: 260px; line-height: 1.35; overflow-wrap: anywhere">
  <b>@label</b><div>@value</div><div>@hdr · rank @rank{0,0}</div>
  <div>%s</div>
</div>
"""
_OF_DEMAND = _TOOLTIP % "@mean_kwh{0.00} kWh per reading · @m{0,0} readings"
_OF_SAMPLES = _TOOLTIP % "@m{0,0} values"

# Of all layers but the points, which bring the tools and all else.
_BARE: dict[str, Any] = {"apply_ranges": False, "default_tools": []}

# Both axes have one scale, whatever size the plot gets: all of the map fits in, or what is zoomed
# into stays as large as it is.
_EQUAL_SCALES = """
const [width, height] = [plot.inner_width, plot.inner_height]
if (!(width > 0 && height > 0)) return
const [, x0, x1, y0, y1] = plot.tags
const axes = [[plot.x_range, width], [plot.y_range, height]]
const around = (sides, unit) => sides.map(([low, high], axis) => {
  const half = unit * axes[axis][1] / 2
  return [(low + high) / 2 - half, (low + high) / 2 + half]
})
const widest = (sides) =>
  Math.max(...sides.map(([low, high], axis) => (high - low) / axes[axis][1]))
const is_whole = axes.every(([range]) =>
  range.start == range.reset_start && range.end == range.reset_end)
const extent = [[x0, x1], [y0, y1]]
const whole = around(extent, widest(extent))
const now = axes.map(([range]) => [range.start, range.end])
const unit = plot.last_width ? (now[0][1] - now[0][0]) / plot.last_width : widest(now)
const seen = is_whole ? whole : around(now, unit)
plot.last_width = width
axes.forEach(([range], axis) => range.setv({
  start: seen[axis][0], end: seen[axis][1],
  reset_start: whole[axis][0], reset_end: whole[axis][1],
}))
"""


class SceneStream(streams.Stream):
    """What is shown, and on which paper."""

    scene = param.ClassSelector(class_=MapScene, default=None, constant=True)
    theme = param.ClassSelector(class_=Theme, default=LIGHT, constant=True)


class ViewStream(streams.Stream):
    """The view that a layer is drawn for, and the diameter of its markers in pixels."""

    view = param.ClassSelector(class_=View, default=None, constant=True)
    size = param.Number(default=1.0, constant=True)


@dataclass(eq=False)
class MapStreams:
    """What a map follows, and what it tells of.

    Attributes
    ----------
    scene
        What is shown; see :meth:`show`.
    ranges, size, tap, box, lasso
        What the analyst does.
    points_view, labels_view
        What points and labels are drawn for: views that change only if the picture does.
    figures, plots, selections : list
        The Bokeh figures that show the map, what draws into them, and the selection in each.
    additions : list of callable
        Each adds what others draw to a new figure. Later is too late: Bokeh starts the tools of a
        figure that is on the screen anew when a layer is added to it.
    """

    scene: SceneStream = field(default_factory=SceneStream)
    ranges: streams.RangeXY = field(default_factory=streams.RangeXY)
    size: streams.PlotSize = field(default_factory=streams.PlotSize)
    tap: streams.SingleTap = field(default_factory=streams.SingleTap)
    box: streams.BoundsXY = field(default_factory=streams.BoundsXY)
    lasso: streams.Lasso = field(default_factory=streams.Lasso)
    points_view: ViewStream = field(default_factory=ViewStream)
    # Renamed: layers that are drawn over each other must not share the names of what differs.
    labels_view: ViewStream = field(
        default_factory=partial(ViewStream, rename={"view": "scale", "size": "radius"})
    )
    figures: list[Any] = field(default_factory=list)
    plots: list[Any] = field(default_factory=list)
    selections: list[DrawnSelection] = field(default_factory=list)
    additions: list[Callable[[Any], None]] = field(default_factory=list)
    _selected: tuple[Sequence[int], Sequence[int]] = ((), ())

    def __post_init__(self) -> None:
        for told in (self.ranges, self.size):
            told.add_subscriber(lambda **_: streams.Stream.trigger(self._update_views()))

    def show(self, scene: MapScene, *, theme: Theme = LIGHT) -> None:
        """Show a scene; what was selected stays on figures until :meth:`select` is called."""
        self.scene.update(scene=scene, theme=theme)
        self._selected = ([], [])  # rows of the scene before may not be in this one
        streams.Stream.trigger([self.scene, *self._update_views()])

    def close(self) -> None:
        """Let go of the plots, which HoloViews keeps for as long as they have streams."""
        for plot in self.plots:
            plot.cleanup()
        for kept in (self.plots, self.figures, self.selections):
            kept.clear()

    def select(self, rings: Sequence[int], neighbors: Sequence[int] = ()) -> None:
        """Ring rows, the first of them largest, and join that with others.

        Changes models of Bokeh: on a served page, call it where the document is locked.
        """
        self._selected = (rings, neighbors)
        for selection in self.selections:
            self._draw_selection(selection)

    def add_selection(self, figure: Any, *, below: Any) -> None:
        """Draw the selection on a new figure, its lines below a renderer."""
        self.selections.append(DrawnSelection(figure, below=below))
        self._draw_selection(self.selections[-1])

    def _draw_selection(self, selection: DrawnSelection) -> None:
        if self.scene.scene is not None:
            selection.show(self.scene.scene, self.scene.theme, *self._selected)

    @property
    def view(self) -> View:
        """The part of the plane that is seen: all of it, until a browser tells otherwise."""
        scene, (x, y) = self.scene.scene, (self.ranges.x_range, self.ranges.y_range)
        if scene is None:
            raise ValueError("there is no scene yet")
        size = (int(self.size.width or 0), int(self.size.height or 0))
        size = size if min(size) > 0 else FIRST_SIZE
        return scene.view(*size) if x is None or y is None else View(x, y, *size)

    def _update_views(self) -> list[streams.Stream]:
        """Bring the views up to date; those that have changed."""
        scene = self.scene.scene
        if scene is None:
            return []
        view = self.view
        size = round(marker_size(scene.count_in(view), view))
        # Points that can all be markers are drawn once, wherever one zooms to.
        all_of_it = scene.view(view.width, view.height)
        drawn = view if scene.n > MAXIMUM_MARKERS else all_of_it
        # How labels stand depends on the scale alone. Rounded, to be the same after panning.
        unit = float(f"{(view.x[1] - view.x[0]) / view.width:.4g}")
        scale = View((0.0, unit * view.width), (0.0, unit * view.height), view.width, view.height)
        changed: list[streams.Stream] = []
        for stream, wanted in ((self.points_view, drawn), (self.labels_view, scale)):
            if (stream.view, stream.size) != (wanted, size):
                stream.update(view=wanted, size=size)
                changed.append(stream)
        return changed


def draw_map(
    scene: MapScene | None = None, *, theme: Theme = LIGHT, follow: MapStreams | None = None
) -> hv.DynamicMap:
    """Draw a map with equal scales on both axes.

    Parameters
    ----------
    scene : MapScene, optional
        None where ``follow`` has it, or will have it.
    theme : Theme
    follow : MapStreams, optional
        Brings other scenes and selections, and tells of taps, boxes, lassos and zooming.
    """
    follow = follow or MapStreams()
    if scene is not None:
        follow.show(scene, theme=theme)
    return reduce(mul, draw_layers(follow).values())


def draw_layers(follow: MapStreams) -> dict[str, hv.DynamicMap]:
    """The layers of a map from the bottom to the top; one that is switched off is empty."""
    of_points = [follow.scene, follow.points_view]
    points = hv.DynamicMap(partial(_points, follow), streams=of_points)
    for stream in (follow.ranges, follow.size, follow.tap, follow.box, follow.lasso):
        stream.source = points
    return {
        "image": hv.DynamicMap(_image, streams=of_points),
        "points": points,
        "contours": hv.DynamicMap(_contours, streams=[follow.scene]),
        "labels": hv.DynamicMap(_labels, streams=[follow.scene, follow.labels_view]),
    }


def _image(scene: MapScene | None, theme: Theme, view: View | None, size: float) -> hv.RGB:
    """The crowd, if the points in view are one."""
    if scene is not None and view is not None and scene.count_in(view) > MAXIMUM_MARKERS:
        return shade_points(scene, view, theme=theme).opts(**_BARE)
    nothing = np.zeros((1, 1), np.uint8)
    return hv.RGB(([0], [0], *[nothing] * 4), vdims=list("RGBA")).opts(**_BARE)


def _points(
    follow: MapStreams, scene: MapScene | None, theme: Theme, view: View | None, size: float
) -> hv.Points:
    """Markers, the marked ones on top; of a crowd, one that is not seen for each spot."""
    columns: dict[str, Any] = {name: [] for name in ("x", "y", *_FACTS, *_LOOK)}
    names = ("", "")
    limits: dict[str, Any] = {}
    palette: Sequence[str] = ()
    if scene is not None and view is not None:
        columns = _marker_columns(scene, view, theme, size)
        palette = scene.coloring.palette(dark=theme.dark)
        names, limits = scene.axis_names, {"xlim": follow.view.x, "ylim": follow.view.y}
    return hv.Points(columns, ["x", "y"], [*_FACTS, *_LOOK]).opts(
        **{name: name for name in ("color", "marker", "size", "line_color", "line_width")},
        fill_alpha="alpha",
        line_alpha="alpha",
        # Numbers of colours: HoloViews looks at each of thousands of names whether it is a colour.
        cmap=[*palette, theme.pale, theme.outline, theme.ink],
        clim=(-0.5, len(palette) + 2.5),
        **limits,
        xlabel=names[0],
        ylabel=names[1],
        default_tools=[],
        tools=["pan", "wheel_zoom", "box_select", "lasso_select", "reset", "hover"],
        active_tools=["pan", "wheel_zoom"],
        hover_tooltips=_OF_DEMAND if scene is None or "mean_kwh" in scene.facts else _OF_SAMPLES,
        toolbar="right",
        responsive=True,
        min_height=160,
        lod={"timeout": 50, "threshold": None},
        show_legend=False,
        fontsize={"labels": "13px", "ticks": "12px"},
        # HoloViews keeps options in a place that all pages share.
        hooks=[partial(_finish, kept=weakref.ref(follow))],
    )


def _marker_columns(scene: MapScene, view: View, theme: Theme, size: float) -> dict[str, Any]:
    crowd = scene.count_in(view) > MAXIMUM_MARKERS
    rows = scene.rows_apart(view) if crowd else scene.rows_in(view)
    marks = scene.drawn_marks[::-1]
    marks = marks[view.inside(scene.points[marks])]
    rows = np.concatenate([rows[~np.isin(rows, marks)], marks])
    is_mark = np.arange(len(rows)) >= len(rows) - len(marks)
    n_colors = len(scene.coloring.colors)
    # Not whole numbers: if all are the same, HoloViews takes them for a colour.
    codes = scene.coloring.codes[rows].astype(np.float32)
    if scene.chosen is not None:
        codes[~scene.chosen[rows]] = n_colors + _PALE
    told = scene.tell(rows)
    empty = [""] * len(rows)
    return {
        "x": scene.points[rows, 0],
        "y": scene.points[rows, 1],
        **{name: told.get(name, empty) for name in _FACTS},
        "color": codes,
        "marker": np.where(is_mark, "diamond", "circle"),
        "size": np.where(is_mark, max(2 * size, 11.0), _HOVER_SIZE if crowd else size),
        "line_color": np.where(is_mark, n_colors + _INK, n_colors + _OUTLINE).astype(np.float32),
        "line_width": np.where(is_mark, 1.4, 0.5),
        "alpha": np.where(is_mark, 1.0, 0.0 if crowd else 1.0),
    }


def _contours(scene: MapScene | None, theme: Theme) -> hv.Contours:
    lines: list[dict[str, Any]] = []
    if scene is not None:
        lines = [
            {
                "x": contour.line[:, 0],
                "y": contour.line[:, 1],
                "border": contour.dark_color if theme.dark else contour.color,
            }
            for contour in scene.contours
        ]
    return hv.Contours(lines, ["x", "y"], "border").opts(color="border", line_width=1.4, **_BARE)


def _labels(scene: MapScene | None, theme: Theme, scale: View | None, radius: float) -> hv.Labels:
    """Names of the marked points."""
    columns: dict[str, Any] = {"x": [], "y": [], "text": []}
    if scene is not None and scale is not None and scene.labelled:
        columns = _label_columns(scene, scale, radius)
    return hv.Labels(columns, ["x", "y"], "text").opts(
        text_color=theme.ink,
        text_font_size="9pt",
        # Not an outline, which Bokeh draws over the letters.
        background_fill_color=theme.paper,
        background_fill_alpha=0.6,
        **_BARE,
    )


def _label_columns(scene: MapScene, scale: View, radius: float) -> dict[str, Any]:
    rows = scene.drawn_marks
    texts = [scene.label(row) for row in rows]
    # Of the whole map at the scale that is seen.
    unit = scale.x[1] / scale.width
    pixels = scene.points[rows] / unit
    x0, x1, y0, y1 = scene.extent
    offsets = place_labels(
        pixels,
        np.array([[len(text), 1] for text in texts]).reshape(-1, 2) * LETTER,
        area=np.array([x0, y0, x1, y1]) / unit,
        beside=scene.points[:: -(-scene.n // _BESIDE)] / unit,
        radius=max(radius, 5.5),
        distances=DISTANCES[:3],
        required=False,
    )
    places = (pixels + offsets) * unit
    written = np.isfinite(places[:, 0])
    return {
        "x": places[written, 0],
        "y": places[written, 1],
        "text": [text for text, use in zip(texts, written, strict=True) if use],
    }


def _finish(plot: Any, _: hv.Element, *, kept: weakref.ref[MapStreams]) -> None:
    """Do what HoloViews has no option for: show all of a new map, and keep its scales equal."""
    from bokeh.models import BoxSelectTool, CustomJS, HoverTool, LassoSelectTool

    follow = kept()
    if follow is None:
        return
    figure, scene = plot.handles["plot"], follow.scene.scene
    # Before there is a scene, so that nothing moves when there is one. The numbers of the axes say
    # nothing; distances do, and the scales are equal.
    for part in (*figure.xaxis, *figure.yaxis, *figure.grid):
        part.visible = False
    figure.update(min_border=0, outline_line_color=None)
    if scene is None:
        return
    if figure not in follow.figures:
        follow.figures.append(figure)
        follow.plots.append(plot)
        figure.output_backend = "canvas"  # WebGL gains nothing at so few markers
        figure.toolbar.logo = None
        for tool in figure.tools:
            if isinstance(tool, BoxSelectTool | LassoSelectTool):
                # What is chosen is coloured by the scene, wherever it is drawn.
                tool.renderers = []
            if isinstance(tool, LassoSelectTool):
                tool.continuous = False
            if isinstance(tool, HoverTool):
                tool.limit = 1
        keep = CustomJS(args={"plot": figure}, code=_EQUAL_SCALES)
        for side in ("inner_width", "inner_height"):
            figure.js_on_change(side, keep)
        follow.add_selection(figure, below=plot.handles["glyph_renderer"])
        for add in follow.additions:
            add(figure)
    if figure.tags != ["map", *scene.extent]:
        figure.tags = ["map", *scene.extent]
        view = follow.view
        whole = scene.view(view.width, view.height)
        for axis, seen, (low, high) in (
            (figure.x_range, view.x, whole.x),
            (figure.y_range, view.y, whole.y),
        ):
            axis.update(start=seen[0], end=seen[1], reset_start=low, reset_end=high)
