"""The worklist on the page: verdicts in the story of a home, and the list in the drawer."""

from dashboard.worklist.verdict_field import VerdictField
from dashboard.worklist.worklist_tab import WorklistTab

__all__ = ["VerdictField", "WorklistTab"]
