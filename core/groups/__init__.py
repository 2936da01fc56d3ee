"""Groups of households: who they are, and how two of them differ.

The names below are imported when they are first used: ``wattfold groups --help`` needs only the
options.
"""

from typing import TYPE_CHECKING

from core.lazy_names import lazy_names

if TYPE_CHECKING:  # what __getattr__ finds, for type checkers and editors
    from core.groups.compare import GroupComparison as GroupComparison
    from core.groups.compare import compare_groups as compare_groups
    from core.groups.demand import Demand as Demand
    from core.groups.demand import household_demand as household_demand
    from core.groups.grouping import Grouping as Grouping
    from core.groups.grouping import group_by as group_by
    from core.groups.grouping import read_groups as read_groups
    from core.groups.moments import Moments as Moments
    from core.groups.moments import read_moments as read_moments

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
