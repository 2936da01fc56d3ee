"""How faithful the graph and the embedding are to the statistical distance."""

from core.quality.measures import MEASURES, Quality, measure_embedding, measure_quality
from core.quality.reference import Reference, prepare_reference

__all__ = [
    "MEASURES",
    "Quality",
    "Reference",
    "measure_embedding",
    "measure_quality",
    "prepare_reference",
]
