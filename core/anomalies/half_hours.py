"""Half-hours of households' weeks, ranked by what similar homes do not explain.

A half-hour is compared with the same half-hour of the week in similar homes, never with others of
its own household: those beside it share readings with it.
"""

from collections.abc import Sequence

import numba
import numpy as np
import pandas as pd

from core.anomalies.distributions import root_distributions, squared_distances
from core.anomalies.evidence import exponential_tail, false_discovery_rate, week_groups
from core.anomalies.find import (
    LEAST_HOUSEHOLDS,
    LEAST_USABLE,
    NOTHING,
    Anomalies,
    few_households,
    left_out_notices,
)
from core.anomalies.options import THRESHOLD
from core.anomalies.pattern import ABOUT
from core.anomalies.statistics import some_homes
from core.anomalies.symptoms import RESOLUTION, SLOTS, summarize, to_half_hours
from core.anomalies.weeks import Weeks
from core.anomalies.words import number_words, slots_text
from core.progress import Progress, part, silent
from core.slots import slot_label

SIMILAR = 20
BINS = 12
SAMPLE = 200_000

# Households whose half-hours are compared at a time.
CHUNK = 64


def rank_half_hours(
    weeks: Weeks,
    *,
    households: Sequence[str] | None = None,
    slots: np.ndarray | None = None,
    window: int = 1,
    threshold: float = THRESHOLD.default,  # type: ignore[assignment]
    progress: Progress = silent,
) -> Anomalies:
    """Rank the half-hours of households' weeks.

    Parameters
    ----------
    weeks : Weeks
        All households: they tell what is usual.
    households : sequence of str, optional
        Rank the half-hours of these alone; of all by default.
    slots : ndarray of int, optional
        Rank these half-hours of the week alone.
    window : int
        Half-hours on either side whose readings count too.
    threshold : float
        Half-hours with a p up to this are called unusual.

    Returns
    -------
    Anomalies
        ``table`` has one row per half-hour, and a column ``slot``; there are no findings.
    """
    symptoms = summarize(to_half_hours(weeks), progress=part(progress, 0.0, 0.3))
    judged = np.flatnonzero(symptoms.n_weeks >= LEAST_USABLE)
    if len(judged) < LEAST_HOUSEHOLDS:
        raise few_households(len(judged))
    left_out = tuple(np.delete(np.array(weeks.households), judged).tolist())
    symptoms = symptoms.take(judged)
    names = np.array(weeks.households)[judged]
    similar = _similar_homes(
        squared_distances(root_distributions(symptoms), some_homes(len(names)))
    )
    counts, totals, sizes = _count_half_hours(symptoms.kwh, symptoms.usable, window)
    excess, gap = _unexplained(counts, totals, sizes, similar, part(progress, 0.3, 0.9))
    beyond = _beyond_similar(excess, similar)
    # A half-hour of a week that is odd throughout is rather a fault than chance.
    score = beyond + beyond.mean(axis=1, keepdims=True)
    p = np.empty(excess.shape)
    groups = week_groups(symptoms.n_weeks)
    for group in range(groups.max() + 1):
        rows = groups == group
        p[rows] = exponential_tail(score[rows].reshape(-1)).reshape(-1, SLOTS)
    keep = np.zeros(excess.shape, bool)
    wanted = (
        np.arange(len(names))
        if households is None
        else np.flatnonzero(np.isin(names, list(households)))
    )
    keep[np.ix_(wanted, np.arange(SLOTS) if slots is None else slots)] = True
    home, slot = np.nonzero(keep)
    p = p[keep]
    used = totals[keep] / np.maximum(sizes[keep], 1)
    table = _table(names, home, slot, p, used, gap[keep], names[similar[home, 0]], threshold)
    progress(1.0, "Done")
    return Anomalies(
        table=table,
        findings={},
        tails=pd.DataFrame({"household": names[home], "slot": slot, "unexplained": -np.log(p)}),
        left_out=left_out,
        notices=left_out_notices(left_out, len(symptoms)),
    )


def _similar_homes(squared: np.ndarray) -> np.ndarray:
    """Return the most similar homes of each, nearest first, (n, k)."""
    homes = some_homes(len(squared))
    squared[homes, np.arange(len(homes))] = np.inf
    count = min(SIMILAR, len(homes) - 1)
    return homes[np.argsort(squared, axis=1, kind="stable")[:, :count]]


def _count_half_hours(
    kwh: np.ndarray, usable: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return readings by bin, (n, 336, bins), their sum in kWh and number, (n, 336) each.

    Bins are equally likely in a sample of all readings. Neighbouring half-hours count in the
    bins, cyclically over the week; sums and numbers are of the half-hour alone.
    """
    sample = kwh[some_homes(len(kwh))].reshape(-1)
    sample = sample[:: max(1, len(sample) // SAMPLE)]
    edges = np.unique(np.quantile(sample[np.isfinite(sample)], np.arange(1, BINS) / BINS))
    own = np.zeros((len(kwh), SLOTS, len(edges) + 1), np.float32)
    totals = np.zeros((len(kwh), SLOTS))
    _count(kwh, usable, edges, own, totals)
    counts = sum(np.roll(own, shift, axis=1) for shift in range(-window, window + 1))
    return np.asarray(counts), totals, own.sum(axis=2)


@numba.njit(nogil=True, cache=True)
def _count(kwh, usable, edges, counts, totals):  # type: ignore[no-untyped-def]
    for i in range(len(kwh)):
        for week in range(kwh.shape[1]):
            if usable[i, week]:
                for slot in range(kwh.shape[2]):
                    value = kwh[i, week, slot]
                    if np.isfinite(value):
                        counts[i, slot, np.searchsorted(edges, value)] += 1
                        totals[i, slot] += value


def _unexplained(
    counts: np.ndarray,
    totals: np.ndarray,
    sizes: np.ndarray,
    similar: np.ndarray,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """Return total variation from similar homes beyond chance, and kWh above theirs, (n, 336).

    Chance is the mean total variation of a sample of the similar homes' own readings.
    """
    n = counts.sum(axis=2, keepdims=True)
    share = counts / np.maximum(n, 1)
    mean = totals / np.maximum(sizes, 1)
    excess, gap = np.empty(mean.shape), np.empty(mean.shape)
    for start in range(0, len(counts), CHUNK):
        rows = slice(start, start + CHUNK)
        mixture = np.zeros_like(share[rows])
        usual = np.zeros_like(mean[rows])
        for each in similar[rows].T:
            mixture += share[each]
            usual += mean[each]
        mixture /= similar.shape[1]
        gap[rows] = mean[rows] - usual / similar.shape[1]
        variation = np.abs(share[rows] - mixture).sum(axis=2) / 2
        spread = mixture * (1 - mixture) / np.maximum(n[rows], 1)
        chance = np.sqrt(2 / np.pi * spread).sum(axis=2) / 2
        excess[rows] = np.where(n[rows, :, 0] > 0, variation - chance, 0.0)
        progress(min(1.0, (start + CHUNK) / len(counts)), "Comparing half-hours")
    return excess, gap


def _beyond_similar(excess: np.ndarray, similar: np.ndarray) -> np.ndarray:
    """Return the excess beyond that of the similar homes themselves, (n, 336).

    Some hours, and some kinds of homes, are harder to predict than others.
    """
    beyond = excess.copy()
    for each in similar.T:
        beyond -= excess[each] / similar.shape[1]
    return beyond


def _table(
    names: np.ndarray,
    home: np.ndarray,
    slot: np.ndarray,
    p: np.ndarray,
    used: np.ndarray,
    gap: np.ndarray,
    nearest: np.ndarray,
    threshold: float,
) -> pd.DataFrame:
    """Return one row per half-hour, the most unusual first."""
    order = np.lexsort((slot, home, p))
    home, slot, p, used, gap = (values[order] for values in (home, slot, p, used, gap))
    usual = used - gap
    ratio = (used + RESOLUTION) / (usual + RESOLUTION)
    labels = np.array([slot_label(each, 30) for each in range(SLOTS)])
    texts = np.array([slots_text(row) for row in np.eye(SLOTS, dtype=bool)])
    unusual = p <= threshold
    direction = np.where(
        ratio > ABOUT[1], "higher", np.where(ratio < ABOUT[0], "lower", "different")
    )
    reasons = np.full(len(p), NOTHING, object)
    for row in np.flatnonzero(unusual):
        how = "about as much as similar homes, but in a different pattern"
        if direction[row] != "different":
            how = (
                f"{'more' if direction[row] == 'higher' else 'less'} than similar homes "
                f"({number_words(used[row])} against {number_words(usual[row])} kWh)"
            )
        reasons[row] = f"{labels[slot[row]]}: uses {how}"
    return pd.DataFrame(
        {
            "household": names[home],
            "slot": slot,
            "rank": np.arange(1, len(p) + 1),
            "score": -np.log(p),
            "p": p,
            "q": false_discovery_rate(p),
            "stability": np.nan,
            "detector": "unexplained",
            "reason": reasons,
            "direction": np.where(unusual, direction, ""),
            "slots": np.where(unusual, texts[slot], ""),
            "since": "",
            "kwh_per_week": np.where(unusual, gap, 0.0),
            "nearest": nearest[order],
        }
    )
