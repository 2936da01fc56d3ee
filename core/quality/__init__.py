"""How faithful the graph and the embedding are to the statistical distance."""

from core.quality.intrinsic_dimension import IntrinsicDimension, two_nn
from core.quality.measures import MEASURES, Quality, measure_embedding, measure_quality
from core.quality.reference import QualityReference, prepare_reference

__all__ = [
    "MEASURES",
    "IntrinsicDimension",
    "Quality",
    "QualityReference",
    "measure_embedding",
    "measure_quality",
    "prepare_reference",
    "two_nn",
]
