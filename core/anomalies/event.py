"""``event``: a load at one time of one day of every week, unlike the other days."""

import numpy as np

from core.anomalies.detector import DETECTORS, QUARTER, Detector, Statistic
from core.anomalies.homes import Finding, Homes
from core.anomalies.statistics import Splits, largest, present_mean, record_mean, standardize
from core.anomalies.symptoms import CHUNK, HALF_HOURS, SLOTS, Symptoms
from core.anomalies.words import DAY_NAMES, clock_words, number_words

# Lengths of events in half-hours, and the length beyond which more is no more evidence.
LENGTHS = (4, 6, 12)
FULL_LENGTH = 8

# A single reading counts at most this many standard deviations.
MOST = 1.5

# The share of the weeks that must have it.
AGREE = 0.75


def measure(symptoms: Symptoms) -> np.ndarray:
    """Strongest weekly event, in the record and newly."""
    whole, change = _in_chunks(symptoms)
    return np.stack([whole, largest(standardize(change))], axis=1)


def _in_chunks(symptoms: Symptoms) -> tuple[np.ndarray, np.ndarray]:
    whole, change = [], []
    for start in range(0, len(symptoms), CHUNK):
        part = symptoms.take(np.arange(start, min(start + CHUNK, len(symptoms))))
        excess = weekly_excess(part.kwh)
        splits = Splits.of(part)
        before, after = splits.means(part, excess)
        whole.append(best_run(record_mean(part, excess)))
        change.append(splits.masked(best_run(after - before)))
    return np.concatenate(whole), np.concatenate(change)


def weekly_excess(kwh: np.ndarray) -> np.ndarray:
    """Root demand above the third highest of the week's days at that time, (n, weeks, 336)."""
    root = np.sqrt(np.maximum(kwh, 0.0)).reshape(len(kwh), -1, 7, 48)
    scale = np.nanstd(root, axis=(1, 2, 3), keepdims=True)
    usual = np.sort(root, axis=2)[:, :, 4:5]
    excess = (root - usual) / (scale + 0.05)
    return np.clip(np.nan_to_num(excess), -MOST, MOST).reshape(kwh.shape)


def best_run(excess: np.ndarray) -> np.ndarray:
    """Return the largest mean over a run of slots, weighted by the root of its length."""
    best = np.zeros(excess.shape[:-1])
    for length in LENGTHS:
        wrapped = np.concatenate([excess[..., -1:] * 0, excess, excess[..., :length]], axis=-1)
        total = np.cumsum(wrapped, axis=-1)
        means = (total[..., length:] - total[..., :-length])[..., :SLOTS] / length
        best = np.maximum(best, means.max(axis=-1) * np.sqrt(min(length, FULL_LENGTH)))
    return best


def explain(homes: Homes, row: int, statistic: str) -> Finding | None:
    """Tell the day and the hours of the load, its size, and since when.

    None where it was in too few weeks to be called weekly.
    """
    usable = homes.symptoms.usable[row]
    weeks = homes.symptoms.kwh[row]
    excess = weekly_excess(weeks[None])[0]
    best, found = -np.inf, (0, 1, 0)
    cuts = range(1, len(weeks)) if statistic == "new weekly event" else [0]
    for cut in cuts:
        late = usable & (np.arange(len(weeks)) >= cut)
        early = usable & ~late
        if late.sum() < 2 or (cut and early.sum() < 2):
            continue
        mean = excess[late].mean(axis=0) - (excess[early].mean(axis=0) if cut else 0.0)
        weight = np.sqrt(1 / (1 / late.sum() + (1 / early.sum() if cut else 0)))
        for length in LENGTHS:
            runs = np.convolve(np.concatenate([mean, mean[: length - 1]]), np.ones(length))
            runs = runs[length - 1 : length - 1 + SLOTS] * weight / np.sqrt(length)
            if runs.max() > best:
                best, found = runs.max(), (int(runs.argmax()), length, cut)
    first, length, cut = found
    late = usable & (np.arange(len(weeks)) >= cut)
    first, length = _trim(excess[late].mean(axis=0), first, length)
    slots = (first + np.arange(length)) % SLOTS
    if (excess[late][:, slots].mean(axis=1) > 0).mean() < AGREE:
        return None
    onset = cut * 7 + first // HALF_HOURS if cut else None
    week = present_mean(weeks[late], axis=0)
    others = np.array([(slots + HALF_HOURS * day) % SLOTS for day in range(1, 7)])
    used, usual = week[slots], present_mean(week[others], axis=0)
    size = float(np.nansum(used - usual))
    start = first % HALF_HOURS
    reason = (
        f"Uses more every {DAY_NAMES[first // HALF_HOURS]} "
        f"{clock_words(start, start + length)}{homes.since(onset)} "
        f"({number_words(float(used.mean()))} against {number_words(float(usual.mean()))} kWh)"
    )
    mask = np.zeros(SLOTS, bool)
    mask[slots] = True
    usual_day = present_mean(weeks[usable].reshape(-1, HALF_HOURS), axis=0)
    return homes.finding(
        row,
        onset,
        np.nan_to_num(usual_day),
        reason=reason,
        direction="higher",
        slots=mask,
        kwh_per_week=size,
        daily=np.repeat(present_mean(weeks[:, slots], axis=1), 7),
    )


def _trim(excess: np.ndarray, first: int, length: int) -> tuple[int, int]:
    """Grow or shrink a run of the week to where the excess is above half of its height."""
    level = excess[(first + np.arange(length)) % SLOTS].mean() / 2
    while length > 1 and excess[first % SLOTS] <= level:
        first, length = first + 1, length - 1
    while length > 1 and excess[(first + length - 1) % SLOTS] <= level:
        length -= 1
    while length < HALF_HOURS and excess[(first - 1) % SLOTS] > level:
        first, length = first - 1, length + 1
    while length < HALF_HOURS and excess[(first + length) % SLOTS] > level:
        length += 1
    return first % SLOTS, length


DETECTORS.register(
    Detector(
        name="event",
        help="a load at one time of one day of every week",
        statistics=(
            Statistic("weekly event", shape=1.2, weeks=QUARTER),
            Statistic("new weekly event", shape=1.2, weeks=QUARTER),
        ),
        measure=measure,
        explain=explain,
    )
)
