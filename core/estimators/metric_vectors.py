"""Rows of numbers, by scikit-learn's names of metrics, as vectors."""

import numpy as np

from core.errors import InputError
from core.fields import Distance
from core.vectors import Vectors

# The statistical distance that has a metric's norm, and what turns it into the metric.
_DISTANCES: dict[str, tuple[Distance, float]] = {
    "euclidean": ("hellinger", 1),
    "manhattan": ("tv", 2),
}


def metric_vectors(rows: np.ndarray, metric: str) -> Vectors:
    """Take rows (n, p) as vectors that are compared by a metric."""
    return Vectors.from_array(rows, distance=_look_up(metric)[0])


def metric_scale(metric: str) -> float:
    """Return what turns the vectors' distance into the metric."""
    return _look_up(metric)[1]


def _look_up(metric: str) -> tuple[Distance, float]:
    if metric not in _DISTANCES:
        raise InputError(f"metric must be one of {', '.join(_DISTANCES)}, got {metric!r}")
    return _DISTANCES[metric]
