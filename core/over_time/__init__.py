"""How households change: their paths on a map, two periods side by side, new weeks watched."""

from core.over_time.paths import Paths, household_paths
from core.over_time.two_periods import PeriodComparison, compare_periods
from core.over_time.watch import Watch, describe_alerts, watch

__all__ = [
    "Paths",
    "PeriodComparison",
    "Watch",
    "compare_periods",
    "describe_alerts",
    "household_paths",
    "watch",
]
