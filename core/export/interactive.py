"""The map as one HTML file that needs no server and asks no other place for anything."""

import html
from pathlib import Path
from typing import Any

import numpy as np

from core import atomic
from core.export.provenance import KEY, Provenance
from core.scene import LIGHT, MapScene, View
from core.scene.labels import place_labels
from core.scene.shading import rgba, shade_points
from core.scene.view import marker_size
from core.theme import FONT_FAMILY, bokeh_attributes

# More points are drawn as an image, with one marker to hover for each of its spots.
MOST_MARKERS = 20_000
_SIZE = (1200, 900)  # pixels of that image, and what sizes are chosen for
_LETTER = np.array([6.3, 14.0])  # pixels of a label's character, at 9 points

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:">
<title>{title}</title>
<style>
html, body {{ height: 100%; margin: 0; background: {paper}; color: {ink}; }}
body {{ display: flex; flex-direction: column; font: 15px/1.45 {font}; }}
header {{ padding: 12px 18px 4px; }}
h1 {{ font-size: 19px; margin: 0; }}
p {{ margin: 2px 0; color: {quiet}; font-size: 13px; }}
main {{ flex: 1; min-height: 320px; padding: 4px 10px 10px; }}
main > div {{ height: 100%; }}
</style>
<script type="application/json" id="{key}">{provenance}</script>
{library}
</head>
<body>
<header><h1>{title}</h1>{notes}</header>
<main>{place}</main>
{script}
</body>
</html>
"""
# Fields without {safe} are set as text, whatever the ids hold.
_TIPS = {
    "label": ("", "@label"),
    "value": ("", "@value"),
    "hdr": ("", "@hdr"),
    "rank": ("anomaly rank", "@rank{0,0}"),
    "mean_kwh": ("mean demand", "@mean_kwh{0.000} kWh"),
    "m": ("readings", "@m{0,0}"),
}


def write_interactive_map(
    scene: MapScene, path: Path, provenance: Provenance, *, title: str
) -> None:
    """Write a map as a file to zoom and hover in, whole or not at all."""
    from bokeh.embed import components
    from bokeh.themes import Theme

    plot, notes = _plot(scene)
    script, place = components(plot, theme=Theme(json={"attrs": bokeh_attributes(LIGHT)}))
    text = _PAGE.format(
        paper=LIGHT.paper,
        ink=LIGHT.ink,
        quiet=LIGHT.quiet,
        font=FONT_FAMILY,
        title=html.escape(title),
        key=KEY,
        provenance=provenance.for_html(),
        library=_library(),
        notes="".join(f"<p>{html.escape(note)}</p>" for note in notes),
        place=place,
        script=script,
    )
    with atomic.new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _library() -> str:
    """Bokeh's own script; what other libraries add to its resources is not needed here."""
    from bokeh.resources import Resources

    scripts = Resources(mode="inline", components=["bokeh"]).js_raw
    return "".join(f"<script>{script}</script>" for script in scripts)


def _plot(scene: MapScene) -> tuple[Any, list[str]]:
    """The figure, and what is to be said of it."""
    from bokeh.models import DataRange1d, HoverTool
    from bokeh.plotting import figure

    view, rows, marks = scene.view(*_SIZE), scene.drawn, scene.drawn_marks
    crowd = len(rows) > MOST_MARKERS
    x0, x1, y0, y1 = scene.extent
    # These ranges alone take the shape of the window, so that both axes have one scale.
    ranges = [DataRange1d(range_padding=0) for _ in range(2)]
    plot = figure(
        x_axis_label=scene.axis_names[0],
        y_axis_label=scene.axis_names[1],
        x_range=ranges[0],
        y_range=ranges[1],
        match_aspect=True,
        sizing_mode="stretch_both",
        tools="pan,wheel_zoom,box_zoom,reset,save",
        active_scroll="wheel_zoom",
        output_backend="canvas",
        lod_threshold=None,
    )
    plot.toolbar.logo = None
    corners = plot.scatter([x0, x1], [y0, y1], size=0, alpha=0)
    for axis in ranges:
        axis.renderers = [corners]
    notes = [_colored_by(scene, can_hide=bool(scene.coloring.names) and not crowd)]
    if crowd:
        image = rgba(shade_points(scene, view))
        sides = {"x": view.x[0], "y": view.y[0], "dw": np.ptp(view.x), "dh": np.ptp(view.y)}
        plot.image_rgba(image=[image], **sides)
        rows = scene.rows_apart(view)
        notes.append(
            f"{len(scene.drawn):,} points are drawn as an image of {_SIZE[0]} × {_SIZE[1]} dots; "
            f"tooltips show {len(rows):,} of them, the rarest of each spot."
        )
    for contour in scene.contours:
        plot.line(*contour.line.T, color=contour.color, line_width=1.4)
    markers = _add_markers(plot, scene, rows[~np.isin(rows, marks)], marks, view, crowd=crowd)
    told = scene.tell(rows[:1])
    tips = [line for name, line in _TIPS.items() if name in told]
    plot.add_tools(HoverTool(renderers=markers, tooltips=tips, limit=1))
    _add_names(plot, scene, view)
    if not scene.coloring.names:
        _add_bar(plot, scene)
    hidden = scene.n - len(scene.drawn)
    if hidden:
        notes.append(f"{hidden:,} of {scene.n:,} points are hidden.")
    return plot, notes


def _colored_by(scene: MapScene, *, can_hide: bool) -> str:
    missing = scene.coloring.missing
    grey = f"; {missing:,} not known are grey" if missing else ""
    how = "Click the legend to hide. " if can_hide else ""
    return f"Coloured by {scene.coloring.title}{grey}. {how}Scroll to zoom, drag to move."


def _add_markers(
    plot: Any, scene: MapScene, rows: np.ndarray, marks: np.ndarray, view: View, *, crowd: bool
) -> list[Any]:
    """Points and marks, and their legend."""
    from bokeh.core.properties import value
    from bokeh.models.annotations import Legend, LegendItem

    coloring = scene.coloring
    size = marker_size(len(scene.drawn), view)
    look: dict[str, Any] = {"size": size, "line_color": LIGHT.outline, "line_width": 0.6}
    if crowd:
        look |= {"size": 9.0, "fill_alpha": 0.0, "line_alpha": 0.0}
    diamond = {"size": max(2 * size, 11.0), "line_color": LIGHT.ink, "line_width": 1.4}
    renderers, items = [], []
    # A renderer for each category, so that the legend can hide it with its marks.
    for code in range(len(coloring.names) or 1):
        of_code = (coloring.codes == code) | (not coloring.names)
        points, marked = rows[of_code[rows]], marks[of_code[marks]]
        drawn = [
            plot.scatter("x", "y", source=_source(scene, points), fill_color="color", **look),
            plot.scatter(
                "x",
                "y",
                source=_source(scene, marked),
                marker="diamond",
                fill_color="color",
                **diamond,
            ),
        ]
        renderers += drawn
        if coloring.names and len(points) + len(marked):
            color = coloring.colors[code]
            # The legend shows the look of the first renderer: seen even where the points are not.
            dot = plot.scatter([np.nan], [np.nan], size=7, fill_color=color, line_color=None)
            items.append(LegendItem(label=value(coloring.names[code]), renderers=[dot, *drawn]))
    if len(marks):
        shape = plot.scatter(
            [np.nan], [np.nan], marker="diamond", fill_color=None, **{**diamond, "size": 10}
        )
        items.append(LegendItem(label=value(scene.mark_name), renderers=[shape]))
    # What is in an image cannot be hidden.
    legend = Legend(items=items, title=coloring.title if coloring.names else "")
    legend.click_policy = "none" if crowd or not coloring.names else "hide"
    plot.add_layout(legend, "right")
    return renderers


def _source(scene: MapScene, rows: np.ndarray) -> Any:
    from bokeh.models import ColumnDataSource

    x, y = scene.points[rows].T
    colors = scene.colors_of(rows, pale=LIGHT.pale).tolist()
    return ColumnDataSource({"x": x, "y": y, "color": colors, **scene.tell(rows)})


def _add_names(plot: Any, scene: MapScene, view: View) -> None:
    from bokeh.models import ColumnDataSource

    rows = scene.drawn_marks if scene.labelled else scene.marked[:0]
    texts = [scene.label(row) for row in rows]
    offsets = place_labels(
        view.pixels(scene.points[rows]),
        np.array([[len(text), 1] for text in texts]).reshape(-1, 2) * _LETTER,
        area=np.array([0, 0, view.width, view.height]),
        beside=view.pixels(scene.points[scene.drawn[:: -(-scene.n // 4_000)]]),
        radius=5.5,
    )
    columns = {
        "x": scene.points[rows, 0],
        "y": scene.points[rows, 1],
        "text": texts,
        "right": offsets[:, 0],
        "down": -offsets[:, 1],
    }
    plot.text(
        "x",
        "y",
        "text",
        source=ColumnDataSource(columns),
        x_offset="right",
        y_offset="down",
        text_align="center",
        text_baseline="middle",
        text_color=LIGHT.ink,
        background_fill_color=LIGHT.paper,
        background_fill_alpha=0.6,
        text_font_size="9pt",
    )


def _add_bar(plot: Any, scene: MapScene) -> None:
    from bokeh.models import FixedTicker, LinearColorMapper
    from bokeh.models.annotations import ColorBar

    coloring = scene.coloring
    scale = list(coloring.colors[: coloring.scale_length])
    bar = ColorBar(
        color_mapper=LinearColorMapper(palette=scale, low=0, high=1),
        ticker=FixedTicker(ticks=[place for place, _ in coloring.ticks]),
        major_label_overrides=dict(coloring.ticks),
        title=coloring.title,
        width=14,
    )
    plot.add_layout(bar, "right")
