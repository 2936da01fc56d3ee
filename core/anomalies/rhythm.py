"""``rhythm``: the days of the week that look like a weekend are not Saturday and Sunday."""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.detector import DETECTORS, QUARTER, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes
from core.anomalies.rearranged import gain, log_distances
from core.anomalies.statistics import Splits, largest, record_mean, standardize
from core.anomalies.symptoms import HALF_HOURS, Symptoms
from core.anomalies.words import DAY_NAMES

# Weeks are compared in blocks of two hours.
BLOCKS = 12

# The covariance of 84 values is known roughly; see ``log_distances``.
PENALTY, FLOOR = 8.0, 20.0

# A household's own weeks before a change count as much as the population when there are so many.
OWN_WEEKS = 8
CHANGE_FLOOR, MOST = 0.3, 6.0

# The share of the weeks that must look better with the days exchanged.
AGREE = 0.6


def _exchanges() -> np.ndarray:
    """Return orders of the days in which two successive working days and the weekend swap."""
    orders = np.tile(np.arange(7), (4, 1))
    for first, order in enumerate(orders):
        order[[first, first + 1, 5, 6]] = [5, 6, first, first + 1]
    return orders


EXCHANGES = _exchanges()


def week_patterns(symptoms: Symptoms) -> np.ndarray:
    """Return the log of every day relative to the household's mean day, (n, weeks, 7, 12).

    A day that was not read in full is like the mean day.
    """
    usable = symptoms.usable[:, :, None, None] & np.isfinite(symptoms.day).all(3, keepdims=True)
    logs = np.where(usable, np.log(np.nan_to_num(symptoms.day) ** 2 + 0.01), 0.0)
    mean = logs.sum(axis=(1, 2), keepdims=True) / np.maximum(
        usable.sum(axis=(1, 2), keepdims=True), 1
    )
    pattern = np.where(usable, logs - mean, 0.0)
    return pattern.reshape(*pattern.shape[:3], BLOCKS, -1).mean(axis=4)


def measure(symptoms: Symptoms) -> np.ndarray:
    """How much exchanging working days and the weekend helps, in the record and newly."""
    weeks = week_patterns(symptoms)
    moved = _moved(symptoms, weeks).max(axis=2)
    return np.stack([_misplaced(symptoms, weeks).max(axis=1), largest(standardize(moved))], axis=1)


def _misplaced(symptoms: Symptoms, weeks: np.ndarray) -> np.ndarray:
    """By exchange, (n, 4)."""
    distances = log_distances(
        record_mean(symptoms, weeks),
        lambda mean: (mean[:, order] for order in EXCHANGES),
        penalty=PENALTY,
        floor=FLOOR,
    )
    return gain(distances)


def _scales(symptoms: Symptoms, weeks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the usual week and its spread over households, (7, 12) each."""
    mean = record_mean(symptoms, weeks)
    usual = np.median(mean, axis=0)
    return usual, np.maximum(1.4826 * np.median(np.abs(mean - usual), axis=0), 1e-3)


def _moved(symptoms: Symptoms, weeks: np.ndarray) -> np.ndarray:
    """How much more an exchange helps after a cut than before it, (n, c, 4).

    The weeks after are compared with those before, which are drawn towards the usual week.
    """
    usual, spread = _scales(symptoms, weeks)
    splits = Splits.of(symptoms)
    before, after = splits.means(symptoms, weeks)
    known = (splits.before / (splits.before + OWN_WEEKS))[..., None, None]

    def scaled(mean: np.ndarray) -> np.ndarray:
        return np.clip((mean - usual) / spread, -MOST, MOST)

    def gains(mean: np.ndarray, expected: np.ndarray | float) -> np.ndarray:
        at = [
            np.log(((scaled(mean[:, :, order]) - expected) ** 2).mean(axis=(2, 3)) + CHANGE_FLOOR)
            for order in (np.arange(7), *EXCHANGES)
        ]
        return at[0][..., None] - np.stack(at[1:], axis=2)

    rise = gains(after, known * scaled(before)) - gains(before, 0.0).max(axis=2, keepdims=True)
    return splits.masked(rise)


def explain(homes: Homes, row: int, statistic: str) -> Finding | None:
    """Tell which days look like a weekend, and since when.

    None where too few weeks agree.
    """
    symptoms = homes.symptoms
    weeks = homes.shared(week_patterns)
    usual, spread = homes.shared(_usual_week)
    expected = usual / spread**2
    onset = None
    if statistic == "moved weekend":
        rise = np.nan_to_num(homes.shared(_record_moved)[row], nan=-np.inf)
        cut, pair = np.unravel_index(rise.argmax(), rise.shape)
        first = Splits.of(symptoms).cuts[cut]
        early = symptoms.usable[row] & (np.arange(len(symptoms.usable[row])) < first)
        known = early.sum() / (early.sum() + OWN_WEEKS)
        expected = (usual + known * (weeks[row, early].mean(axis=0) - usual)) / spread**2
    else:
        pair = homes.shared(_record_misplaced)[row].argmax()
    # How much nearer each week comes to what is expected by the exchange.
    exchanged = weeks[row][:, EXCHANGES[pair]]
    weekly = ((exchanged - weeks[row]) * expected).sum(axis=(1, 2))
    weekly = np.where(symptoms.usable[row], weekly, np.nan)
    if statistic == "moved weekend":
        step = change_point(weekly, least=2)
        onset = step.position * 7 if step and step.after > step.before else None
    late = weekly[0 if onset is None else onset // 7 :]
    if np.mean(late[np.isfinite(late)] > 0) < AGREE:
        return None
    day = int(pair)
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
        daily=np.repeat(weekly, 7),
    )


def _usual_week(symptoms: Symptoms) -> np.ndarray:
    return np.stack(_scales(symptoms, week_patterns(symptoms)))


def _record_misplaced(symptoms: Symptoms) -> np.ndarray:
    return _misplaced(symptoms, week_patterns(symptoms))


def _record_moved(symptoms: Symptoms) -> np.ndarray:
    return _moved(symptoms, week_patterns(symptoms))


DETECTORS.register(
    Detector(
        name="rhythm",
        help="other days than Saturday and Sunday look like its weekend",
        statistics=(
            Statistic("misplaced weekend", shape=1.5, weeks=QUARTER),
            Statistic("moved weekend", shape=1.1, weeks=QUARTER),
        ),
        measure=measure,
        explain=explain,
    )
)
