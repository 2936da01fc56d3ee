"""The chosen homes as a group, beside the map."""

from dashboard.groups.group_panel import GroupPanel

__all__ = ["GroupPanel"]
