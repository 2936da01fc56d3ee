"""``random``: no reading resembles the one before it, as in made-up or scrambled readings.

What runs in a home runs for longer than half an hour, which links a reading to the next. Log
readings are correlated, so that a few peaks do not decide.
"""

import numpy as np

from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes, daily_mean
from core.anomalies.statistics import record_mean
from core.anomalies.symptoms import SLOTS, Symptoms

# Homes link successive readings with a correlation of 0.3 to 0.9; a week below this is random.
UNLINKED = 0.15

# The meter of an empty home may flicker for some weeks: only more than this share counts.
SHARE = 0.6


def measure(symptoms: Symptoms) -> np.ndarray:
    """How far the share of random weeks is above what empty homes have, (n, 1)."""
    unlinked = (symptoms.linked < UNLINKED).astype(float)
    return np.maximum(record_mean(symptoms, unlinked) - SHARE, 0.0)[:, None]


def explain(homes: Homes, row: int, statistic: str) -> Finding:
    """Tell that its readings are random."""
    expected = homes.expected(row, None, EVERY)
    return homes.finding(
        row,
        None,
        expected,
        reason="Its readings jump up and down: none resembles the one before it",
        direction="different",
        slots=np.ones(SLOTS, bool),
        kwh_per_week=float(7 * (homes.profiles[row] - expected).sum()),
        daily=daily_mean(homes.days[row]),
    )


DETECTORS.register(
    Detector(
        name="random",
        help="its readings jump up and down",
        statistics=(Statistic("random", shape=1.5, least=0.05),),
        measure=measure,
        explain=explain,
    )
)
