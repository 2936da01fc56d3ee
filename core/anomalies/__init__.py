"""What is unusual about a household, how sure that is, why and since when.

The names below are imported when they are first used: ``wattfold anomalies --help`` needs only
the options.
"""

from typing import TYPE_CHECKING

from core.lazy_names import lazy_names

if TYPE_CHECKING:  # what __getattr__ finds, for type checkers and editors
    from core.anomalies.detectors import DETECTORS as DETECTORS
    from core.anomalies.find import Anomalies as Anomalies
    from core.anomalies.find import find_anomalies as find_anomalies
    from core.anomalies.find import rank_households as rank_households
    from core.anomalies.half_hours import rank_half_hours as rank_half_hours
    from core.anomalies.homes import Finding as Finding
    from core.anomalies.surprise import Expectation as Expectation
    from core.anomalies.surprise import Surprise as Surprise
    from core.anomalies.surprise import explain as explain
    from core.anomalies.surprise import make_expectation as make_expectation
    from core.anomalies.surprise import measure_surprise as measure_surprise
    from core.anomalies.surprise import surprise_of_new as surprise_of_new
    from core.anomalies.weeks import Weeks as Weeks
    from core.anomalies.weeks import read_weeks as read_weeks

_HOMES = {
    "Anomalies": "find",
    "DETECTORS": "detectors",
    "Expectation": "surprise",
    "Finding": "homes",
    "Surprise": "surprise",
    "Weeks": "weeks",
    "explain": "surprise",
    "find_anomalies": "find",
    "make_expectation": "surprise",
    "measure_surprise": "surprise",
    "rank_half_hours": "half_hours",
    "rank_households": "find",
    "read_weeks": "weeks",
    "surprise_of_new": "surprise",
}

__all__ = list(_HOMES)

__getattr__ = lazy_names(__name__, _HOMES)
