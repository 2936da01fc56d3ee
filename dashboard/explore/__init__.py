"""The Explore tab: settings, map, tables and the detail of a point."""

from dashboard.explore.map_view import MapView
from dashboard.explore.point_detail import PinnedPoints, PointDetail
from dashboard.explore.point_tables import anomaly_table, chosen_table
from dashboard.explore.run_controller import RunController
from dashboard.explore.settings_panel import sidebar

__all__ = [
    "MapView",
    "PinnedPoints",
    "PointDetail",
    "RunController",
    "anomaly_table",
    "chosen_table",
    "sidebar",
]
