"""``clock``: the mean day looks like that of other homes when it is shifted by some hours."""

import numpy as np

from core.anomalies.change_point import change_point
from core.anomalies.detector import DETECTORS, QUARTER, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes
from core.anomalies.rearranged import gain, log_distances
from core.anomalies.statistics import Splits, largest, record_mean, standardize
from core.anomalies.symptoms import HALF_HOURS, SLOTS, Symptoms

# Shifts from this many half-hours on count as a wrong clock; smaller ones are habits.
LEAST_SHIFT = 5

# See ``log_distances``.
PENALTY, FLOOR = 0.5, 5.0

# A shifted day fits when it is no further from other homes than this share of them.
FITS = 0.9

# Hours up to which a shift may be a habit, and from which on a life at night.
HABIT, NIGHT = 4, 8

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
    newly = largest(standardize(_change(symptoms)))
    return np.stack([gain(shift_distances(symptoms)).max(axis=1), newly], axis=1)


def shift_distances(symptoms: Symptoms) -> np.ndarray:
    """Return how far each mean day is from other homes', as it is and moved later, (n, 1 + s)."""
    low = record_mean(symptoms, symptoms.low)
    low = np.repeat(low - low.mean(axis=1, keepdims=True), 2, axis=1)
    days = np.stack([unit_days(record_mean(symptoms, symptoms.mean)), low], axis=1)
    return log_distances(
        days,
        lambda day: (np.roll(day, shift, axis=2) for shift in shifts()),
        penalty=PENALTY,
        floor=FLOOR,
    )


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


def explain(homes: Homes, row: int, statistic: str) -> Finding | None:
    """Tell by how many hours the clock is off, and since when.

    None where the day does not fit when it is shifted either: that is no wrong clock.
    """
    onset = None
    if statistic == "newly shifted":
        shift, daily, fits = _new_shift(homes, row)
        step = change_point(daily)
        onset = step.position if step else None
    else:
        distances = homes.shared(shift_distances)
        best = distances[row, 1:].argmin()
        shift = int(shifts()[best])
        fits = distances[row, 1 + best] <= np.quantile(distances[:, 0], FITS)
        population = unit_days(homes.profiles).mean(axis=0) ** 2
        daily = _daily_gain(homes.days[row], population, shift)
    if not fits:
        return None
    # Moved later by ``shift`` it fits: its events are stamped too early, or 24 hours minus
    # that too late.
    later = shift if shift <= HALF_HOURS // 2 else shift - HALF_HOURS
    if onset is not None:
        later = -later  # the days before were moved, not those after
    hours = abs(later) / 2
    side = "behind" if later > 0 else "ahead of"
    amount = f"{hours:g} hour{'s' if hours != 1 else ''}"
    habit = ""
    if hours <= HABIT:
        habit = f" (or its day starts {'early' if later > 0 else 'late'})"
    elif hours >= NIGHT:
        habit = " (or it is used at night)"
    return homes.finding(
        row,
        onset,
        homes.expected(row, onset, EVERY),
        reason=f"Its clock runs {amount} {side} similar homes{homes.since(onset)}{habit}",
        direction="different",
        slots=np.ones(SLOTS, bool),
        kwh_per_week=0.0,
        daily=daily,
    )


def _new_shift(homes: Homes, row: int) -> tuple[int, np.ndarray, bool]:
    """Return the shift from before to after, a daily series that steps then, and if it fits."""
    symptoms = homes.symptoms
    weeks = np.arange(symptoms.usable.shape[1])
    best, shift, cut, reference = -np.inf, 0, 0, np.zeros(HALF_HOURS)
    for week in weeks[2:-1]:
        before = homes.mean_day(row, 0, 7 * week)
        gains = day_gains(before, homes.mean_day(row, 7 * week, homes.n_days))
        candidate = int(shifts()[gains[shifts()].argmax()])
        if gains[candidate] > best:
            best, shift, cut, reference = gains[candidate], candidate, week, before
    early, late = (
        unit_days(record_mean(symptoms.without_weeks(part), symptoms.mean))
        for part in (weeks < cut, weeks >= cut)
    )
    usual = log_distance((early * late).sum(axis=1))
    moved = log_distance(np.roll(early[row], shift) @ late[row])
    # Days after the onset come nearer to those before when they are moved back.
    daily = _daily_gain(homes.days[row], reference, HALF_HOURS - shift)
    return shift, daily, bool(moved <= np.quantile(usual, FITS))


def day_gains(before: np.ndarray, after: np.ndarray) -> np.ndarray:
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
        statistics=(
            Statistic("shifted", shape=1.6),
            Statistic("newly shifted", shape=1.4, weeks=QUARTER),
        ),
        measure=measure,
        explain=explain,
    )
)
