"""The map as a scatter plot: by highest density region, or by time of day."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.density import HDR, LEVELS
from core.figures.canvas import (
    RASTER_POINTS,
    TEXT,
    Lettering,
    finish_layout,
    frame_map,
    map_points,
    new_figure,
    point_size,
    set_lettering,
    style_axes,
)
from core.figures.labels import place_labels
from core.figures.palette import ANOMALY, HDR_COLORS, LABEL, time_color, time_colormap
from core.figures.points import add_legend, scatter_by_density

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_hdr_map(
    y: np.ndarray,
    hdr: HDR,
    labels: Sequence[str] | np.ndarray | None = None,
    *,
    title: str | None = None,
    colors: Mapping[str, str] = HDR_COLORS,
    size: tuple[float, float] = (6.4, 5.2),
    lettering: Lettering | None = None,
) -> "Figure":
    """Draw the HDR scatter: points by level, anomalies black and labelled in blue, a legend.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The embedding.
    hdr : HDR
        Its density.
    labels : sequence of n str, optional
        Names of the points; the anomalies' are written beside them.
    title : str, optional
    colors : mapping of level to colour
    size : (float, float)
        Width and height in inches.
    lettering : Lettering, optional
    """
    lettering = lettering or Lettering()
    figure = new_figure(*size)
    axes = figure.add_subplot()
    points = scatter_hdr(axes, y, hdr, colors=colors, title=title)
    axes.set_xlabel("first coordinate" if np.shape(y)[1] > 1 else "coordinate")
    axes.set_ylabel("second coordinate" if np.shape(y)[1] > 1 else "density (scaled)")
    add_legend(figure, "HDR, %", colors.items())
    set_lettering(figure, lettering)
    finish_layout(figure)
    if labels is not None:
        name_anomalies(axes, points, hdr, labels, lettering)
    return figure


def name_anomalies(
    axes: "Axes",
    points: np.ndarray,
    hdr: HDR,
    labels: Sequence[str] | np.ndarray,
    lettering: Lettering,
    *,
    only: np.ndarray | None = None,
) -> None:
    """Write the anomalies' names beside them, once the figure is laid out.

    ``only`` (n,) says which points are drawn; all by default.
    """
    rows = hdr.anomalies if only is None else hdr.anomalies[only[hdr.anomalies]]
    place_labels(
        axes,
        points[rows],
        [str(labels[point]) for point in rows],
        beside=points,
        color=LABEL,
        size=lettering.scale * (TEXT - 0.5),
        families=lettering.families,
    )


def scatter_hdr(
    axes: "Axes",
    y: np.ndarray,
    hdr: HDR,
    *,
    colors: Mapping[str, str] = HDR_COLORS,
    title: str | None = None,
    scale: float = 1.0,
) -> np.ndarray:
    """Draw the points into axes and return where they are, (n, 2)."""
    points = map_points(y, hdr.density)
    style_axes(axes, title=title)
    frame_map(axes, points)
    level_colors = np.array([colors[level] for level in LEVELS])
    scatter_by_density(
        axes, points, hdr, level_colors[hdr.level], anomaly_color=ANOMALY, scale=scale
    )
    return points


def draw_time_map(
    y: np.ndarray,
    minutes: np.ndarray,
    *,
    title: str | None = None,
    size: tuple[float, float] = (6.2, 5.2),
) -> "Figure":
    """Draw the map coloured by the time of day.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        The embedding.
    minutes : ndarray of shape (n,)
        Minute of the day at which each point's slot starts.
    """
    figure = new_figure(*size)
    axes = figure.add_subplot()
    scatter_time(axes, y, minutes, title=title)
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    add_time_bar(figure, [axes])
    return figure


def scatter_time(
    axes: "Axes",
    y: np.ndarray,
    minutes: np.ndarray,
    *,
    title: str | None = None,
    scale: float = 1.0,
) -> None:
    """Draw the points into axes, coloured by the time of day."""
    points = map_points(y)
    style_axes(axes, title=title)
    frame_map(axes, points)
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=scale * point_size(len(points)),
        c=time_color(minutes),
        linewidths=0,
        rasterized=len(points) > RASTER_POINTS,
        zorder=2,
    )


def add_time_bar(figure: "Figure", axes: "Sequence[Axes]") -> None:
    """Add the colours of the day beside some axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    mappable = ScalarMappable(Normalize(0, 24), time_colormap())
    bar = figure.colorbar(mappable, ax=list(axes), shrink=0.6, aspect=28, pad=0.02)
    bar.set_ticks(range(0, 25, 4), labels=[f"{hour:02d}:00" for hour in range(0, 25, 4)])
    bar.ax.tick_params(labelsize=TEXT - 1, length=2)
    bar.ax.invert_yaxis()
    bar.outline.set_visible(False)
    bar.set_label("time of day", fontsize=TEXT)
