"""The Compare tab: several methods and searches side by side."""

from dashboard.compare.compare_tab import CompareTab
from dashboard.compare.comparison import Comparison

__all__ = ["CompareTab", "Comparison"]
