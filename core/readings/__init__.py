"""Files of meter readings -> a dataset directory: Parquet, a manifest, a health report.

The names below are imported when they are first used: the help of ``wattfold ingest`` needs the
options and the names of the formats alone.
"""

from typing import TYPE_CHECKING

from core.lazy_names import lazy_names

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

__getattr__ = lazy_names(__name__, _HOMES)
