"""The Periods tab: two periods side by side, and who moved."""

from dashboard.periods.periods_tab import PeriodsTab

__all__ = ["PeriodsTab"]
