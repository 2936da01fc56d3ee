"""The paper's study on one's own data: six methods on the neighbours of four searches."""

from core.study.consensus import Consensus, find_consensus
from core.study.study_runs import SEARCHES, Study, StudyPlan, StudyRun, run_study

__all__ = ["SEARCHES", "Consensus", "Study", "StudyPlan", "StudyRun", "find_consensus", "run_study"]
