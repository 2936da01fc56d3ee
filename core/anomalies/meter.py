"""``meter``: the meter reads 0, or the same value over and over."""

import numpy as np

from core.anomalies.change_point import change_point, change_span
from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.homes import CLEAR_STEP, EVERY, Finding, Homes, daily_mean
from core.anomalies.statistics import Splits, largest, record_mean
from core.anomalies.symptoms import HALF_HOURS, LEAST_RUN, SLOTS, Symptoms
from core.anomalies.words import date_words, number_words

# Shares below this do not count: an idle home reads 0 now and then, or the same for some hours.
SHARE = 0.05

# A meter died when it read less than a fifth zeros in the weeks before it read nothing else.
RARE, EARLIER = 0.2, 21

# It was over when an end of it explains this much more of the days' variance.
CLEARER = 0.15

# A share of the readings that is as good as all.
ALWAYS = 0.97


def measure(symptoms: Symptoms) -> np.ndarray:
    """Log share of zeros and of held values, in the record and after a change against before it."""
    splits = Splits.of(symptoms)
    columns = [
        np.log(record_mean(symptoms, weekly) + SHARE)
        for weekly in (symptoms.zero, symptoms.constant)
    ]
    for weekly in (symptoms.zero, symptoms.constant):
        before, after = splits.means(symptoms, weekly)
        columns.append(largest(splits.masked(np.log((after + SHARE) / (before + SHARE)))))
    return np.stack(columns, axis=1)


def explain(homes: Homes, row: int, statistic: str) -> Finding:
    """Tell since when the meter reads 0 or one value, or how often."""
    zero = "zero" in statistic
    flat = homes.days[row].reshape(-1)
    affected = _affected(flat, zero=zero)
    daily = daily_mean(affected.reshape(-1, HALF_HOURS))
    first, lasts = last_run(flat, zero=zero)
    begins = int(np.isfinite(flat).argmax())
    onset, stop = _when(daily)
    share = np.nanmean(daily[onset or 0 : stop])
    earlier = daily[max(0, first // HALF_HOURS - EARLIER) : first // HALF_HOURS]
    value = "0" if zero else f"the same value, {number_words(float(flat[first]))} kWh,"
    if lasts and first <= begins:
        onset = stop = None
        reason = f"Reads {value} all the time"
    elif lasts and (np.nanmean(earlier) if np.isfinite(earlier).any() else 0.0) < RARE:
        onset, stop = first // HALF_HOURS, None
        time = f" {first % HALF_HOURS // 2:02d}:{first % 2 * 30:02d}"
        reason = f"Reads {value}{homes.since(onset)}{time}"
    else:
        value = "0" if zero else "the same value for hours on end"
        reason = f"{'Reads' if stop is None else 'Read'} {value}"
        if share <= ALWAYS:
            often = f"{share:.0%} of the time".replace("%", " %")
            reason += f" for {often}" if zero else f", {often}"
        if onset == 0 and stop is not None:
            onset = None
            reason += f" until {date_words(homes.date(stop - 1), year=homes.n_days > 366)}"
        else:
            reason += homes.since(onset, stop)
    expected = homes.expected(row, onset, EVERY, stop)
    if onset is None and stop is not None:
        expected = homes.mean_day(row, stop, homes.n_days)
    used = homes.mean_day(row, onset or 0, homes.n_days if stop is None else stop)
    size = float(7 * (used - expected).sum())
    return homes.finding(
        row,
        onset,
        expected,
        stop,
        reason=reason,
        direction="lower" if zero and size < 0 else "different",
        slots=np.ones(SLOTS, bool),
        kwh_per_week=size,
        daily=daily_mean(homes.days[row]),
    )


def _when(share: np.ndarray) -> tuple[int | None, int | None]:
    """Return the days from which and before which most of it happens, None for the record's ends.

    The first one is 0 where it is the case from the start until some day.
    """
    step, span = change_point(share), change_span(share)
    explained = step.explained if step else 0.0
    if span and span.explained > max(explained + CLEARER, CLEAR_STEP):
        return span.first, span.stop
    if step is None or explained < CLEAR_STEP:
        return None, None
    if step.after > step.before:
        return step.position, None
    return 0, step.position


def _affected(flat: np.ndarray, *, zero: bool) -> np.ndarray:
    """Mark readings that are 0, or in a run of equal ones; NaN where there is none."""
    if zero:
        hit = flat == 0
    else:
        same = np.concatenate([[False], (np.diff(flat) == 0) & (flat[1:] > 0), [False]])
        edges = np.flatnonzero(np.diff(same.astype(int))).reshape(-1, 2)
        hit = np.zeros(len(flat), bool)
        for start, stop in edges:
            hit[start : stop + 1] = stop - start + 1 >= LEAST_RUN
    return np.where(np.isfinite(flat), hit, np.nan)


def last_run(flat: np.ndarray, *, zero: bool) -> tuple[int, bool]:
    """Return the first reading of the last run of equal values, and if it is the fault's.

    Gaps do not end a run. It is when it has the kind of value asked for and two days or more.
    """
    present = np.flatnonzero(np.isfinite(flat))
    y = flat[present]
    changes = np.flatnonzero(np.diff(y) != 0)
    start = int(changes[-1]) + 1 if len(changes) else 0
    return int(present[start]), bool((y[-1] == 0) == zero and len(y) - start > 2 * HALF_HOURS)


DETECTORS.register(
    Detector(
        name="meter",
        help="the meter reads 0, or repeats one value",
        statistics=(
            Statistic("zeros", least=0.2),
            Statistic("held", least=0.3),
            Statistic("new zeros", least=0.2),
            Statistic("newly held", least=0.3),
        ),
        measure=measure,
        explain=explain,
    )
)
