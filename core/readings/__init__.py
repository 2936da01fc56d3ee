"""Files of meter readings -> a dataset directory: Parquet, a manifest, a health report.

The names below are imported when they are first used: the help of ``wattfold ingest`` needs the
options and the names of the formats alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.readings.appending import Appended, append
    from core.readings.dataset import Dataset, DatasetError
    from core.readings.ingestion import ingest
    from core.readings.inspection import Doubt, Inspection, inspect
    from core.readings.options import IngestOptions
    from core.readings.questions import Choice, UndecidedError

__all__ = [
    "Appended",
    "Choice",
    "Dataset",
    "DatasetError",
    "Doubt",
    "IngestOptions",
    "Inspection",
    "UndecidedError",
    "append",
    "ingest",
    "inspect",
]

_HOMES = {
    "Appended": "appending",
    "Choice": "questions",
    "Dataset": "dataset",
    "DatasetError": "dataset",
    "Doubt": "inspection",
    "IngestOptions": "options",
    "Inspection": "inspection",
    "UndecidedError": "questions",
    "append": "appending",
    "ingest": "ingestion",
    "inspect": "inspection",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
