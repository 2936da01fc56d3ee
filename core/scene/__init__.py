"""What a map shows, as plain arrays, for every drawer: page, small maps, figures, offline HTML."""

from core.scene.coloring import Coloring, color_levels, color_points, color_times
from core.scene.map_scene import (
    Contour,
    MapScene,
    density_scene,
    map_points,
    map_scene,
    plain_scene,
)
from core.scene.view import View
from core.theme import DARK, LIGHT, Theme

__all__ = [
    "DARK",
    "LIGHT",
    "Coloring",
    "Contour",
    "MapScene",
    "Theme",
    "View",
    "color_levels",
    "color_points",
    "color_times",
    "density_scene",
    "map_points",
    "map_scene",
    "plain_scene",
]
