"""The paper's study on one's own data: six methods on the neighbours of four searches."""

from core.study.grid import SEARCHES, Cell, Plan, Study, run_study

__all__ = ["SEARCHES", "Cell", "Plan", "Study", "run_study"]
