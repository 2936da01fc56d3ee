"""``level``: uses less than a home with this pattern of use.

A home that is metered in part has the pattern of a larger one: its base load, its peaks and its
steps are all small by the same factor. The level is predicted from the pattern by regression.
"""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.homes import CLEAR_STEP, LEAST_STEP, Finding, Homes
from core.anomalies.pattern import explain_pattern
from core.anomalies.statistics import clipped, record_mean, ridge_residuals
from core.anomalies.symptoms import SLOTS, Symptoms
from core.anomalies.words import number_words, ratio_words

PENALTY = 0.03


def pattern(symptoms: Symptoms) -> tuple[np.ndarray, np.ndarray]:
    """Return what does not depend on the level, (n, 27), and the log of the level, (n, 1)."""
    mean = record_mean(symptoms, symptoms.mean)
    total = mean.mean(axis=1, keepdims=True)
    level = np.log(total + 0.002)
    parts = [
        record_mean(symptoms, symptoms.quantiles) - level,
        np.log(mean[:, ::4] + 0.005) - np.log(total + 0.005),
        record_mean(symptoms, symptoms.steps) - level,
    ]
    return np.concatenate(parts, axis=1), level


def measure(symptoms: Symptoms) -> np.ndarray:
    """Return how far the log of the level is below its prediction, (n, 1)."""
    return -level_residuals(symptoms)


def level_residuals(symptoms: Symptoms) -> np.ndarray:
    """Return the log of the level minus its prediction from the pattern, (n, 1)."""
    x, level = pattern(symptoms)
    z = clipped(x)
    curved = [z, np.maximum(z, 0) ** 2 / 4, np.minimum(z, 0) ** 2 / 4]
    return ridge_residuals(np.concatenate(curved, axis=1), level, PENALTY)


def explain(homes: Homes, row: int, statistic: str) -> Finding:
    """Tell how much less it uses, or that this began at some date."""
    daily = homes.level_series(row)
    step = change_point(daily)
    if step and step.explained > CLEAR_STEP and step.after < step.before - LEAST_STEP:
        return explain_pattern(homes, row, statistic)
    ratio = float(np.exp(homes.shared(level_residuals)[row, 0]))
    profile = homes.mean_day(row, 0, homes.n_days)
    expected = profile / ratio
    size = float(7 * (profile - expected).sum())
    reason = (
        f"Uses {ratio_words(ratio)} homes with the same pattern of use "
        f"(about {number_words(abs(size))} kWh a week)"
    )
    return homes.finding(
        row,
        None,
        expected,
        reason=reason,
        direction="lower" if ratio < 1 else "higher",
        slots=np.ones(SLOTS, bool),
        kwh_per_week=size,
        daily=daily,
    )


DETECTORS.register(
    Detector(
        name="level",
        help="uses less than homes with the same pattern of use",
        statistics=(Statistic("low level"),),
        measure=measure,
        explain=explain,
    )
)
