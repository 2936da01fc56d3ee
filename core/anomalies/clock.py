"""``clock``: the mean day looks like that of other homes when it is shifted by some hours."""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes
from core.anomalies.statistics import Splits, largest, record_mean, some_homes, standardize
from core.anomalies.symptoms import HALF_HOURS, SLOTS, Symptoms

# Similar homes that a shifted day is compared with.
SIMILAR = 15

# Shifts from this many half-hours on count as a wrong clock; smaller ones are habits.
LEAST_SHIFT = 5

# A cosine distance that no two real homes come below.
NEAREST = 0.003


def unit_days(mean: np.ndarray) -> np.ndarray:
    """Return mean days as directions: roots of kWh with norm 1, whatever the level."""
    root = np.sqrt(np.maximum(mean, 0.0))
    return root / np.maximum(np.linalg.norm(root, axis=-1, keepdims=True), 1e-6)


def shifts() -> np.ndarray:
    """Return the shifts that count, in half-hours."""
    return np.arange(LEAST_SHIFT, HALF_HOURS - LEAST_SHIFT + 1)


def log_distance(cosine: np.ndarray) -> np.ndarray:
    """Return the log of 1 − cosine, bounded below."""
    return np.log(1 + NEAREST - cosine)


def measure(symptoms: Symptoms) -> np.ndarray:
    """How much a shift helps: against other homes, and after a change against before it."""
    days = unit_days(record_mean(symptoms, symptoms.mean))
    at = shift_distances(days)
    gain = at[:, 0] - at[:, shifts()].min(axis=1)
    return np.stack([gain, largest(standardize(_change(symptoms)))], axis=1)


def shift_distances(days: np.ndarray) -> np.ndarray:
    """Return the log distance of each day, moved later by 0 … 47 half-hours, to similar homes."""
    rows = some_homes(len(days))
    homes, own = days[rows], rows[None, :] == np.arange(len(days))[:, None]
    count = min(SIMILAR, len(homes) - 1)
    at = np.empty((len(days), HALF_HOURS))
    for shift in range(HALF_HOURS):
        cosine = np.where(own, -1.0, np.roll(days, shift, axis=1) @ homes.T)
        nearest = np.partition(cosine, len(homes) - count, axis=1)[:, len(homes) - count :]
        at[:, shift] = log_distance(nearest.mean(axis=1))
    return at


def _change(symptoms: Symptoms) -> np.ndarray:
    """How much better the days after a cut fit those before it when they are shifted, (n, c)."""
    splits = Splits.of(symptoms)
    before, after = (unit_days(mean) for mean in splits.means(symptoms, symptoms.mean))
    best = np.full(before.shape[:2], np.inf)
    for shift in shifts():
        cosine = np.einsum("nch,nch->nc", np.roll(before, shift, axis=2), after)
        best = np.minimum(best, log_distance(cosine))
    unshifted = log_distance(np.einsum("nch,nch->nc", before, after))
    return splits.masked(unshifted - best)


def explain(homes: Homes, row: int, statistic: str) -> Finding:
    """Tell by how many hours the clock is off, and since when."""
    onset = None
    if statistic == "newly shifted":
        shift, daily = _new_shift(homes, row)
        step = change_point(daily)
        onset = step.position if step else None
    else:
        shift = int(shifts()[homes.shared(_record_distances)[row, shifts()].argmin()])
        population = unit_days(homes.profiles).mean(axis=0) ** 2
        daily = _daily_gain(homes.days[row], population, shift)
    # Moved later by ``shift`` it fits: its events are stamped too early, or 24 hours minus
    # that too late.
    later = shift if shift <= HALF_HOURS // 2 else shift - HALF_HOURS
    if onset is not None:
        later = -later  # the days before were moved, not those after
    hours = abs(later) / 2
    side = "behind" if later > 0 else "ahead of"
    amount = f"{hours:g} hour{'s' if hours != 1 else ''}"
    return homes.finding(
        row,
        onset,
        homes.expected(row, onset, EVERY),
        reason=f"Its clock runs {amount} {side} similar homes{homes.since(onset)}",
        direction="different",
        slots=np.ones(SLOTS, bool),
        kwh_per_week=0.0,
        daily=daily,
    )


def _record_distances(symptoms: Symptoms) -> np.ndarray:
    return shift_distances(unit_days(record_mean(symptoms, symptoms.mean)))


def _new_shift(homes: Homes, row: int) -> tuple[int, np.ndarray]:
    """Return the shift from before to after, and a daily series that steps at the onset."""
    best, shift, reference = -np.inf, 0, np.zeros(HALF_HOURS)
    for cut in range(14, homes.n_days - 13, 7):
        before, after = homes.mean_day(row, 0, cut), homes.mean_day(row, cut, homes.n_days)
        gains = shift_gains(before, after)
        candidate = int(shifts()[gains[shifts()].argmax()])
        if gains[candidate] > best:
            best, shift, reference = gains[candidate], candidate, before
    # Days after the onset come nearer to those before when they are moved back.
    return shift, _daily_gain(homes.days[row], reference, HALF_HOURS - shift)


def shift_gains(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return how much nearer a day comes when the one before is moved later, by shift, (48,)."""
    first, second = unit_days(before), unit_days(after)
    at = np.array([log_distance(np.roll(first, shift) @ second) for shift in range(HALF_HOURS)])
    return at[0] - at


def _daily_gain(days: np.ndarray, reference: np.ndarray, shift: int) -> np.ndarray:
    """Return, day by day, how much nearer to the reference it comes when moved later."""
    unit = unit_days(np.nan_to_num(days))
    kernel = unit_days(reference)
    gain = np.roll(unit, shift, axis=1) @ kernel - unit @ kernel
    return np.where(np.isfinite(days).mean(axis=1) > 0.5, gain, np.nan)


DETECTORS.register(
    Detector(
        name="clock",
        help="its day looks like other homes' days when shifted by some hours",
        statistics=(Statistic("shifted"), Statistic("newly shifted", shape=1.2)),
        measure=measure,
        explain=explain,
    )
)
