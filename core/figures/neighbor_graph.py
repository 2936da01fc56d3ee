"""The neighbour graph, drawn on the map."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.figures.canvas import frame_small, new_figure, style_axes
from core.figures.map_figure import draw_scene
from core.scene import Coloring, plain_scene
from core.scene.map_scene import undirected_edges

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCALE = 0.3


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
    scene = plain_scene(y, Coloring("", np.zeros(len(y), np.uint8), ("#000000",), ("point",)))
    for axes, (title, indices) in zip(grid, graphs.items(), strict=True):
        style_axes(axes, title=title)
        draw_scene(axes, scene.with_(edges=undirected_edges(indices)), scale=_SCALE)
        frame_small(axes)
    return figure
