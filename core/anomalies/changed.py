"""``changed``: from some week on a household uses less, more, or at other hours than before.

Changes are compared with those of all households at the same date, so that a season is none.
"""

import numpy as np

from core.anomalies.clock import log_distance, unit_days
from core.anomalies.detector import DETECTORS, QUARTER, Detector, Statistic
from core.anomalies.pattern import explain_pattern
from core.anomalies.statistics import Splits, largest, standardize
from core.anomalies.symptoms import RESOLUTION, Symptoms

# The quantiles of the week that make its level, and those that a scaled record scales.
LEVEL, SCALED = slice(2, 9), slice(1, 9)

# Deviation of log changes that a record shows whatever happens.
NOISE = 0.1


def measure(symptoms: Symptoms) -> np.ndarray:
    """Largest fall, rise, fall of everything alike, and change of the day's shape."""
    return np.stack([largest(standardize(change)) for change in changes(symptoms)], axis=1)


def changes(symptoms: Symptoms) -> tuple[np.ndarray, ...]:
    """Return fall, rise, fall of everything alike, and change of the day's shape, (n, c)."""
    splits = Splits.of(symptoms)
    before, after = splits.means(symptoms, symptoms.quantiles)
    change = splits.masked(after - before)
    level = change[..., LEVEL].mean(axis=2)
    first, second = splits.means(symptoms, symptoms.mean)
    days = np.log((second + RESOLUTION) / (first + RESOLUTION))
    parts = np.concatenate(
        [
            change[..., SCALED],
            _difference(splits, symptoms, symptoms.steps),
            _difference(splits, symptoms, symptoms.low).reshape(*level.shape, 8, 3).mean(axis=3),
            days.reshape(*level.shape, 8, 6).mean(axis=3),
        ],
        axis=2,
    )
    parts = splits.masked(parts)
    usual = np.nanmedian(np.where(splits.valid[:, :, None].any(axis=0), parts, 0.0), axis=0)
    parts = parts - usual
    alike = -parts.mean(axis=2) / (parts.std(axis=2) + NOISE)
    cosine = np.einsum("nch,nch->nc", unit_days(first), unit_days(second))
    silent = np.minimum(first.max(axis=2), second.max(axis=2)) < RESOLUTION
    shape = splits.masked(np.where(silent, log_distance(np.array(1.0)), log_distance(cosine)))
    return -level, level, alike, shape


def _difference(splits: Splits, symptoms: Symptoms, values: np.ndarray) -> np.ndarray:
    before, after = splits.means(symptoms, values)
    return after - before


DETECTORS.register(
    Detector(
        name="changed",
        help="uses less, more or at other hours than before, unlike the other homes",
        statistics=(
            Statistic("fell", shape=0.65, weeks=QUARTER),
            Statistic("rose", shape=0.5, weeks=QUARTER),
            Statistic("scaled down", shape=1.1, weeks=QUARTER),
            Statistic("new shape", shape=0.65, weeks=QUARTER),
        ),
        measure=measure,
        explain=explain_pattern,
    )
)
