"""The map as one HTML file that needs no server and asks no other place for anything."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core import atomic
from core.embedding import METHODS
from core.export.provenance import KEY, Provenance
from core.figures.canvas import map_points
from core.figures.colored_map import PointColors
from core.figures.palette import LABEL
from core.runs.result import Run

# More points are drawn as an image, with one marker to hover for each of its spots.
MOST_MARKERS = 20_000
_IMAGE = (1200, 900)
_SPOT = 6  # pixels of the image
_MARGIN = 0.06

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:">
<title>{title}</title>
<style>
html, body {{ height: 100%; margin: 0; background: #fff; color: #1d1d1f; }}
body {{ display: flex; flex-direction: column; font: 15px/1.45 "Inter", "Segoe UI", Roboto, \
"Helvetica Neue", "Liberation Sans", Arial, sans-serif; }}
header {{ padding: 12px 18px 4px; }}
h1 {{ font-size: 19px; margin: 0; }}
p {{ margin: 2px 0; color: #5d6066; font-size: 13px; }}
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


def write_interactive_map(
    run: Run,
    colors: PointColors,
    path: Path,
    provenance: Provenance,
    *,
    texts: Sequence[str] | None = None,
    shown: np.ndarray | None = None,
) -> None:
    """Write the map as a file to zoom and hover in, whole or not at all.

    Parameters
    ----------
    colors : PointColors
        Of the run's points.
    texts : sequence of n str, optional
        What hovering says of a point's colour.
    shown : bool ndarray of shape (n,), optional
        Points that are drawn; all by default.
    """
    from bokeh.embed import components

    visible = np.ones(run.n, bool) if shown is None else np.asarray(shown, bool)
    plot, notes = _plot(run, colors, texts, visible)
    script, place = components(plot)
    title = f"{METHODS[run.config.method].title} of {run.n:,} {run.config.unit}"
    text = _PAGE.format(
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


def _plot(
    run: Run, colors: PointColors, texts: Sequence[str] | None, visible: np.ndarray
) -> tuple[Any, list[str]]:
    """The figure, and what is to be said of it."""
    from bokeh.models import HoverTool, Range1d
    from bokeh.plotting import figure

    points = map_points(run.y, run.hdr.density)
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, _MARGIN * (high - low), 1.0)
    (x0, y0), (x1, y1) = (low - margin).tolist(), (high + margin).tolist()
    name = METHODS[run.config.method].title
    plot = figure(
        x_range=Range1d(x0, x1),
        y_range=Range1d(y0, y1),
        x_axis_label=f"{name} 1",
        y_axis_label=f"{name} 2" if run.y.shape[1] > 1 else "density (scaled)",
        sizing_mode="stretch_both",
        tools="pan,wheel_zoom,box_zoom,reset,save",
        active_scroll="wheel_zoom",
        output_backend="canvas",
        lod_threshold=None,
    )
    plot.toolbar.logo = None
    plot.grid.grid_line_alpha = 0.35
    # The most anomalous last, on top of the others.
    rows = np.argsort(-run.hdr.rank, kind="stable")
    rows = rows[visible[rows]]
    crowd = len(rows) > MOST_MARKERS
    notes = [_colored_by(colors, can_hide=bool(colors.names) and not crowd)]
    if crowd:
        _add_image(plot, points, colors, rows, (x0, x1), (y0, y1))
        drawn = rows[_one_for_each_spot(points[rows], (x0, x1), (y0, y1))]
        notes.append(
            f"{len(rows):,} points are drawn as an image of {_IMAGE[0]} × {_IMAGE[1]} dots; "
            f"hovering tells of {len(drawn):,} of them, the most anomalous of each spot."
        )
    else:
        drawn = rows
    markers = _add_markers(plot, run, points, colors, texts, drawn, unseen=crowd)
    tips = [("", "@label"), ("HDR", "@hdr %"), ("anomaly rank", "@rank{0,0}")]
    tips += [("mean demand", "@mean{0.000} kWh"), ("readings", "@m{0,0}")]
    # Fields without {safe} are set as text, whatever the ids hold.
    tips += [("colour", "@value")] if texts is not None else []
    plot.add_tools(HoverTool(renderers=markers, tooltips=tips, limit=5))
    _add_names(plot, run, points, visible)
    if not colors.names:
        _add_bar(plot, colors)
    if len(rows) < run.n:
        notes.append(f"{run.n - len(rows):,} of {run.n:,} points are hidden.")
    return plot, notes


def _colored_by(colors: PointColors, *, can_hide: bool) -> str:
    missing = f"; {colors.missing:,} not known are grey" if colors.missing else ""
    how = "Click the legend to hide. " if can_hide else ""
    return f"Coloured by {colors.title}{missing}. {how}Scroll to zoom, drag to move."


def _add_markers(
    plot: Any,
    run: Run,
    points: np.ndarray,
    colors: PointColors,
    texts: Sequence[str] | None,
    rows: np.ndarray,
    *,
    unseen: bool,
) -> list[Any]:
    from bokeh.core.properties import value
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations import Legend, LegendItem

    size = 9.0 if unseen else float(np.clip(150 / np.sqrt(max(len(rows), 1)), 3.5, 9))
    look: dict[str, Any] = {"size": size, "line_color": "#7d828b", "line_width": 0.6}
    if unseen:
        look |= {"fill_alpha": 0.0, "line_alpha": 0.0}
    # A renderer for each category, so that the legend can hide it.
    groups = [rows]
    if colors.names and not unseen:
        groups = [rows[colors.codes[rows] == code] for code in range(len(colors.names))]
    renderers, items = [], []
    for code, group in enumerate(groups):
        if not len(group):
            continue
        source = ColumnDataSource(_columns(run, points, colors, texts, group))
        renderer = plot.scatter("x", "y", source=source, fill_color="color", **look)
        renderers.append(renderer)
        if len(groups) > 1:
            items.append(LegendItem(label=value(colors.names[code]), renderers=[renderer]))
    if items:
        legend = Legend(items=items, title=colors.title, click_policy="hide")
        plot.add_layout(legend, "right")
    elif colors.names:
        _add_key(plot, colors)
    return renderers


def _columns(
    run: Run,
    points: np.ndarray,
    colors: PointColors,
    texts: Sequence[str] | None,
    rows: np.ndarray,
) -> dict[str, Any]:
    units = run.units.iloc[rows]
    columns = {
        "x": points[rows, 0],
        "y": points[rows, 1],
        "color": [colors.colors[code] for code in colors.codes[rows]],
        "label": units["label"].tolist(),
        "hdr": run.hdr.labels[rows].tolist(),
        "rank": run.hdr.rank[rows],
        "mean": units["mean_kwh"].to_numpy(),
        "m": units["m"].to_numpy(),
    }
    if texts is not None:
        columns["value"] = [texts[row] for row in rows]
    return columns


def _add_names(plot: Any, run: Run, points: np.ndarray, visible: np.ndarray) -> None:
    from bokeh.models import ColumnDataSource

    rows = run.hdr.anomalies[visible[run.hdr.anomalies]]
    labels = [str(run.units["label"].iat[row]) for row in rows]
    columns = {
        "x": points[rows, 0].tolist(),
        "y": points[rows, 1].tolist(),
        "text": [label if len(label) <= 24 else label[:23] + "…" for label in labels],
    }
    plot.text(
        "x",
        "y",
        "text",
        source=ColumnDataSource(columns),
        text_color=LABEL,
        text_font_size="9pt",
        x_offset=6,
        y_offset=-4,
    )


def _add_key(plot: Any, colors: PointColors) -> None:
    """A legend of colours that cannot be hidden: those of an image."""
    from bokeh.core.properties import value
    from bokeh.models.annotations import Legend, LegendItem

    present = np.bincount(colors.codes, minlength=len(colors.colors)) > 0
    items = []
    for name, color, used in zip(colors.names, colors.colors, present, strict=False):
        if used:
            # A glyph of no place: the legend shows the look of the first point there is.
            glyph = plot.scatter([np.nan], [np.nan], size=7, fill_color=color, line_color=None)
            items.append(LegendItem(label=value(name), renderers=[glyph]))
    plot.add_layout(Legend(items=items, title=colors.title), "right")


def _add_bar(plot: Any, colors: PointColors) -> None:
    from bokeh.models import FixedTicker, LinearColorMapper
    from bokeh.models.annotations import ColorBar

    scale = colors.colors[: len(colors.colors) - bool(colors.missing)]
    bar = ColorBar(
        color_mapper=LinearColorMapper(palette=list(scale), low=0, high=1),
        ticker=FixedTicker(ticks=[place for place, _ in colors.ticks]),
        major_label_overrides=dict(colors.ticks),
        title=colors.title,
        width=14,
    )
    plot.add_layout(bar, "right")


def _cells(
    points: np.ndarray, x: tuple[float, float], y: tuple[float, float], shape: tuple[int, int]
) -> np.ndarray:
    """The cell of an image (columns, rows) that each point is in, counted along rows."""
    share = (points - [x[0], y[0]]) / [x[1] - x[0], y[1] - y[0]]
    column, row = np.minimum((share * shape).astype(np.int64), np.array(shape) - 1).T
    return row * shape[0] + column


def _add_image(
    plot: Any,
    points: np.ndarray,
    colors: PointColors,
    rows: np.ndarray,
    x: tuple[float, float],
    y: tuple[float, float],
) -> None:
    palette = np.array(
        [
            [int(color[place : place + 2], 16) for place in (1, 3, 5)] + [255]
            for color in colors.colors
        ],
        np.uint8,
    )
    image = np.zeros((_IMAGE[1], _IMAGE[0], 4), np.uint8)
    cells = _cells(points[rows], x, y, _IMAGE)
    for below in (0, _IMAGE[0]):
        for beside in (0, 1):
            # Four dots each, or those that are alone would not be seen. The last one stays: rows
            # come with the most anomalous last.
            dots = np.minimum(cells + below + beside, _IMAGE[0] * _IMAGE[1] - 1)
            image.reshape(-1, 4)[dots] = palette[colors.codes[rows]]
    plot.image_rgba(
        image=[image.view(np.uint32)[..., 0]], x=x[0], y=y[0], dw=x[1] - x[0], dh=y[1] - y[0]
    )


def _one_for_each_spot(
    points: np.ndarray, x: tuple[float, float], y: tuple[float, float]
) -> np.ndarray:
    """Positions of points, one for each spot of a few dots: the last that is there."""
    spots = _cells(points, x, y, (_IMAGE[0] // _SPOT, _IMAGE[1] // _SPOT))
    _, first = np.unique(spots[::-1], return_index=True)
    return np.sort(len(points) - 1 - first)
