"""``meter``: the meter reads 0, or the same value over and over."""

import numpy as np

from core.anomalies.detector import DETECTORS, Detector, Statistic
from core.anomalies.homes import EVERY, Finding, Homes, daily_mean
from core.anomalies.statistics import Splits, largest, record_mean
from core.anomalies.symptoms import HALF_HOURS, SLOTS, Symptoms
from core.anomalies.words import number_words

# Shares below this do not count: an idle home reads 0 now and then, or the same for some hours.
SHARE = 0.05


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
    first, _, lasts = longest_run(flat, zero=zero)
    began = first > np.isfinite(flat).argmax() and lasts
    onset = first // HALF_HOURS if began else None
    expected = homes.expected(row, onset, EVERY)
    value = "0" if zero else f"the same value, {number_words(float(flat[first]))} kWh,"
    if began:
        time = f" {first % HALF_HOURS // 2:02d}:{first % 2 * 30:02d}"
        reason = f"Reads {value}{homes.since(onset)}{time}"
    elif lasts:
        reason = f"Reads {value} all the time"
    else:
        weekly = homes.symptoms.zero[row] if zero else homes.symptoms.constant[row]
        share = f"{weekly[homes.symptoms.usable[row]].mean():.0%}".replace("%", " %")
        value = "0 for" if zero else "the same value for hours on end,"
        reason = f"Reads {value} {share} of the time"
    after = homes.mean_day(row, onset or 0, homes.n_days)
    return homes.finding(
        row,
        onset,
        expected,
        reason=reason,
        direction="lower" if zero else "different",
        slots=np.ones(SLOTS, bool),
        kwh_per_week=float(7 * (after - expected).sum()),
        daily=daily_mean(homes.days[row]),
    )


def longest_run(flat: np.ndarray, *, zero: bool) -> tuple[int, int, bool]:
    """Return the first and last reading of the longest run of equal values, and if it lasts.

    Gaps do not end a run. It lasts when it goes on to the end of the record.
    """
    present = np.flatnonzero(np.isfinite(flat))
    y = flat[present]
    ends = np.concatenate([np.flatnonzero(np.diff(y) != 0), [len(y) - 1]])
    starts = np.concatenate([[0], ends[:-1] + 1])
    length = np.where((y[starts] == 0) == zero, ends - starts, -1)
    best = int(length.argmax())
    first, last = int(present[starts[best]]), int(present[ends[best]])
    day = 2 * HALF_HOURS
    return first, last, bool(ends[best] == len(y) - 1 and length[best] >= day)


DETECTORS.register(
    Detector(
        name="meter",
        help="the meter reads 0, or repeats one value",
        statistics=(
            Statistic("zeros", least=0.3),
            Statistic("held", least=0.3),
            Statistic("new zeros", least=0.3),
            Statistic("newly held", least=0.3),
        ),
        measure=measure,
        explain=explain,
    )
)
