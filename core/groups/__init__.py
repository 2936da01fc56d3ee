"""Groups of households: who they are, and how two of them differ.

The names below are imported when they are first used: ``wattfold groups --help`` needs only the
options.
"""

from importlib import import_module
from typing import Any

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
