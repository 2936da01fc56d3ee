"""Figures in print quality, drawn with Matplotlib.

Each is a pure function of data that returns a ``Figure`` or draws into given axes. None touches
pyplot or any other global state, so they may be drawn in any thread.
"""

from core.figures.calendar import DemandCalendar, demand_calendar, draw_calendar
from core.figures.canvas import Lettering, set_lettering
from core.figures.distribution import Distribution, draw_distribution, draw_distributions
from core.figures.files import save_figure
from core.figures.group_figure import draw_groups
from core.figures.map_figure import draw_hdr_map, draw_map, draw_time_map
from core.figures.map_grid import draw_map_grid
from core.figures.moves import draw_moves
from core.figures.neighbor_graph import draw_neighbor_graphs
from core.figures.quantile_regions import draw_quantile_regions, draw_week
from core.figures.readings_series import draw_series
from core.scene.palette import HDR_COLORS, HDR_COLORS_SAFE, time_color

__all__ = [
    "HDR_COLORS",
    "HDR_COLORS_SAFE",
    "DemandCalendar",
    "Distribution",
    "Lettering",
    "demand_calendar",
    "draw_calendar",
    "draw_distribution",
    "draw_distributions",
    "draw_groups",
    "draw_hdr_map",
    "draw_map",
    "draw_map_grid",
    "draw_moves",
    "draw_neighbor_graphs",
    "draw_quantile_regions",
    "draw_series",
    "draw_time_map",
    "draw_week",
    "save_figure",
    "set_lettering",
    "time_color",
]
