"""Files of meter readings -> a dataset directory: Parquet, a manifest, a health report."""

from core.readings.append import Appended, append
from core.readings.dataset import Dataset, DatasetError
from core.readings.ingest import ingest
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
