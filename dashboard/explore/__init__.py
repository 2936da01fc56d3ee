"""The Explore tab: settings, map, tables and the story of a point."""

from dashboard.explore.anomaly_list import AnomalyList
from dashboard.explore.dimension_tour import DimensionTour
from dashboard.explore.map_paths import MapPaths
from dashboard.explore.map_view import MapView
from dashboard.explore.point_detail import PinnedPoints, PointDetail
from dashboard.explore.point_tables import chosen_table
from dashboard.explore.run_controller import RunController
from dashboard.explore.settings_panel import map_summary, settings

__all__ = [
    "AnomalyList",
    "DimensionTour",
    "MapPaths",
    "MapView",
    "PinnedPoints",
    "PointDetail",
    "RunController",
    "chosen_table",
    "map_summary",
    "settings",
]
