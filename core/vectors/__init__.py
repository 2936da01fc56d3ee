"""Units and their distributions as vectors whose norm differences are statistical distances."""

from core.vectors.distance import Vectors, make_vectors, statistical_distance
from core.vectors.samples import from_samples
from core.vectors.units import choose_samples, window_sum

__all__ = [
    "Vectors",
    "choose_samples",
    "from_samples",
    "make_vectors",
    "statistical_distance",
    "window_sum",
]
