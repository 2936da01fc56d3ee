"""Points of a map, and their legend."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from core.density import HDR
from core.figures.canvas import RASTER_POINTS, TEXT, point_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D


def scatter_by_density(
    axes: "Axes",
    points: np.ndarray,
    hdr: HDR,
    colors: np.ndarray,
    *,
    anomaly_color: str | None = None,
    visible: np.ndarray | None = None,
    scale: float = 1.0,
) -> None:
    """Draw points, dense ones on top of sparse ones, as their regions lie inside the others.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    hdr : HDR
        Of the n points; its anomalies lie on top of all, a little larger.
    colors : ndarray of n colours
    anomaly_color : str, optional
        Of the anomalies; by default they have their own colour with a black rim.
    visible : bool ndarray of shape (n,), optional
        Points that are drawn; all by default.
    scale : float
        Of the points' area.
    """
    order, anomalies = np.argsort(hdr.density, kind="stable"), hdr.anomalies
    if visible is not None:
        order, anomalies = order[visible[order]], anomalies[visible[anomalies]]
    area = scale * point_size(len(points))
    axes.scatter(
        points[order, 0],
        points[order, 1],
        s=area,
        c=colors[order],
        linewidths=0,
        rasterized=len(points) > RASTER_POINTS,
        zorder=2,
    )
    axes.scatter(
        points[anomalies, 0],
        points[anomalies, 1],
        s=1.5 * max(area, 5.0 * scale),
        c=anomaly_color or colors[anomalies],
        edgecolors="black",
        linewidths=0.0 if anomaly_color else 0.5,
        zorder=3,
    )


def legend_dots(entries: Iterable[tuple[str, str]]) -> "list[Line2D]":
    """Handles of a legend, of (name, colour)."""
    from matplotlib.lines import Line2D

    shared: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 5, "markeredgewidth": 0}
    return [Line2D([], [], color=color, label=name, **shared) for name, color in entries]


def add_legend(
    figure: "Figure", title: str, entries: Iterable[tuple[str, str]], *, most_rows: int = 24
) -> "Legend":
    """Put a legend of dots at the right of a figure; names are shown to the letter."""
    handles = legend_dots(entries)
    legend = figure.legend(
        handles=handles,
        loc="outside right upper",
        title=title,
        fontsize=TEXT,
        title_fontsize=TEXT,
        frameon=False,
        handletextpad=0.2,
        alignment="left",
        ncols=max(1, -(-len(handles) // most_rows)),
    )
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
    return legend
