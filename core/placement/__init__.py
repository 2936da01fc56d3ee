"""Saved maps, and new points on them."""

from core.placement.new_points import place, placement_json
from core.placement.saved_map import SavedMap, check_map_replaceable, save_map

__all__ = ["SavedMap", "check_map_replaceable", "place", "placement_json", "save_map"]
