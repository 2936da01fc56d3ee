"""Groups of households: who they are, and how two of them differ.

The names below are imported when they are first used: ``wattfold groups --help`` needs only the
options.
"""

from core.lazy_names import lazy_names

_HOMES = {
    "Demand": "demand",
    "GroupComparison": "compare",
    "Grouping": "grouping",
    "Moments": "moments",
    "compare_groups": "compare",
    "group_by": "grouping",
    "household_demand": "demand",
    "read_groups": "grouping",
    "read_moments": "moments",
}

__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)
