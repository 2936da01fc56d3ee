"""Files of meter readings -> a dataset directory: Parquet, a manifest, a health report."""

from core.readings.dataset import Dataset, DatasetError

__all__ = ["Dataset", "DatasetError"]
