"""Segments: kinds of households that stay the same whichever weeks one looks at.

The names below are imported when they are first used: ``wattfold segments --help`` needs only the
options.
"""

from core.lazy_names import lazy_names

_HOMES = {
    "Segments": "find",
    "find_segments": "find",
}

__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)
