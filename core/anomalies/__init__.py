"""What is unusual about a household, how sure that is, why and since when.

The names below are imported when they are first used: ``wattfold anomalies --help`` needs only
the options.
"""

from importlib import import_module
from typing import Any

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
    "unseen_notice": "surprise",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
