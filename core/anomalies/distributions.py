"""Distributions of demand by hour of the day, on alternate weeks.

Each household has two: one of its 1st, 3rd, 5th … usable week and one of the weeks between.
Products of differences on the two halves estimate squared distances without the bias that small
samples bring, because the errors of the halves are independent.
"""

import numba
import numpy as np

from core.anomalies.statistics import some_homes
from core.anomalies.symptoms import HALF_HOURS, Symptoms

BINS = 12
HOURS = 8
SAMPLE = 200_000


def root_distributions(symptoms: Symptoms) -> np.ndarray:
    """Return root probabilities whose differences are Hellinger distances, (2, n, 96).

    Bins are equally likely in a sample of all readings.
    """
    sample = symptoms.kwh[some_homes(len(symptoms))].reshape(-1)
    sample = sample[:: max(1, len(sample) // SAMPLE)]
    edges = np.unique(np.quantile(sample[np.isfinite(sample)], np.arange(1, BINS) / BINS))
    counts = np.zeros((2, len(symptoms), HOURS, BINS))
    _count(symptoms.kwh, symptoms.usable, edges, counts)
    share = counts / np.maximum(counts.sum(axis=3, keepdims=True), 1)
    return np.sqrt(share / (2 * HOURS)).reshape(2, len(symptoms), -1)


def squared_distances(roots: np.ndarray, homes: np.ndarray) -> np.ndarray:
    """Return unbiased squared distances from all households to ``homes``, (n, m)."""
    first, second = roots
    cross = first @ second[homes].T + second @ first[homes].T
    own = np.einsum("nb,nb->n", first, second)
    return own[:, None] + own[homes][None, :] - cross


@numba.njit(nogil=True, cache=True)
def _count(kwh, usable, edges, counts):  # type: ignore[no-untyped-def]
    for i in range(len(kwh)):
        half = 0
        for week in range(kwh.shape[1]):
            if not usable[i, week]:
                continue
            for slot in range(kwh.shape[2]):
                value = kwh[i, week, slot]
                if np.isfinite(value):
                    hour = slot % HALF_HOURS * HOURS // HALF_HOURS
                    counts[half, i, hour, np.searchsorted(edges, value)] += 1
            half = 1 - half
