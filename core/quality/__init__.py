"""How faithful the graph and the embedding are to the statistical distance."""

from core.quality.measures import MEASURES, Quality, measure_embedding, measure_quality
from core.quality.reference import QualityReference, prepare_reference

__all__ = [
    "MEASURES",
    "Quality",
    "QualityReference",
    "measure_embedding",
    "measure_quality",
    "prepare_reference",
]
