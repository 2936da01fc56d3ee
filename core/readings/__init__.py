"""Files of meter readings -> a dataset directory: Parquet, a manifest, a health report."""

from core.readings.dataset import Dataset, DatasetError
from core.readings.ingest import ingest
from core.readings.options import IngestOptions

__all__ = ["Dataset", "DatasetError", "IngestOptions", "ingest"]
