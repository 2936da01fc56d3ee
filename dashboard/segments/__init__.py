"""Kinds of homes: the tab in the drawer, and their names on the map."""

from dashboard.segments.segments_tab import SegmentsTab

__all__ = ["SegmentsTab"]
