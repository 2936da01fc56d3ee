"""The map for print: points, marks, contours, edges, names and a legend that agrees with them."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.density import HDR
from core.figures._labels import write_labels
from core.figures.canvas import (
    RASTER_POINTS,
    TEXT,
    Lettering,
    finish_layout,
    new_figure,
    point_size,
    set_lettering,
    style_axes,
)
from core.scene import LIGHT, Coloring, MapScene, View, color_times, density_scene, plain_scene
from core.scene.palette import EDGE, WRONG_EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The widest line of a legend's title, in characters.
_TITLE_WIDTH = 18
_MOST_ROWS = 24


def draw_map(
    scene: MapScene,
    *,
    title: str | None = None,
    ranges: tuple[float, float, float, float] | None = None,
    rings: Sequence[int] = (),
    size: tuple[float, float] = (6.4, 5.2),
    lettering: Lettering | None = None,
) -> "Figure":
    """Draw a map with equal scales on both axes.

    Parameters
    ----------
    scene : MapScene
    title : str, optional
    ranges : (x0, x1, y0, y1), optional
        What is seen at least; all points by default.
    rings : sequence of int
        Rows to ring.
    size : (float, float)
        Width and height in inches.
    lettering : Lettering, optional
    """
    lettering = lettering or Lettering()
    figure = new_figure(*size)
    axes = figure.add_subplot()
    style_axes(axes, title=title)
    draw_scene(axes, scene, ranges=ranges)
    if len(rings):
        x, y = scene.points[np.asarray(rings, np.int64)].T
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": LIGHT.accent}
        axes.scatter(x, y, s=60, linewidths=1.2, zorder=4, **ring)
        _set_limits(axes, ranges or scene.extent)
    axes.set_xlabel(scene.axis_names[0], parse_math=False)
    axes.set_ylabel(scene.axis_names[1], parse_math=False)
    add_legend(figure, [axes], scene)
    set_lettering(figure, lettering)
    finish_layout(figure)
    write_names(axes, scene, lettering)
    return figure


def draw_hdr_map(
    y: np.ndarray,
    hdr: HDR,
    labels: Sequence[str] | np.ndarray | None = None,
    *,
    title: str | None = None,
    size: tuple[float, float] = (6.4, 5.2),
    lettering: Lettering | None = None,
) -> "Figure":
    """Draw an embedding (n, d) by its density: points by level, anomalies as diamonds with names.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The embedding.
    hdr : HDR
        Its density.
    labels : sequence of n str, optional
        Names of the points; the anomalies' are written beside them.
    title, size, lettering
        As :func:`draw_map` has them.
    """
    scene = density_scene(y, hdr, labels)
    return draw_map(scene, title=title, size=size, lettering=lettering)


def draw_time_map(
    y: np.ndarray,
    minutes: np.ndarray,
    *,
    title: str | None = None,
    size: tuple[float, float] = (6.2, 5.2),
) -> "Figure":
    """Draw an embedding (n, d) by the minute of the day at which each point's slot starts, (n,)."""
    return draw_map(plain_scene(y, color_times(minutes)), title=title, size=size)


def draw_scene(
    axes: "Axes",
    scene: MapScene,
    *,
    ranges: tuple[float, float, float, float] | None = None,
    scale: float = 1.0,
) -> None:
    """Draw all but names and legend into axes; ``scale`` is of the points' area."""
    from matplotlib.collections import LineCollection

    edges, pixels = len(scene.edges) + len(scene.wrong_edges), scene.n > RASTER_POINTS
    faint = float(np.clip(2_000 / max(edges, 1), 0.04, 0.6))
    for pairs, color in ((scene.edges, EDGE), (scene.wrong_edges, WRONG_EDGE)):
        if len(pairs):
            lines = LineCollection(
                scene.points[pairs],
                colors=color,
                linewidths=0.35,
                alpha=faint,
                rasterized=edges > RASTER_POINTS,
                zorder=1,
            )
            axes.add_collection(lines, autolim=False)
    rows, marks = scene.drawn, scene.drawn_marks
    area = scale * point_size(scene.n)
    points: dict[str, Any] = {"s": area, "linewidths": 0, "rasterized": pixels, "zorder": 2}
    x, y = scene.points[rows].T
    axes.scatter(x, y, c=_colors(scene, rows), **points)
    if scene.contours:
        lines = LineCollection(
            [contour.line for contour in scene.contours],
            colors=[contour.color for contour in scene.contours],
            linewidths=0.9,
            zorder=2.5,
        )
        axes.add_collection(lines, autolim=False)
    if len(marks):
        x, y = scene.points[marks].T
        axes.scatter(
            x,
            y,
            s=1.6 * max(area, 6.0 * scale),
            c=_colors(scene, marks),
            marker="D",
            edgecolors=LIGHT.ink,
            linewidths=0.8 * np.sqrt(scale),
            zorder=3,
        )
    _set_limits(axes, ranges or scene.extent)


def _set_limits(axes: "Axes", ranges: tuple[float, float, float, float]) -> None:
    """Show what is to be seen, and around it what fills the box with equal scales."""
    x0, x1, y0, y1 = ranges
    # Automatic ones, which Matplotlib may widen without a warning.
    axes.set_xlim(x0, x1, auto=True)
    axes.set_ylim(y0, y1, auto=True)
    axes.set_aspect("equal", adjustable="datalim")


def _colors(scene: MapScene, rows: np.ndarray) -> list[str]:
    return scene.colors_of(rows, pale=LIGHT.pale).tolist()


def write_names(
    axes: "Axes", scene: MapScene, lettering: Lettering, *, smaller: float = 0.5
) -> None:
    """Name the marked points in view, once the figure is laid out; ``smaller`` in points."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    marks = scene.drawn_marks
    marks = marks[View((x0, x1), (y0, y1), 1, 1).inside(scene.points[marks])]
    if scene.labelled:
        write_labels(
            axes,
            scene.points[marks],
            [scene.label(row) for row in marks],
            beside=scene.points[scene.drawn],
            size=lettering.scale * (TEXT - smaller),
            families=lettering.families,
        )


def add_legend(
    figure: "Figure", axes: "Sequence[Axes]", scene: MapScene, *, every_name: bool = False
) -> None:
    """Say what colours and shapes mean: those that are drawn, or every one there is."""
    coloring = scene.coloring
    dots: list[tuple[str, str]] = []
    if coloring.names:
        drawn = coloring.counts_of(scene.drawn)
        pairs = zip(coloring.names, coloring.colors, drawn, strict=True)
        dots = [(name, color) for name, color, count in pairs if count or every_name]
    else:
        _add_bar(figure, axes, coloring)
    marks = len(scene.drawn_marks)
    mark = (scene.mark_name if every_name else f"{scene.mark_name} ({marks})") if marks else ""
    if not dots and not mark:
        return
    handles = list(_legend_handles(dots, mark))
    legend = figure.legend(
        handles=handles,
        loc="outside right upper",
        title=textwrap.fill(coloring.title, _TITLE_WIDTH) if dots else None,
        fontsize=TEXT,
        title_fontsize=TEXT,
        frameon=False,
        handletextpad=0.2,
        alignment="left",
        ncols=max(1, -(-len(handles) // _MOST_ROWS)),
    )
    # Names are shown to the letter.
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)


def _legend_handles(dots: Iterable[tuple[str, str]], mark: str) -> Iterable[Any]:
    from matplotlib.lines import Line2D

    shared: dict[str, Any] = {"linestyle": "", "markersize": 5}
    for name, color in dots:
        yield Line2D([], [], marker="o", color=color, markeredgewidth=0, label=name, **shared)
    if mark:
        outline: dict[str, Any] = {"color": "none", "markeredgecolor": LIGHT.ink}
        name = textwrap.fill(mark, _TITLE_WIDTH)
        yield Line2D([], [], marker="D", markeredgewidth=0.8, label=name, **outline, **shared)


def _add_bar(figure: "Figure", axes: "Sequence[Axes]", coloring: Coloring) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    scale = list(coloring.colors[: coloring.scale_length])
    mappable = ScalarMappable(Normalize(0, 1), ListedColormap(scale))
    bar = figure.colorbar(mappable, ax=list(axes), shrink=0.6, aspect=28, pad=0.02)
    places, texts = zip(*coloring.ticks, strict=True)
    bar.set_ticks(list(places), labels=list(texts))
    bar.ax.tick_params(labelsize=TEXT - 1, length=2)
    bar.outline.set_visible(False)
    more = f" ({coloring.missing:,} not known, grey)" if coloring.missing else ""
    bar.set_label(coloring.title + more, fontsize=TEXT, parse_math=False)
