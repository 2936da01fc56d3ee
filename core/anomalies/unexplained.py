"""``unexplained``: unlike what similar households predict.

Similar households are found on one half of the weeks and predict the other half, so that no
household is similar by chance.
"""

import numpy as np

from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.distributions import root_distributions
from core.anomalies.pattern import explain_pattern
from core.anomalies.statistics import some_homes
from core.anomalies.symptoms import Symptoms

SIMILAR = 20


def measure(symptoms: Symptoms) -> np.ndarray:
    """Log of the Hellinger distance from the prediction of similar households, (n, 1)."""
    roots = root_distributions(symptoms)
    homes = some_homes(len(symptoms))
    count = min(SIMILAR, len(homes) - 1)
    squared = np.zeros(len(symptoms))
    for seen, judged in (roots, roots[::-1]):
        distance = (seen**2).sum(1)[:, None] + (seen[homes] ** 2).sum(1) - 2 * seen @ seen[homes].T
        distance[homes, np.arange(len(homes))] = np.inf
        similar = homes[np.argpartition(distance, count - 1, axis=1)[:, :count]]
        # The mixture of the similar homes' distributions is the mean of their squared roots.
        mixture = np.sqrt((judged[similar] ** 2).mean(axis=1))
        squared += ((judged - mixture) ** 2).sum(axis=1) / 2
    return np.log(np.maximum(squared, 1e-12))[:, None] / 2


DETECTORS.register(
    Detector(
        name="unexplained",
        help="its demand is distributed unlike what similar homes predict",
        statistics=(Statistic("unexplained", shape=0.9),),
        measure=measure,
        explain=explain_pattern,
    )
)
