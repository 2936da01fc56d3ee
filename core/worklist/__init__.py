"""The worklist: households to look into, what was found there, and more of the same kind.

The names below are imported when they are first used: ``wattfold worklist --help`` needs only the
verdicts.
"""

from typing import TYPE_CHECKING

from core.lazy_names import lazy_names

if TYPE_CHECKING:  # what __getattr__ finds, for type checkers and editors
    from core.worklist.case_file import write_case_file as write_case_file
    from core.worklist.cases import case_table as case_table
    from core.worklist.cases import precision_by_detector as precision_by_detector
    from core.worklist.flags import Flag as Flag
    from core.worklist.flags import Worklist as Worklist
    from core.worklist.flags import merge as merge
    from core.worklist.flags import read_worklist as read_worklist
    from core.worklist.similar_symptoms import MoreLike as MoreLike
    from core.worklist.similar_symptoms import more_like as more_like
    from core.worklist.verdicts import VERDICTS as VERDICTS

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
