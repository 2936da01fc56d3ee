"""All households ranked by how unusual they are, with the reason for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from core.anomalies.change_point import change_point, permuted_p
from core.anomalies.detector import Detector
from core.anomalies.detectors import DETECTORS
from core.anomalies.evidence import combined_p, false_discovery_rate, tail_values
from core.anomalies.homes import Finding, Homes
from core.anomalies.options import RESAMPLES, THRESHOLD, TOP
from core.anomalies.pattern import explain_pattern
from core.anomalies.statistics import present_mean
from core.anomalies.symptoms import RESOLUTION, Symptoms, summarize, to_half_hours
from core.anomalies.weeks import Weeks, read_weeks
from core.anomalies.words import slots_text
from core.errors import InputError
from core.periods import WHOLE_RECORD, Period
from core.progress import Progress, part, silent
from core.readings.dataset import Dataset
from core.slots import parse_slots
from core.summary import Summarized

NOTHING = "Nothing unusual"

LEAST_HOUSEHOLDS = 20
# Rows that a notebook shows.
_FIRST_ROWS = 10
LEAST_USABLE = 2

# A change of level is dated when permuted weeks reach it this rarely and it is this large.
CHANGE_P, CHANGE_SIZE = 0.01, np.log(1.25)


@dataclass(frozen=True, eq=False, repr=False)
class Anomalies(Summarized):
    """What is unusual about each household.

    Attributes
    ----------
    table : DataFrame
        One row per household, the most unusual first: ``household``, ``rank``, ``score`` (−log p),
        ``p``, ``q``, ``stability``, ``detector``, ``reason``, ``direction``, ``slots``, ``since``,
        ``kwh_per_week``, ``nearest``.
    findings : mapping of str to Finding
        The evidence for each household that is called unusual, by its id.
    tails : DataFrame
        −log p of every statistic of every detector, by household.
    left_out : tuple of str
        Households with too few weeks to judge.
    notices : tuple of str
    dataset : Dataset, optional
        Where the readings are, to draw them; not known of weeks that were read before.
    period : Period
        The days that counted.
    """

    table: pd.DataFrame
    findings: Mapping[str, Finding]
    tails: pd.DataFrame
    left_out: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    dataset: Dataset | None = None
    period: Period = WHOLE_RECORD

    def expected_false(self, top: int) -> float:
        """Return how many of the first ``top`` households to expect there by chance."""
        first = self.table.head(top)
        return float(first["q"].iloc[-1] * len(first)) if len(first) else 0.0

    def plot(self, household: str, *, interactive: bool = False) -> Any:
        """Draw why a household is unusual: its mean day, its days, its calendar.

        Parameters
        ----------
        household : str
            Of one that is not unusual, the calendar alone is drawn.
        interactive : bool
            Whether to return a HoloViews object to zoom and hover over, rather than a Matplotlib
            figure.
        """
        from core import plot_anomaly

        return plot_anomaly(self, household, interactive=interactive)

    def summary(self) -> dict[str, Any]:
        """Return how many there are, and the first of them."""
        first = self.table.head(3)
        told = zip(first["household"], first["reason"], strict=True)
        return {
            "judged": f"{len(self.table):,}",
            "unusual": f"{int((self.table['reason'] != NOTHING).sum()):,}",
            **{f"{rank}. {home}": reason for rank, (home, reason) in enumerate(told, start=1)},
            "left out": len(self.left_out),
        }

    def _repr_html_(self) -> str:
        columns = ["rank", "household", "reason", "since", "kwh_per_week", "q"]
        unusual = int((self.table["reason"] != NOTHING).sum())
        first = self.table.filter(columns).head(_FIRST_ROWS).to_html(index=False)
        return f"<p>{unusual:,} of {len(self.table):,} are unusual; the first are</p>{first}"


class Selection(Protocol):
    """Which readings count; a ``RunConfig`` is one."""

    @property
    def unit(self) -> str:
        """What is ranked: households, or half-hours for ``slots`` and ``household-slots``."""

    @property
    def household(self) -> str | None:
        """The household whose half-hours are ranked, None for all."""

    @property
    def households(self) -> Sequence[str] | None:
        """Household ids, None for all."""

    @property
    def slots(self) -> str | None:
        """The half-hours that are ranked, None for all."""

    @property
    def window(self) -> int | None:
        """Half-hours on either side whose readings count for a half-hour."""

    @property
    def period(self) -> Period:
        """The days that count."""


def find_anomalies(
    dataset: Dataset,
    config: Selection | None = None,
    *,
    detectors: Sequence[str] | None = None,
    threshold: float = THRESHOLD.default,  # type: ignore[assignment]
    top: int = TOP.default,  # type: ignore[assignment]
    resamples: int = RESAMPLES.default,  # type: ignore[assignment]
    seed: int = 1,
    progress: Progress = silent,
) -> Anomalies:
    """Find the unusual households of a dataset.

    Parameters
    ----------
    dataset : Dataset
        The readings.
    config : RunConfig, optional
        Its households are judged among themselves, in its period; by default all households, over
        the whole record. For the units ``slots`` and ``household-slots`` the table has one row per
        half-hour, with a column ``slot``, and neither findings nor stability.
    detectors : sequence of str, optional
        The detectors that count; all by default.
    threshold : float
        Households with a p up to this are called unusual.
    top : int
        Stability is the share of resamples in which a household stays among this many first.
    resamples : int
        Resamples of the weeks for the stability; 0 leaves it out.
    seed : int
        Same seed, same stability.
    progress : Progress
        Told how far the work is; may raise to stop it.
    """
    if config is not None and config.unit in ("slots", "household-slots"):
        found = _find_half_hours(dataset, config, threshold, progress)
        return replace(found, dataset=dataset, period=config.period)
    period = config.period if config else WHOLE_RECORD
    weeks = read_weeks(
        dataset,
        config.households if config else None,
        period=period,
        progress=part(progress, 0.0, 0.2),
    )
    found = rank_households(
        weeks,
        detectors=detectors,
        threshold=threshold,
        top=top,
        resamples=resamples,
        seed=seed,
        progress=part(progress, 0.2, 1.0),
    )
    return replace(found, dataset=dataset, period=period)


def _find_half_hours(
    dataset: Dataset, config: Selection, threshold: float, progress: Progress
) -> Anomalies:
    """Rank half-hours: those of one household among all, or those of the chosen households."""
    from core.anomalies.half_hours import rank_half_hours

    if dataset.interval_minutes != 30 and config.slots is not None:
        raise InputError("half-hours can be chosen where readings are half-hourly; leave slots out")
    weeks = read_weeks(
        dataset, config.households, period=config.period, progress=part(progress, 0.0, 0.3)
    )
    return rank_half_hours(
        weeks,
        households=None if config.household is None else [config.household],
        slots=None if config.slots is None else parse_slots(config.slots, 30),
        window=config.window or 0,
        threshold=threshold,
        progress=part(progress, 0.3, 1.0),
    )


def rank_households(
    weeks: Weeks,
    *,
    detectors: Sequence[str] | None = None,
    threshold: float = THRESHOLD.default,  # type: ignore[assignment]
    top: int = TOP.default,  # type: ignore[assignment]
    resamples: int = RESAMPLES.default,  # type: ignore[assignment]
    seed: int = 1,
    progress: Progress = silent,
) -> Anomalies:
    """Rank households by their weeks; see :func:`find_anomalies`."""
    chosen = [DETECTORS[name] for name in detectors or DETECTORS]
    symptoms = summarize(to_half_hours(weeks), progress=part(progress, 0.0, 0.3))
    judged = np.flatnonzero(symptoms.n_weeks >= LEAST_USABLE)
    left_out = tuple(np.delete(np.array(weeks.households), judged).tolist())
    if len(judged) < LEAST_HOUSEHOLDS:
        raise few_households(len(judged))
    symptoms = symptoms.take(judged)
    names = np.array(weeks.households)[judged]
    tails = measure_tails(symptoms, chosen, progress=part(progress, 0.3, 0.5))
    p = combined_p(tails, symptoms.n_weeks)
    score = -np.log(p)
    rates = false_discovery_rate(p)
    stability = _stability(symptoms, chosen, top, resamples, seed, part(progress, 0.5, 0.9))
    labels = [(each.name, s.name) for each in chosen for s in each.statistics]
    loudest = speaking_statistics(tails, labels)
    homes = Homes(symptoms, weeks.monday)
    order = np.argsort(-score, kind="stable")
    unusual = order[p[order] <= threshold]
    findings = {}
    for done, row in enumerate(unusual, start=1):
        loudest[row], findings[str(names[row])] = _explain(
            homes, int(row), tails[row], int(loudest[row]), labels
        )
        progress(0.9 + 0.1 * done / len(unusual), "Explaining")
    since = level_changes(symptoms, weeks.monday)
    rows = []
    for rank, row in enumerate(order, start=1):
        finding = findings.get(str(names[row]))
        date = since[row] if finding is None or np.isnat(finding.since) else finding.since
        rows.append(
            {
                "household": names[row],
                "rank": rank,
                "score": score[row],
                "p": p[row],
                "q": rates[row],
                "stability": stability[row],
                "detector": labels[loudest[row]][0],
                "reason": finding.reason if finding else NOTHING,
                "direction": finding.direction if finding else "",
                "slots": slots_text(finding.slots) if finding else "",
                "since": "" if np.isnat(date) else str(date),
                "kwh_per_week": finding.kwh_per_week if finding else 0.0,
                "nearest": names[homes.nearest[row]],
            }
        )
    progress(1.0, "Done")
    table = pd.DataFrame(rows)
    return Anomalies(
        table=table,
        findings=findings,
        tails=pd.DataFrame(tails, index=names, columns=[statistic for _, statistic in labels]),
        left_out=left_out,
        notices=left_out_notices(left_out, len(symptoms)),
    )


# Which detector explains when several are loud: a dead meter also changed, a week out of rhythm
# has days with more load than others. Its tail must reach a share of the loudest one, and a
# least value.
PRIORITY = {
    "meter": (0.3, 7.0),
    "random": (0.5, 4.5),
    "rhythm": (0.85, 4.5),
    "event": (0.65, 4.5),
    "clock": (0.85, 4.5),
    "hours": (0.7, 4.5),
    "level": (0.85, 4.5),
    "changed": (0.7, 4.5),
}


def speaking_statistics(tails: np.ndarray, labels: Sequence[tuple[str, str]]) -> np.ndarray:
    """Return the statistic that explains each household, (n,).

    That is the loudest one of the first detector of ``PRIORITY`` that is loud enough.
    """
    detectors = np.array([detector for detector, _ in labels])
    top = tails.max(axis=1)
    chosen = tails.argmax(axis=1)
    open_rows = np.ones(len(tails), bool)
    for name, (share, least) in PRIORITY.items():
        own = np.where(detectors == name, tails, -np.inf)
        loud = (own.max(axis=1) >= np.maximum(share * top, least)) & open_rows
        chosen[loud] = own[loud].argmax(axis=1)
        open_rows &= ~loud
    return chosen


def _explain(
    homes: Homes,
    row: int,
    tails: np.ndarray,
    first: int,
    labels: Sequence[tuple[str, str]],
) -> tuple[int, Finding]:
    """Return what is unusual, told by ``first`` or the loudest statistic that can tell it."""
    for index in (first, *np.argsort(-tails, kind="stable")):
        detector, statistic = labels[index]
        finding = DETECTORS[detector].explain(homes, row, statistic)
        if finding is not None:
            return int(index), finding
    return first, explain_pattern(homes, row, labels[first][1])


def measure_tails(
    symptoms: Symptoms, chosen: Sequence[Detector], *, progress: Progress = silent
) -> np.ndarray:
    """Return the tail values of all statistics of the chosen detectors, (n, k)."""
    tails = []
    for done, detector in enumerate(chosen, start=1):
        values = np.nan_to_num(detector.measure(symptoms))
        tails.append(tail_values(values, symptoms.n_weeks, detector.statistics))
        progress(done / len(chosen), "Measuring households")
    return np.concatenate(tails, axis=1)


def _stability(
    symptoms: Symptoms,
    chosen: Sequence[Detector],
    top: int,
    resamples: int,
    seed: int,
    progress: Progress,
) -> np.ndarray:
    """Return the share of random parts of the weeks in which a household is among the first."""
    if not resamples:
        return np.full(len(symptoms), np.nan)
    rng = np.random.default_rng(seed)
    first = np.zeros(len(symptoms))
    for done in range(resamples):
        # Two of three weeks: enough for a change to be seen, few enough to differ.
        keep = rng.choice([True, False], p=[2 / 3, 1 / 3], size=symptoms.usable.shape[1])
        some = symptoms.without_weeks(keep)
        p = combined_p(measure_tails(some, chosen), some.n_weeks)
        first[np.argsort(p, kind="stable")[:top]] += 1
        progress((done + 1) / resamples, "Resampling weeks")
    return first / resamples


def level_changes(symptoms: Symptoms, monday: np.datetime64) -> np.ndarray:
    """Return the Monday from which on each household uses clearly less or more, or NaT, (n,)."""
    level = np.log(symptoms.mean.mean(axis=2) + RESOLUTION)
    level = np.where(symptoms.usable, level, np.nan)
    level = level - present_mean(level, axis=1)[:, None]
    empty = ~np.isfinite(level).any(axis=0)
    level = level - np.nanmedian(np.where(empty, 0.0, level), axis=0)
    p = permuted_p(level)
    since = np.full(len(level), np.datetime64("NaT", "D"))
    for row in np.flatnonzero(p <= CHANGE_P):
        step = change_point(level[row], least=2)
        if step is not None and abs(step.after - step.before) >= CHANGE_SIZE:
            since[row] = monday + np.timedelta64(7 * step.position, "D")
    return since


def few_households(count: int) -> InputError:
    """Return the error for a dataset that is too small."""
    have = "household has" if count == 1 else "households have"
    return InputError(
        f"{count} {have} {LEAST_USABLE} weeks or more; anomalies need at least "
        f"{LEAST_HOUSEHOLDS} to compare with each other"
    )


def left_out_notices(left_out: tuple[str, ...], judged: int) -> tuple[str, ...]:
    """Say who is left out, and that few households tell little."""
    notices = []
    if left_out:
        some = ", ".join(left_out[:3]) + (" and others" if len(left_out) > 3 else "")
        notices.append(
            f"{len(left_out)} households have fewer than {LEAST_USABLE} weeks of readings and are "
            f"left out: {some}"
        )
    if judged < 100:
        notices.append(f"{judged} households are few to tell what is usual; take p and q as rough")
    return tuple(notices)
