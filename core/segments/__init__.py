"""Segments: kinds of households that stay the same whichever weeks one looks at.

The names below are imported when they are first used: ``wattfold segments --help`` needs only the
options.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Segments": "find",
    "find_segments": "find",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
