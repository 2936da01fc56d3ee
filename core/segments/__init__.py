"""Segments: kinds of households that stay the same whichever weeks one looks at.

The names below are imported when they are first used: ``wattfold segments --help`` needs only the
options.
"""

from typing import TYPE_CHECKING

from core.lazy_names import lazy_names

if TYPE_CHECKING:  # what __getattr__ finds, for type checkers and editors
    from core.segments.find import Segments as Segments
    from core.segments.find import find_segments as find_segments

_HOMES = {
    "Segments": "find",
    "find_segments": "find",
}

__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)
