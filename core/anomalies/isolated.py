"""``isolated``: far from all other households in the statistical distance."""

import numpy as np

from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.distributions import root_distributions, squared_distances
from core.anomalies.pattern import explain_pattern
from core.anomalies.statistics import some_homes
from core.anomalies.symptoms import Symptoms

NEAREST = 10


def measure(symptoms: Symptoms) -> np.ndarray:
    """Root of the mean squared distance to the nearest households, (n, 1)."""
    homes = some_homes(len(symptoms))
    squared = squared_distances(root_distributions(symptoms), homes)
    squared[homes, np.arange(len(homes))] = np.inf
    count = min(NEAREST, len(homes) - 1)
    nearest = np.partition(squared, count - 1, axis=1)[:, :count].mean(axis=1, keepdims=True)
    return np.sqrt(np.maximum(nearest, 0.0))


DETECTORS.register(
    Detector(
        name="isolated",
        help="its demand is distributed unlike that of any other home",
        statistics=(Statistic("isolated", shape=0.65),),
        measure=measure,
        explain=explain_pattern,
    )
)
