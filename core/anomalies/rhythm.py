"""``rhythm``: the days of the week that look like a weekend are not Saturday and Sunday."""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes
from core.anomalies.statistics import (
    Splits,
    largest,
    present_mean,
    record_mean,
    some_homes,
    standardize,
)
from core.anomalies.symptoms import HALF_HOURS, Symptoms
from core.anomalies.words import DAY_NAMES

# Two successive days from Monday to Friday that may look like a weekend.
PAIRS = slice(0, 4)
SATURDAY = 5

# Days further off than this are no example of anything.
EXTREME = 3.0


def centred_days(symptoms: Symptoms) -> np.ndarray:
    """Return every day relative to the household's mean level and day, (n, weeks, 7, 24)."""
    usable = symptoms.usable[:, :, None, None] & np.isfinite(symptoms.day).all(3, keepdims=True)
    count = np.maximum(usable.sum(axis=(1, 2), keepdims=True), 1)
    day = np.where(usable, symptoms.day, 0.0)
    total = day.sum(axis=(1, 2), keepdims=True) / count
    level = np.maximum(total.mean(axis=3, keepdims=True), 0.02)
    return np.where(usable, (day - total) / level, np.nan)


def weekend_direction(days: np.ndarray) -> np.ndarray:
    """Return the weights of the 24 hours that best tell Saturday and Sunday from other days."""
    weekend, work = (
        part[np.isfinite(part).all(axis=1) & (np.abs(part).max(axis=1) < EXTREME)]
        for part in (days[:, :, 5:].reshape(-1, 24), days[:, :, :5].reshape(-1, 24))
    )
    if not len(weekend) or not len(work):
        return np.zeros(24)
    covariance = (len(weekend) * np.cov(weekend.T) + len(work) * np.cov(work.T)) / (
        len(weekend) + len(work)
    )
    return np.linalg.solve(covariance + 1e-3 * np.eye(24), weekend.mean(axis=0) - work.mean(axis=0))


def measure(symptoms: Symptoms) -> np.ndarray:
    """How much working days look like the weekend, in the record and newly."""
    days = centred_days(symptoms)
    direction = weekend_direction(days[some_homes(len(days))])
    scores = pair_scores(days, direction)
    coarse = days.reshape(*days.shape[:3], 12, 2).mean(axis=4)
    moved = [largest(standardize(x)) for x in _moved(symptoms, scores, coarse)]
    return np.stack([_combine(*_misplaced(symptoms, scores, coarse)), _combine(*moved)], axis=1)


def _combine(population: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Add evidence: the population's weekend is known best; the household's own pattern helps."""
    first, second = (np.maximum(standardize(x), 0) for x in (population, own))
    return first + 0.5 * second


def pair_scores(days: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """How much each two successive days of each week look like a weekend, (n, weeks, 7)."""
    score = np.clip(np.nan_to_num(days) @ direction, -6, 6)
    return (score + np.roll(score, -1, axis=2)) / 2


def _excess(pairs: np.ndarray) -> np.ndarray:
    """How much more some working days look like a weekend than Saturday and Sunday do."""
    return pairs[..., PAIRS].max(axis=-1) - pairs[..., SATURDAY]


def _misplaced(
    symptoms: Symptoms, scores: np.ndarray, days: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By the population's weekend, and by the variance that two days of the week explain, (n,)."""
    pairs = record_mean(symptoms, scores)
    present = np.isfinite(days).all(axis=3)
    days = np.where(present[..., None], days, 0.0)
    total = np.maximum((days**2).sum(axis=(1, 2, 3)), 1e-9)
    sums, counts = days.sum(axis=1), present.sum(axis=1)
    explained = np.empty((len(days), 7))
    for first in range(7):
        pair = [first, (first + 1) % 7]
        rest = [day for day in range(7) if day not in pair]
        explained[:, first] = sum(
            (sums[:, group].sum(axis=1) ** 2).sum(axis=1)
            / np.maximum(counts[:, group].sum(axis=1), 1)
            for group in (pair, rest)
        )
    return _excess(pairs), _excess(explained / total[:, None])


def _moved(
    symptoms: Symptoms, scores: np.ndarray, days: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Change of the excess, by the population's weekend and by the household's own, (n, c)."""
    splits = Splits.of(symptoms)
    before, after = splits.means(symptoms, scores)
    first, second = splits.means(symptoms, days)
    weekend = first[:, :, 5:].mean(axis=2) - first[:, :, :5].mean(axis=2)
    second = second - second.mean(axis=2, keepdims=True)
    along = np.einsum("ncdh,nch->ncd", second, weekend)
    along /= np.sqrt((weekend**2).sum(axis=2) + 0.05)[..., None]
    pairs = (along + np.roll(along, -1, axis=2)) / 2
    return splits.masked(_excess(after - before)), splits.masked(_excess(pairs))


def explain(homes: Homes, row: int, statistic: str) -> Finding:
    """Tell which days look like a weekend, and since when."""
    days = centred_days(homes.symptoms.take(np.array([row])))
    pairs = pair_scores(days, homes.shared(_direction))[0]
    weekly = np.where(homes.symptoms.usable[row][:, None], pairs, np.nan)
    onset_week = None
    day = int(present_mean(weekly, axis=0)[PAIRS].argmax())
    if statistic == "moved weekend":
        contrast = weekly[:, PAIRS] - weekly[:, 5:6]
        steps = [change_point(contrast[:, each], least=2) for each in range(4)]
        best = max(
            (step.explained if step and step.after > step.before else -1.0, each)
            for each, step in enumerate(steps)
        )
        day = best[1]
        step = steps[day]
        onset_week = step.position if step and best[0] > 0 else None
    onset = None if onset_week is None else onset_week * 7
    slots = np.zeros((7, HALF_HOURS), bool)
    slots[[day, day + 1, 5, 6]] = True
    names = f"{DAY_NAMES[day]}s and {DAY_NAMES[day + 1]}s"
    reason = (
        f"Its {names} look like a weekend, its Saturdays and Sundays do not{homes.since(onset)}"
    )
    return homes.finding(
        row,
        onset,
        homes.expected(row, onset, EVERY),
        reason=reason,
        direction="different",
        slots=slots.reshape(-1),
        kwh_per_week=0.0,
        daily=np.repeat(weekly[:, day] - weekly[:, 5], 7),
    )


def _direction(symptoms: Symptoms) -> np.ndarray:
    some = symptoms.take(some_homes(len(symptoms)))
    return weekend_direction(centred_days(some))


DETECTORS.register(
    Detector(
        name="rhythm",
        help="other days than Saturday and Sunday look like its weekend",
        statistics=(
            Statistic("misplaced weekend", shape=1.2),
            Statistic("moved weekend", shape=0.8),
        ),
        measure=measure,
        explain=explain,
    )
)
