"""The map by any colours: categories with a legend, or a scale with a bar."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from core.density import HDR, LEVELS
from core.figures.canvas import (
    TEXT,
    Lettering,
    finish_layout,
    frame_map,
    map_points,
    new_figure,
    set_lettering,
    style_axes,
)
from core.figures.hdr_map import name_anomalies
from core.figures.points import add_legend, scatter_by_density

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_RING = "#1450c8"


class PointColors(Protocol):
    """What the colours of n points say.

    ``codes`` (n,) are places in ``colors``. With ``names``, colours are categories; without, they
    are a scale from its low to its high end with ``ticks``, places from 0 to 1 and their labels.
    Where ``missing`` is not 0, the last colour is that of points without a value.
    """

    @property
    def title(self) -> str: ...  # noqa: D102 (the class tells)
    @property
    def codes(self) -> np.ndarray: ...  # noqa: D102
    @property
    def colors(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def names(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def ticks(self) -> tuple[tuple[float, str], ...]: ...  # noqa: D102
    @property
    def missing(self) -> int: ...  # noqa: D102


def draw_colored_map(
    y: np.ndarray,
    hdr: HDR,
    colors: PointColors,
    labels: Sequence[str] | np.ndarray | None = None,
    *,
    shown: np.ndarray | None = None,
    contours: Mapping[str, str] | None = None,
    marked: Sequence[int] = (),
    ranges: tuple[float, float, float, float] | None = None,
    anomaly_color: str | None = None,
    title: str | None = None,
    axis_names: tuple[str, str] = ("first coordinate", "second coordinate"),
    size: tuple[float, float] = (6.4, 5.2),
    lettering: Lettering | None = None,
) -> "Figure":
    """Draw the map as it is coloured, the anomalies named in blue.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The embedding.
    hdr : HDR
        Its density.
    colors : PointColors
        Of the n points.
    labels : sequence of n str, optional
        Names of the points; the anomalies' are written beside them.
    shown : bool ndarray of shape (n,), optional
        Points that are drawn; all by default.
    contours : mapping of level to colour, optional
        Draws the borders of the highest density regions in these colours.
    marked : sequence of int
        Rows to ring.
    ranges : (x0, x1, y0, y1), optional
        The part of the plane that is seen; all points by default.
    anomaly_color : str, optional
        Of the anomalies; by default they have their own colour with a black rim.
    title : str, optional
    axis_names : (str, str)
    size : (float, float)
        Width and height in inches.
    lettering : Lettering, optional
    """
    lettering = lettering or Lettering()
    figure = new_figure(*size)
    axes = figure.add_subplot()
    points = map_points(y, hdr.density)
    style_axes(axes, title=title)
    frame_map(axes, points)
    visible = np.ones(len(points), bool) if shown is None else np.asarray(shown, bool)
    if ranges is not None:
        x0, x1, y0, y1 = ranges
        axes.set_aspect("auto")
        axes.set(xlim=(x0, x1), ylim=(y0, y1))
        visible &= ((points >= [x0, y0]) & (points <= [x1, y1])).all(axis=1)
    scatter_by_density(
        axes,
        points,
        hdr,
        np.array(colors.colors)[colors.codes],
        anomaly_color=anomaly_color,
        visible=visible,
    )
    if contours is not None:
        _draw_contours(axes, hdr, contours)
    if len(marked):
        rows = np.asarray(marked, np.int64)
        axes.scatter(
            points[rows, 0],
            points[rows, 1],
            s=60,
            facecolors="none",
            edgecolors=_RING,
            linewidths=1.2,
            zorder=4,
        )
    axes.set_xlabel(axis_names[0], parse_math=False)
    axes.set_ylabel(axis_names[1], parse_math=False)
    if colors.names:
        used = np.unique(colors.codes)
        entries = [(colors.names[code], colors.colors[code]) for code in used]
        add_legend(figure, colors.title, entries)
    else:
        _add_bar(figure, axes, colors)
    set_lettering(figure, lettering)
    finish_layout(figure)
    if labels is not None:
        name_anomalies(axes, points, hdr, labels, lettering, only=visible)
    return figure


def _draw_contours(axes: "Axes", hdr: HDR, colors: Mapping[str, str]) -> None:
    from contourpy import contour_generator
    from matplotlib.collections import LineCollection

    if hdr.contours.density.ndim != 2:
        return
    grid = hdr.contours.points()
    generator: Any = contour_generator(grid[..., 0], grid[..., 1], hdr.contours.density)
    for level, threshold in zip(LEVELS, hdr.thresholds, strict=False):
        lines = LineCollection(
            generator.lines(float(threshold)), colors=colors[level], linewidths=0.9, zorder=2.5
        )
        # The points alone say how much of the plane is shown.
        axes.add_collection(lines, autolim=False)


def _add_bar(figure: "Figure", axes: "Axes", colors: PointColors) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    scale = colors.colors[: len(colors.colors) - bool(colors.missing)]
    mappable = ScalarMappable(Normalize(0, 1), ListedColormap(list(scale)))
    bar = figure.colorbar(mappable, ax=axes, shrink=0.6, aspect=28, pad=0.02)
    bar.set_ticks([place for place, _ in colors.ticks], labels=[text for _, text in colors.ticks])
    bar.ax.tick_params(labelsize=TEXT - 1, length=2)
    bar.outline.set_visible(False)
    more = f" ({colors.missing:,} not known, grey)" if colors.missing else ""
    bar.set_label(colors.title + more, fontsize=TEXT, parse_math=False)
