"""New weeks against a map and against each household's own past.

A week is judged when it is over. Its shape is compared with that of the household's eight weeks
before it, with what all households did in that week taken out: a cold week or a holiday is no
news of anybody. How far past weeks lay from the eight before them, over all households, tells how
often a week is that far by chance; a season that comes slowly is in that, too. A household with
too short a past is judged by the map alone: how far its week is from the map's points, among the
last weeks of all.

A week's alerts depend on that week and those before it, and on nothing else: asked for one week
after the other or all at once, or for a single household, they are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

from core.cube import bin_days
from core.density import LEVELS
from core.engine import Engine
from core.errors import InputError
from core.over_time._map_days import check_unit, slots_of
from core.over_time._p_values import q_values
from core.over_time.week_shapes import LEAST_SHARE, week_dates, week_numbers, week_shapes
from core.parallel import available_cores
from core.periods import WHOLE_RECORD, Period
from core.placement import SavedMap
from core.placement.projection import Projection, project_steps
from core.placement.saved_map import check_interval
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.summary import Summarized

# A week is compared with so many before it, of which half must be there.
RECENT_WEEKS = 8
# Weeks that a household must have had to compare with those before them, to be judged by them.
PAST_WEEKS = 8
# Weeks of every household, before the new one, that tell how far weeks are from the map.
_WEEKS_ON_MAP = 8
# The upper tenth of past weeks tells how their tail falls off, if it has so many at least.
_TENTH, _FEWEST_IN_TAIL = 0.1, 10
# A week that uses so much more or less than usual is said to be higher or lower.
_NOTABLE = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Watch(Summarized):
    """What new weeks tell.

    Attributes
    ----------
    weeks : ndarray of datetime64[D]
        The Mondays of the weeks that were judged.
    judged : DataFrame
        One row per household and week: ``week``, ``household``, ``judged_by`` (``own past`` or
        ``map``), ``score`` (standard deviations of its past weeks; for ``map`` the distance from
        the map), ``p``, ``q``, ``hdr`` (the highest density region of its place), ``nearest``,
        ``y1`` ….
    incomplete : DataFrame
        ``week``, ``household`` and ``readings`` of those that have too few to be judged.
    """

    weeks: np.ndarray
    judged: pd.DataFrame
    incomplete: pd.DataFrame


def watch(
    saved: SavedMap,
    dataset: Dataset,
    *,
    since: date | None = None,
    engine: Engine | None = None,
    progress: Progress = silent,
) -> Watch:
    """Judge the newest weeks of every household.

    Parameters
    ----------
    saved : SavedMap
        Of unit ``profiles`` or ``households``.
    dataset : Dataset
        The households' readings, new weeks and past ones.
    since : date, optional
        Judge every week that is over and has a day from this one on; by default the last one.
    engine : Engine, optional
        Who reads the readings; threads of this process by default.
    """
    config = saved.config
    check_unit(config, "watched weeks")
    check_interval(saved, dataset)
    table = bin_days(
        dataset,
        edges=saved.edges,
        bins=config.bins,
        engine=engine,
        progress=part(progress, 0.0, 0.4),
    )
    begin = int(week_numbers(table.days).min())
    new = _weeks_over(dataset, since) - begin
    slots = slots_of(config, dataset.interval_minutes)
    shapes, readings = week_shapes(
        table,
        len(saved.edges) + 1,
        slots=slots,
        first_week=begin,
        n_weeks=int(new[-1]) + 1,
        period=WHOLE_RECORD,
        progress=part(progress, 0.4, 0.5),
    )
    progress(0.5, "Comparing with the map")
    projection = Projection.fit(saved.vectors, saved.y)
    # Only the new weeks, and those that tell how far weeks are from the map, have a place on it.
    placed_from = max(int(new[0]) - _WEEKS_ON_MAP, 0)
    week = week_numbers(table.days) - begin
    scores, _ = project_steps(
        projection,
        table,
        np.where((week >= placed_from) & (week <= new[-1]), week - placed_from, -1),
        slots=slots,
        window=config.window,
        pooled=config.unit == "households",
        minimum_sample=int(np.ceil(LEAST_SHARE * len(slots))),
        progress=part(progress, 0.6, 0.9),
    )
    names = dataset.households["household"].to_numpy(object)[table.households]
    apart = _apart_from_recent(shapes)
    judged, incomplete = [], []
    for week in new:
        monday = week_dates(begin + week)
        at = week - placed_from
        on_map = scores[:, max(at - _WEEKS_ON_MAP, 0) : at + 1]
        found = _judge(saved, projection, apart[:, : week + 1], on_map, names)
        judged.append(found.assign(week=monday))
        had_any = readings[:, : week + 1].any(axis=1)
        short = np.flatnonzero(~np.isin(names, found["household"]) & had_any)
        incomplete.append(
            pd.DataFrame(
                {"week": monday, "household": names[short], "readings": readings[short, week]}
            )
        )
    progress(1.0, "Judging weeks")
    columns = ["week", *judged[0].columns.drop("week")]
    return Watch(
        weeks=week_dates(begin + new),
        judged=pd.concat(judged, ignore_index=True)[columns],
        incomplete=pd.concat(incomplete, ignore_index=True),
    )


def describe_alerts(
    found: Watch,
    dataset: Dataset,
    *,
    q: float = 0.1,
    households: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the weeks whose q is at most ``q``, the most certain first, with what changed.

    Adds ``kwh``, what the household used in that week; ``usual_kwh``, an average week before it;
    ``direction`` (``higher``, ``lower``, ``different``); and ``reason``, a sentence.
    """
    chosen = found.judged[found.judged["q"] <= q]
    if households is not None:
        for name in households:
            dataset.code(name)  # or say that there is no such household
        chosen = chosen[chosen["household"].isin(households)]
    chosen = chosen.sort_values(["week", "p", "household"], kind="stable", ignore_index=True)
    told = [
        _tell(dataset, household, week, judged_by)
        for household, week, judged_by in zip(
            chosen["household"], chosen["week"], chosen["judged_by"], strict=True
        )
    ]
    columns = ["kwh", "usual_kwh", "direction", "reason"]
    return pd.concat([chosen, pd.DataFrame(told, columns=columns)], axis=1)


def _weeks_over(dataset: Dataset, since: date | None) -> np.ndarray:
    """The numbers of the weeks to judge: those that are over."""
    first, last = dataset.first_and_last_day
    days = np.array([first, last], dtype="datetime64[D]").astype(np.int64)
    # The last week is over if the day after the last one is of another week.
    oldest, end = week_numbers(days + np.array([0, 1]))
    if since is None:
        start = end - 1
    else:
        Period(first=since).check(first, last)
        start = week_numbers(np.array([since], dtype="datetime64[D]").astype(np.int64))[0]
    weeks = np.arange(max(start, oldest), end)
    if not len(weeks):
        raise InputError(
            f"no week since {since or first} is over: the readings end on {last}; "
            "wait for the Sunday, or give an earlier date"
        )
    return weeks


def _apart_from_recent(shapes: np.ndarray) -> np.ndarray:
    """How far each week is from the recent ones before it, beyond what all did.

    Parameters
    ----------
    shapes : ndarray of shape (households, weeks, numbers)
        NaN for weeks that a household does not have.

    Returns
    -------
    ndarray of shape (households, weeks)
        NaN where a week, or half of those before it, is not there.
    """
    known = np.isfinite(shapes[..., 0])
    filled = np.where(known[..., None], shapes, 0).astype(np.float64)
    apart = np.full(known.shape, np.nan)
    for week in range(1, shapes.shape[1]):
        recent = slice(max(week - RECENT_WEEKS, 0), week)
        count = known[:, recent].sum(axis=1)
        rows = np.flatnonzero(known[:, week] & (2 * count >= RECENT_WEEKS))
        if len(rows):
            usual = filled[rows, recent].sum(axis=1) / count[rows, None]
            shift = filled[rows, week] - usual
            # The median does not follow the few that changed.
            common = np.median(shift, axis=0) if len(rows) > 2 else 0.0
            apart[rows, week] = np.sqrt(((shift - common) ** 2).sum(axis=1))
    return apart


def _judge(
    saved: SavedMap,
    projection: Projection,
    apart: np.ndarray,
    scores: np.ndarray,
    names: np.ndarray,
) -> pd.DataFrame:
    """Judge the last of the weeks.

    Parameters
    ----------
    apart : ndarray of shape (households, weeks)
        How far every week is from those before it; the last is the one to judge.
    scores : ndarray of shape (households, recent weeks, r)
        The last few weeks in the directions of the map, that one included.
    """
    past = apart[:, :-1]
    by_past = np.isfinite(apart[:, -1]) & (np.isfinite(past).sum(axis=1) >= PAST_WEEKS)
    rows = np.flatnonzero(by_past | np.isfinite(scores[:, -1, 0]))
    if not len(rows):
        raise InputError(
            "no household has a whole week of readings there; append the missing ones first"
        )
    score, p = np.full(len(names), np.nan), np.full(len(names), np.nan)
    if by_past.any():
        score[by_past], null = _standardised(apart[by_past])
        p[by_past] = _tail(score[by_past], null)
    y, nearest, distance = projection.place(scores[rows, -1], k=saved.config.k)
    by_map = ~by_past[rows]
    if by_map.any():
        others = scores[:, :-1].reshape(-1, scores.shape[2])
        _, _, usual = projection.place(others, k=saved.config.k)
        score[rows[by_map]] = distance[by_map]
        p[rows[by_map]] = _tail(distance[by_map], np.sort(usual[np.isfinite(usual)]))
    on_map = np.isfinite(y[:, 0])
    level = np.full(len(y), "", dtype=object)
    nobody = np.full(on_map.sum(), -1)
    density = saved.landscape.at(y[on_map], left_out=nobody, threads=available_cores())
    level[on_map] = np.array(LEVELS)[(density[:, None] < saved.thresholds).sum(axis=1)]
    labels = saved.vectors.units["household"].to_numpy(object)
    return pd.DataFrame(
        {
            "household": pd.Series(names[rows], dtype="str"),
            "judged_by": pd.Series(np.where(by_map, "map", "own past"), dtype="str"),
            "score": score[rows],
            "p": p[rows],
            "q": q_values(p[rows]),
            "hdr": pd.Series(level, dtype="str"),
            "nearest": pd.Series(np.where(nearest >= 0, labels[nearest], ""), dtype="str"),
            **{f"y{axis + 1}": y[:, axis] for axis in range(y.shape[1])},
        }
    )


def _standardised(apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The last column in standard deviations of a row's others, and those of all rows, sorted."""
    past = apart[:, :-1]
    spread = np.nanstd(past, axis=1, ddof=1, keepdims=True)
    z = (apart - np.nanmean(past, axis=1, keepdims=True)) / np.where(spread > 0, spread, np.inf)
    null = z[:, :-1]
    return z[:, -1], np.sort(null[np.isfinite(null)])


def _tail(values: np.ndarray, null: np.ndarray) -> np.ndarray:
    """The share of a null, sorted, that is at least each value; never nothing.

    Beyond the largest of the null it falls off exponentially, as the null's upper tenth does on
    average: few households and weeks could not tell a meter that died from a busy week otherwise.
    """
    at_least = len(null) - np.searchsorted(null, values, side="left")
    p = np.asarray((1 + at_least) / (1 + len(null)))
    upper = null[int((1 - _TENTH) * len(null)) :]
    if len(upper) < _FEWEST_IN_TAIL:
        return p
    scale = (upper - upper[0]).mean()
    beyond = np.exp(-(values - null[-1]) / scale) if scale > 0 else np.ones(len(values))
    return np.where(values > null[-1], p * beyond, p)


def _tell(
    dataset: Dataset, household: str, week: pd.Timestamp, judged_by: str
) -> tuple[float, float, str, str]:
    """What a household used in a week and in those before, in kWh, and a sentence of it."""
    readings = dataset.readings(household)
    time, kwh = readings["time"], readings["kwh"]
    of_week = (time >= week) & (time < week + pd.Timedelta(days=7))
    before = time < week
    used = float(kwh[of_week].sum())
    usual = float(kwh[before].mean() * dataset.slots_per_week) if before.any() else float("nan")
    change = used - usual
    if not np.isfinite(change) or abs(change) <= _NOTABLE * usual:
        direction, how = (
            "different",
            "at other times than usual" if before.any() else "unlike others",
        )
    else:
        direction = "higher" if change > 0 else "lower"
        how = f"{abs(change):.0f} kWh {'more' if change > 0 else 'less'} than in a usual week"
    reason = f"used {used:.0f} kWh, {how}"
    if judged_by == "map":
        reason += "; too new to be compared with its own past, it is far from all on the map"
    return used, usual, direction, reason[0].upper() + reason[1:]
