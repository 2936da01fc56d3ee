"""The segments of a dataset: found, named, kept in the store."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.progress import Progress, part, silent
from core.readings import Dataset
from core.runs import RunConfig, Store
from core.runs.store import StageResult, make_digest
from core.segments.clustering import LEAST_AGREEMENT, Clustering, cluster_weeks
from core.segments.naming import BETWEEN, name_segments
from core.segments.options import DETAIL
from core.segments.week_points import read_week_points
from core.summary import Summarized
from core.vectors.mean_demand import sum_demand

SEGMENTS_VERSION = 2
STAGE = "segments"

_OWN_FIELDS = ("bins", "households", "slots", "first_day", "last_day", "months", "seed")


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Summarized):
    """Which segment every household is in.

    Attributes
    ----------
    table : DataFrame
        One row per household: ``household``, ``segment`` (its name), ``number`` (from 1, the
        largest first; 0 between segments), ``stays`` (share of halves of the weeks in which it is
        in that segment), ``kwh_per_day``, ``part`` (the name of its part of the segment).
    names : tuple of str
        By number; no name occurs twice.
    parts : mapping of str to tuple of str
        The names of each segment's parts, on which the halves of the weeks agree as well; a
        segment without such parts has itself. No name occurs twice.
    agreement : mapping of int to float
        For each number of segments that was tried, the adjusted Rand index between two halves of
        the weeks, over all households.
    found : int
        The number of segments that the weeks agree on; ``detail`` may have asked for another.
    left_out : tuple of str
        Households with too few weeks.
    notices : tuple of str
    """

    table: pd.DataFrame
    names: tuple[str, ...]
    agreement: Mapping[int, float]
    found: int
    parts: Mapping[str, tuple[str, ...]]
    left_out: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return the households of every segment, by its name."""
        return {
            name: tuple(self.table["household"][self.table["segment"] == name])
            for name in self.names
        }


def find_segments(
    dataset: Dataset,
    config: RunConfig | None = None,
    *,
    detail: int = DETAIL.default,  # type: ignore[assignment]
    store: Store | None = None,
    progress: Progress = silent,
) -> Segments:
    """Find kinds of households, or fetch from the store what was found before.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig, optional
        Its households, slots, period, bins and seed count; all, by default.
    detail : int
        So many segments more, or fewer, than the weeks agree on.
    store : Store, optional
    progress : Progress
    """
    config = config or RunConfig()
    detail = int(DETAIL.validate(detail))
    chosen = {name: value for name, value in config.to_json().items() if name in _OWN_FIELDS}
    digest = make_digest(
        {"version": SEGMENTS_VERSION, "dataset": dataset.digest, "detail": detail, **chosen}
    )
    waiting = (
        nullcontext()
        if store is None
        else store.computing(STAGE, digest, waiting=lambda: progress(0.0, "Waiting"))
    )
    with waiting:
        entry = None if store is None else store.get(STAGE, digest)
        if entry is not None:
            return _unpack(entry)
        segments = _find(dataset, config, detail, progress)
        if store is not None:
            with suppress(OSError):  # where the disk does not take it, it is found again next time
                store.put(STAGE, digest, _pack(segments))
    return segments


def _find(dataset: Dataset, config: RunConfig, detail: int, progress: Progress) -> Segments:
    points = read_week_points(dataset, config, progress=part(progress, 0.0, 0.3))
    clustering = cluster_weeks(
        points, detail=detail, seed=config.seed, progress=part(progress, 0.3, 0.9)
    )
    week = _mean_weeks(dataset, config, points.households, part(progress, 0.9, 1.0))
    names = name_segments(week, clustering.label)
    numbers, first = np.unique(clustering.part, return_index=True)
    of_part = clustering.label[first[numbers >= 0]].tolist()
    whole = {each: names[own] for each, own in enumerate(of_part) if of_part.count(own) == 1}
    part_names = name_segments(week, clustering.part, named=whole, taken=names)
    table = pd.DataFrame(
        {
            "household": points.households,
            "segment": [names[each] if each >= 0 else BETWEEN for each in clustering.label],
            "number": clustering.label + 1,
            "stays": clustering.stays,
            "kwh_per_day": 24 * np.nanmean(week, axis=(1, 2)),
            "part": [part_names[each] if each >= 0 else BETWEEN for each in clustering.part],
        }
    )
    return Segments(
        table=table,
        names=tuple(names),
        agreement=clustering.agreement,
        found=clustering.found,
        parts={
            name: tuple(part_names[each] for each, own in enumerate(of_part) if own == number)
            for number, name in enumerate(names)
        },
        left_out=points.left_out,
        notices=_notices(clustering, points.left_out),
    )


def _mean_weeks(
    dataset: Dataset, config: RunConfig, households: tuple[str, ...], progress: Progress
) -> np.ndarray:
    """Mean kWh an hour by day of the week and hour, (n, 7, 24); gaps take the day's mean."""
    demand = sum_demand(dataset, period=config.period, progress=progress)
    codes = pd.Index(dataset.households["household"]).get_indexer(list(households))
    hours = (len(codes), 7 * 24, -1)
    if demand.kwh.shape[1] < 7 * 24:
        per_day = demand.kwh.shape[1] // 7
        hours = (len(codes), 7 * per_day, 1)
    kwh, readings = (
        each[codes].reshape(hours).sum(axis=2) for each in (demand.kwh, demand.readings)
    )
    mean = np.divide(kwh, readings, out=np.full(kwh.shape, np.nan), where=readings > 0)
    mean = mean * 60 / dataset.interval_minutes
    mean = np.where(np.isnan(mean), np.nanmean(mean, axis=1, keepdims=True), mean)
    week = mean.reshape(len(codes), 7, -1)
    return np.repeat(week, 24 // week.shape[2], axis=2)


def _notices(clustering: Clustering, left_out: tuple[str, ...]) -> tuple[str, ...]:
    notices = []
    best = clustering.agreement[clustering.found]
    if best < LEAST_AGREEMENT:
        notices.append(
            f"no number of segments is stable: two halves of the weeks agree at best to {best:.2f} "
            f"(adjusted Rand index, {clustering.found} segments); take them as a rough picture"
        )
    if left_out:
        some = ", ".join(left_out[:3]) + (" and others" if len(left_out) > 3 else "")
        homes = "household has" if len(left_out) == 1 else "households have"
        notices.append(f"{len(left_out)} {homes} too few whole weeks: {some}")
    return tuple(notices)


def _pack(segments: Segments) -> StageResult:
    facts: dict[str, Any] = {
        "names": segments.names,
        "agreement": {str(count): value for count, value in segments.agreement.items()},
        "found": segments.found,
        "parts": segments.parts,
        "left_out": segments.left_out,
        "notices": segments.notices,
    }
    return StageResult(tables={"table": segments.table}, facts=facts)


def _unpack(entry: StageResult) -> Segments:
    facts = entry.facts
    return Segments(
        table=entry.tables["table"],
        names=tuple(facts["names"]),
        agreement={int(count): value for count, value in facts["agreement"].items()},
        found=facts["found"],
        parts={name: tuple(own) for name, own in facts["parts"].items()},
        left_out=tuple(facts["left_out"]),
        notices=tuple(facts["notices"]),
    )
