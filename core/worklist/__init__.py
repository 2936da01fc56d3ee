"""The worklist: households to look into, what was found there, and more of the same kind.

The names below are imported when they are first used: ``wattfold worklist --help`` needs only the
verdicts.
"""

from core.lazy_names import lazy_names

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

__getattr__ = lazy_names(__name__, _HOMES)
