"""The worklist: households to look into, what was found there, and more of the same kind.

The names below are imported when they are first used: ``wattfold worklist --help`` needs only the
verdicts.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Flag": "flags",
    "MoreLike": "similar_symptoms",
    "VERDICTS": "verdicts",
    "Worklist": "flags",
    "case_table": "cases",
    "merge": "flags",
    "more_like": "similar_symptoms",
    "precision_by_detector": "cases",
    "read_worklist": "flags",
    "write_case_file": "case_file",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
