"""Figures in print quality, drawn with Matplotlib.

Each is a pure function of data that returns a ``Figure`` or draws into given axes. None touches
pyplot or any other global state, so they may be drawn in any thread.
"""

from core.figures.canvas import Lettering, set_lettering
from core.figures.colored_map import PointColors, draw_colored_map
from core.figures.distribution import Distribution, draw_distribution, draw_distributions
from core.figures.files import save_figure
from core.figures.grid import MapCell, draw_map_grid
from core.figures.hdr_map import draw_hdr_map, draw_time_map
from core.figures.neighbor_graph import draw_neighbor_graph, draw_neighbor_graphs
from core.figures.palette import HDR_COLORS, HDR_COLORS_SAFE, time_color
from core.figures.quantile_regions import draw_quantile_regions, draw_week
from core.figures.series import draw_series

__all__ = [
    "HDR_COLORS",
    "HDR_COLORS_SAFE",
    "Distribution",
    "Lettering",
    "MapCell",
    "PointColors",
    "draw_colored_map",
    "draw_distribution",
    "draw_distributions",
    "draw_hdr_map",
    "draw_map_grid",
    "draw_neighbor_graph",
    "draw_neighbor_graphs",
    "draw_quantile_regions",
    "draw_series",
    "draw_time_map",
    "draw_week",
    "save_figure",
    "set_lettering",
    "time_color",
]
