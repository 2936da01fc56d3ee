"""The neighbour graph, drawn on the map."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.figures.canvas import RASTER_POINTS, frame_map, map_points, new_figure, style_axes
from core.figures.palette import EDGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_neighbor_graphs(
    y: np.ndarray, graphs: Mapping[str, np.ndarray], *, panel: tuple[float, float] = (2.8, 2.9)
) -> "Figure":
    """Draw several graphs of the same points side by side, all at the same places.

    Parameters
    ----------
    y : ndarray of shape (n, d)
        Where the points are drawn.
    graphs : mapping of title to int ndarray of shape (n, k)
        The neighbours of each point.
    """
    figure = new_figure(panel[0] * len(graphs), panel[1])
    grid = figure.subplots(1, len(graphs), squeeze=False)[0]
    for axes, (title, indices) in zip(grid, graphs.items(), strict=True):
        draw_neighbor_graph(axes, y, indices, title=title)
    return figure


def draw_neighbor_graph(
    axes: "Axes", y: np.ndarray, indices: np.ndarray, *, title: str | None = None
) -> None:
    """Draw points at ``y`` (n, d) and a line from each to its neighbours, ``indices`` (n, k)."""
    from matplotlib.collections import LineCollection

    points = map_points(y)
    edges = undirected_edges(indices)
    style_axes(axes, title=title)
    frame_map(axes, points)
    faint = float(np.clip(2_000 / max(len(edges), 1), 0.04, 0.6))
    lines = LineCollection(
        points[edges],
        colors=EDGE,
        linewidths=0.35,
        alpha=faint,
        rasterized=len(edges) > RASTER_POINTS,
        zorder=1,
    )
    axes.add_collection(lines)
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=float(np.clip(1500 / max(len(points), 1), 0.4, 5)),
        c="black",
        linewidths=0,
        rasterized=len(points) > RASTER_POINTS,
        zorder=2,
    )
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color="#c4c9d1", linewidth=0.6)


def undirected_edges(indices: np.ndarray) -> np.ndarray:
    """Edges (e, 2) of a graph of neighbours (n, k), each pair once however many name it."""
    n, k = indices.shape
    one, other = np.repeat(np.arange(n), k), np.asarray(indices, np.int64).ravel()
    one, other = one[other >= 0], other[other >= 0]
    # As one number each: rows of a million pairs take a hundred times as long to tell apart.
    edges = np.unique(np.minimum(one, other) * n + np.maximum(one, other))
    return np.column_stack(np.divmod(edges, max(n, 1)))
