"""Two periods side by side: who moved, beyond what all of them did.

Both periods are on one map, made of the distributions of both, so that neither is drawn by the
other's neighbours. How far a household moved is measured by the shapes of its weeks, out of which
the mean shift of all, which is mostly the season, can be taken. Whether it moved more than its
weeks differ among themselves is asked by permuting them: the weeks of both periods are dealt out
again at random, and the distance between the two hands tells what chance does.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from core.cube import Cube, DayTable, build_day_table
from core.embedding import embed, n_neighbors_needed
from core.errors import InputError
from core.fields import AUTO
from core.neighbors import choose_backend, find_neighbors
from core.over_time._map_days import check_unit, slots_of
from core.over_time._p_values import pooled_p_values, q_values
from core.over_time.week_shapes import week_dates, week_numbers, week_shapes
from core.periods import Period
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.runs import RunConfig
from core.summary import Summarized
from core.vectors import Vectors, make_vectors, statistical_distance
from core.vectors.mean_demand import sum_demand
from core.weather import HEATING_BELOW, Weather

# How often the weeks of every household are dealt out again.
PERMUTATIONS = 199

# Fewer households have no mean shift to speak of.
_FEWEST = 3

# So many households tell how far two of them are apart.
_MEDIAN_OF = 2000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PeriodComparison(Summarized):
    """Households in two periods. Arrays are of shape (n,), one entry per household.

    Attributes
    ----------
    first, second : Period
    config : RunConfig
        How the map was made.
    households : ndarray of str
        Those that have enough readings in both periods.
    y_first, y_second : ndarray of shape (n, dim)
        Their places on one map.
    distance : ndarray
        Between a household's distributions in the two periods, in the run's distance.
    moved : ndarray
        How far it moved with the mean shift of all households taken out; 1 is as far as two
        households are apart (median).
    by_chance : ndarray
        The mean of the same when the household's weeks are permuted.
    p, q : ndarray
        Of having moved more than permuted weeks do; q is that of Benjamini and Hochberg.
    kwh_per_week : ndarray
        How much more a household uses in the second period.
    season : float
        The mean shift of all, in the same measure.
    left_out : tuple of str
        Households with too few readings, or whole weeks, in one of the periods.
    notices : tuple of str
        What the user should know.
    """

    first: Period
    second: Period
    config: RunConfig
    households: np.ndarray
    y_first: np.ndarray
    y_second: np.ndarray
    distance: np.ndarray
    moved: np.ndarray
    by_chance: np.ndarray
    p: np.ndarray
    q: np.ndarray
    kwh_per_week: np.ndarray
    season: float
    left_out: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def excess(self) -> np.ndarray:
        """How far households moved beyond the season and beyond chance."""
        return self.moved - self.by_chance

    @property
    def season_shift(self) -> np.ndarray:
        """The mean shift of all on the map, (dim,)."""
        return (self.y_second - self.y_first).mean(axis=0)

    def table(self) -> pd.DataFrame:
        """Return one row per household, the one that moved most first."""
        order = np.argsort(-self.excess, kind="stable")
        columns: dict[str, object] = {
            "household": pd.Series(self.households[order], dtype="str"),
            "rank": np.arange(1, len(order) + 1),
            "excess": self.excess[order],
            "moved": self.moved[order],
            "by_chance": self.by_chance[order],
            "distance": self.distance[order],
            "p": self.p[order],
            "q": self.q[order],
            "kwh_per_week": self.kwh_per_week[order],
        }
        for when, y in (("first", self.y_first), ("second", self.y_second)):
            columns |= {f"{when}_y{axis + 1}": y[order, axis] for axis in range(y.shape[1])}
        return pd.DataFrame(columns)


def compare_periods(
    dataset: Dataset,
    config: RunConfig,
    against: Period,
    *,
    weather: Weather | None = None,
    progress: Progress = silent,
) -> PeriodComparison:
    """Compare the period of a config with another one.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
        Of unit ``profiles`` or ``households``; its period is the first of the two.
    against : Period
        The second. The two must not share a day.
    weather : Weather, optional
        Takes out what each household owes to the cold as well.
    """
    first, second = config.period, against
    check_unit(config, "two periods")
    if config.reference != "dataset":
        raise InputError("two periods share the bins of the whole record; leave reference out")
    for period in (first, second):
        period.check(*dataset.first_and_last_day)
    cube, table = build_day_table(dataset, bins=config.bins, progress=part(progress, 0.0, 0.1))
    if weather is not None:
        weather.check(*dataset.first_and_last_day)
    if (first.holds(table.days) & second.holds(table.days)).any():
        raise InputError(
            f"the periods {first} and {second} share days; give two that do not overlap"
        )
    vectors, households, left_out = _both(dataset, config, cube, table, first, second)
    n = len(households)
    y, notices = _lay_out(vectors, config, part(progress, 0.1, 0.7))
    places = np.searchsorted(table.households, [dataset.code(name) for name in households])
    weeks, of_first, numbers = _weeks_of_both(
        table.choose(places),
        cube.n_bins,
        (first, second),
        slots_of(config, dataset.interval_minutes),
        part(progress, 0.7, 0.8),
    )
    usable = np.array([0 < own.sum() < len(own) for own in of_first])
    rows = np.flatnonzero(usable)
    if len(rows) < _FEWEST:
        raise InputError(
            f"{len(rows)} households have whole weeks of readings in both periods; at least "
            f"{_FEWEST} are needed: choose longer periods"
        )
    if weather is not None:
        cold = [_cold_weeks(weather, number) for number in numbers]
        weeks = _at_equal_cold(weeks, of_first, cold)
    shifts = np.array([_between_hands(weeks[i], of_first[i][None])[0] for i in rows])
    season = shifts.mean(axis=0)
    moved = np.linalg.norm(shifts - season, axis=1)
    permuted = np.empty((len(rows), PERMUTATIONS))
    for row, i in enumerate(rows):
        # A household's deals are its own, whoever else is there.
        rng = np.random.default_rng([config.seed, dataset.code(households[i])])
        deals = np.array([rng.permutation(of_first[i]) for _ in range(PERMUTATIONS)])
        permuted[row] = np.linalg.norm(_between_hands(weeks[i], deals), axis=1)
    p = pooled_p_values(moved, permuted)
    typical = _median_distance(np.array([weeks[i].mean(axis=0) for i in rows]))
    progress(0.9, "Adding up demand")
    return PeriodComparison(
        first=first,
        second=second,
        config=config,
        households=households[usable],
        y_first=y[rows],
        y_second=y[n + rows],
        distance=statistical_distance(vectors, rows, n + rows),
        moved=moved / typical,
        by_chance=permuted.mean(axis=1) / typical,
        p=p,
        q=q_values(p),
        kwh_per_week=_kwh_change(dataset, households[usable], first, second),
        season=float(np.linalg.norm(season) / typical),
        left_out=tuple(sorted({*left_out, *households[~usable]})),
        notices=notices,
    )


def _both(
    dataset: Dataset,
    config: RunConfig,
    cube: Cube,
    table: DayTable,
    first: Period,
    second: Period,
) -> tuple[Vectors, np.ndarray, tuple[str, ...]]:
    """Return the vectors of both periods, the first one's rows first, whose they are, and others.

    The others are households that lack readings in one of the periods.
    """
    made = []
    for period in (first, second):
        counts, sample_sizes = table.count(cube.n_bins, period=period)
        found = make_vectors(
            replace(cube, counts=counts, sample_sizes=sample_sizes, period=period),
            dataset,
            unit=config.unit,
            distance=config.distance,
            window=config.window,
            households=config.households,
            slots=slots_of(config, dataset.interval_minutes),
            minimum_sample=config.minimum_sample,
        )
        made.append(found.without_counts())
    ids = [vectors.units["household"] for vectors in made]
    common = np.intersect1d(*(each.to_numpy(object) for each in ids))
    if len(common) < _FEWEST:
        raise InputError(
            f"{len(common)} households have enough readings in both periods; at least {_FEWEST} "
            "are needed: choose longer periods"
        )
    rows = [pd.Index(each).get_indexer(common) for each in ids]
    absent = {*ids[0], *ids[1]} - set(common)
    absent |= {name for vectors in made for name in _labels(vectors.left_out)}
    x = np.concatenate([vectors.x[row] for vectors, row in zip(made, rows, strict=True)])
    stacked = Vectors.from_array(x, distance=config.distance, blocks=made[0].blocks)
    return stacked, common, tuple(sorted(absent))


def _labels(left_out: pd.DataFrame | None) -> list[str]:
    return [] if left_out is None else left_out["label"].tolist()


def _lay_out(
    vectors: Vectors, config: RunConfig, progress: Progress
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the map of all rows, and what the user should know of it."""
    k = n_neighbors_needed(config.method, config.k, len(vectors.x), config.method_parameters)
    backend = config.neighbors
    parameters: dict[str, Any] = dict(config.neighbors_parameters)
    settings: dict[str, Any] = dict(config.method_parameters)
    if backend == AUTO:
        backend = choose_backend(vectors, k=k)
    neighbors = find_neighbors(
        vectors,
        k=k,
        backend=backend,
        seed=config.seed,
        progress=part(progress, 0.0, 0.5),
        **parameters,
    )
    embedding = embed(
        config.method,
        neighbors,
        vectors,
        dim=config.dim,
        seed=config.seed,
        progress=part(progress, 0.5, 1.0),
        checkpoints=None,
        **settings,
    )
    return embedding.y, (*neighbors.notices, *embedding.notices)


def _kwh_change(
    dataset: Dataset, households: np.ndarray, first: Period, second: Period
) -> np.ndarray:
    """How much more each household uses in an average week of the second period, in kWh."""
    codes = [dataset.code(name) for name in households]
    weekly = []
    for period in (first, second):
        demand = sum_demand(dataset, period=period)
        weekly.append(demand.mean_of_households(np.array(codes)) * demand.kwh.shape[1])
    return np.asarray(weekly[1] - weekly[0])


def _weeks_of_both(
    table: DayTable,
    n_bins: int,
    periods: tuple[Period, Period],
    slots: np.ndarray,
    progress: Progress,
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Return each household's whole weeks: their shapes, which are the first's, and numbers."""
    number = week_numbers(table.days)
    found = []
    when = []
    for period in periods:
        shapes, _ = week_shapes(
            table,
            n_bins,
            slots=slots,
            first_week=int(number.min()),
            n_weeks=int(np.ptp(number)) + 1,
            period=period,
            progress=progress,
        )
        known = np.isfinite(shapes[..., 0])
        found.append([own[there] for own, there in zip(shapes, known, strict=True)])
        when.append([number.min() + np.flatnonzero(there) for there in known])
    weeks = [np.concatenate(pair) for pair in zip(*found, strict=True)]
    of_first = [np.arange(len(weeks[i])) < len(own) for i, own in enumerate(found[0])]
    return weeks, of_first, [np.concatenate(pair) for pair in zip(*when, strict=True)]


def _cold_weeks(weather: Weather, numbers: np.ndarray) -> np.ndarray:
    """How cold weeks were: degrees below what homes are heated to, by their mean temperature."""
    days = week_dates(numbers)[:, None] + np.arange(7)
    first, last = weather.days[0], weather.days[-1]
    return np.maximum(0, HEATING_BELOW - weather.on(np.clip(days, first, last)).mean(axis=1))


def _at_equal_cold(
    weeks: list[np.ndarray], of_first: list[np.ndarray], cold: list[np.ndarray]
) -> list[np.ndarray]:
    """Take out of each household's weeks what it owes to the cold.

    Its response is found within each period, so that a change from one to the other is no part of
    it, and is drawn towards that of all: the fewer cold and mild weeks it has, the more.
    """
    products, squares = [], []
    for shapes, own, degrees in zip(weeks, of_first, cold, strict=True):
        product, square = np.zeros(shapes.shape[1]), 0.0
        for hand in (own, ~own):
            if hand.any():
                x = degrees[hand] - degrees[hand].mean()
                product += x @ (shapes[hand] - shapes[hand].mean(axis=0))
                square += x @ x
        products.append(product)
        squares.append(square)
    weight = np.mean(squares)
    if weight == 0:
        return weeks
    of_all = np.sum(products, axis=0) / np.sum(squares)
    return [
        shapes - np.outer(degrees, (product + weight * of_all) / (square + weight))
        for shapes, degrees, product, square in zip(weeks, cold, products, squares, strict=True)
    ]


def _between_hands(weeks: np.ndarray, in_first: np.ndarray) -> np.ndarray:
    """Mean of the weeks of the second hand less that of the first, (deals, r)."""
    share = in_first / in_first.sum(axis=1, keepdims=True)
    other = ~in_first / (~in_first).sum(axis=1, keepdims=True)
    return np.asarray((other - share) @ weeks)


def _median_distance(points: np.ndarray) -> float:
    """The median distance between two of the points."""
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(points[:_MEDIAN_OF]))) or 1.0
