"""Two groups of households side by side: how far apart they are, when, and who they are."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from core.errors import InputError
from core.groups.attributes import compare_attributes
from core.groups.demand import Demand
from core.groups.grouping import LEAST_SIZE
from core.groups.hours import compare_hours
from core.groups.options import PERMUTATIONS
from core.groups.permutation import Deals, group_distances, tail_share
from core.progress import Progress, silent
from core.summary import Summarized


@dataclass(frozen=True)
class Side:
    """One number per household, for one group: its mean, its median and its middle half."""

    mean: float
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> "Side":
        """Summarize the values of a group's households."""
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        return cls(float(values.mean()), float(median), float(low), float(high))


@dataclass(frozen=True)
class Difference:
    """A number of each household, compared between two groups.

    Attributes
    ----------
    first, second : Side
    difference : float
        Mean of the first less mean of the second.
    low, high : float
        Its 95 % confidence interval (Welch).
    p : float
        The share of random groups of these sizes that differ as much, by Welch's t: the spread of
        a small group does not pass for a difference.
    """

    first: Side
    second: Side
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, eq=False)
class WeekBand:
    """A group's week: the mean of its households and the middle half of them, (slots,), in kWh."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GroupComparison(Summarized):
    """How two groups differ.

    Attributes
    ----------
    names : (str, str)
    sizes : (int, int)
        Households with enough readings.
    distance : float
        Between the groups' mean distributions of demand: the share of readings that would have to
        be others (total variation), averaged over the slots of the week.
    expected_distance : float
        The mean distance between random groups of these sizes: it is never 0.
    p : float
        The share of random groups that are as far apart.
    kwh_per_day : Difference
    relative : Difference, optional
        At chosen moments: demand over the same household's demand in the same slots at others.
    hours : DataFrame
        See :func:`core.groups.hours.compare_hours`.
    attributes : DataFrame
        See :func:`core.groups.attributes.compare_attributes`.
    slots : ndarray of int
        The slots of the week of ``week``.
    week : (WeekBand, WeekBand)
    edges : ndarray of shape (n_bins − 1,)
        Of the bins of ``shares``, in kWh.
    shares : ndarray of shape (2, n_bins)
        Share of the readings in every bin, each household counted alike.
    interval_minutes : int
    permutations : int
    notices : tuple of str
    """

    names: tuple[str, str]
    sizes: tuple[int, int]
    distance: float
    expected_distance: float
    p: float
    kwh_per_day: Difference
    relative: Difference | None
    hours: pd.DataFrame
    attributes: pd.DataFrame
    slots: np.ndarray
    week: tuple[WeekBand, WeekBand]
    edges: np.ndarray
    shares: np.ndarray
    interval_minutes: int
    permutations: int
    notices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what ``wattfold groups --json`` prints of a comparison."""
        return {
            "groups": [
                {"name": name, "households": size}
                for name, size in zip(self.names, self.sizes, strict=True)
            ],
            "distance": self.distance,
            "expected_distance": self.expected_distance,
            "p": self.p,
            "kwh_per_day": _plain(self.kwh_per_day),
            "relative": None if self.relative is None else _plain(self.relative),
            "hours": self.hours.to_dict("records"),
            "attributes": self.attributes.to_dict("records"),
            "notices": list(self.notices),
        }


def compare_groups(
    demand: Demand,
    first: Sequence[str],
    second: Sequence[str],
    *,
    names: tuple[str, str] = ("group", "the rest"),
    permutations: int = PERMUTATIONS.default,  # type: ignore[assignment]
    seed: int = 1,
    without_attributes: Collection[str] = (),
    progress: Progress = silent,
) -> GroupComparison:
    """Compare two groups of households.

    Parameters
    ----------
    demand : Demand
        What the households use, see :func:`core.groups.household_demand`.
    first, second : sequences of household ids
        They share no household.
    names : (str, str)
        What to call them.
    permutations : int
        Random groups that the p are counted among.
    seed : int
        Same seed, same random groups.
    without_attributes : collection of str
        Attributes that are not compared: those that made the groups.
    progress : Progress
    """
    shared = sorted(set(first) & set(second))
    if shared:
        raise InputError(
            f"{names[0]!r} and {names[1]!r} share {len(shared)} households, such as {shared[0]}; "
            "put each into one group"
        )
    places = [demand.places(tuple(own)) for own in (first, second)]
    for name, asked, own in zip(names, (first, second), places, strict=True):
        if len(own) < LEAST_SIZE:
            raise InputError(
                f"{name!r} has {len(own)} households with enough readings (of {len(asked)}); a "
                f"group needs {LEAST_SIZE}: choose more households, or a longer period"
            )
    rows = np.concatenate(places)
    in_first = np.arange(len(rows)) < len(places[0])
    deals = Deals.of(in_first, permutations, seed)
    distances = group_distances(demand.vectors, rows, deals, progress=progress)
    attributes, notices = compare_attributes(
        demand.metadata.iloc[places[0]], demand.metadata.iloc[places[1]], without=without_attributes
    )
    absent = len(first) + len(second) - len(rows)
    if absent:
        notices = (f"{absent} households have too few readings and do not count", *notices)
    return GroupComparison(
        names=names,
        sizes=(len(places[0]), len(places[1])),
        distance=float(distances[0]),
        expected_distance=float(distances[1:].mean()),
        p=float(tail_share(distances[:, None])[0]),
        kwh_per_day=_difference(demand.kwh_per_day[rows], in_first, deals),
        relative=_relative(demand, places, permutations, seed),
        hours=compare_hours(demand, rows, deals),
        attributes=attributes,
        slots=demand.slots,
        week=(_band(demand.slot_kwh[places[0]]), _band(demand.slot_kwh[places[1]])),
        edges=demand.edges,
        shares=np.array([demand.bin_shares[own].mean(axis=0) for own in places]),
        interval_minutes=demand.interval_minutes,
        permutations=permutations,
        notices=notices,
    )


def _relative(
    demand: Demand, places: list[np.ndarray], permutations: int, seed: int
) -> Difference | None:
    """Compare relative demand among the households for which it is known."""
    if demand.relative is None:
        return None
    known = [own[np.isfinite(demand.relative[own])] for own in places]
    if min(map(len, known)) < LEAST_SIZE:
        return None
    in_first = np.arange(sum(map(len, known))) < len(known[0])
    values = demand.relative[np.concatenate(known)]
    return _difference(values, in_first, Deals.of(in_first, permutations, seed))


def _difference(values: np.ndarray, in_first: np.ndarray, deals: Deals) -> Difference:
    from scipy.stats import t

    sides = [values[in_first], values[~in_first]]
    parts = np.array([own.var(ddof=1) / len(own) for own in sides])
    freedom = parts.sum() ** 2 / max(
        sum(part**2 / (len(own) - 1) for part, own in zip(parts, sides, strict=True)), 1e-300
    )
    difference = float(deals.differences(values[:, None])[0, 0])
    reach = float(np.sqrt(parts.sum()) * t.ppf(0.975, max(freedom, 1.0)))
    return Difference(
        first=Side.of(sides[0]),
        second=Side.of(sides[1]),
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        p=float(tail_share(deals.t_statistics(values[:, None]))[0]),
    )


def _band(slot_kwh: np.ndarray) -> WeekBand:
    """The mean week of some households; a slot that none has readings in is NaN."""
    empty = np.isnan(slot_kwh).all(axis=0)
    safe = np.where(empty, 0.0, slot_kwh)
    low, high = np.nanquantile(safe, [0.25, 0.75], axis=0)
    found = [np.where(empty, np.nan, each) for each in (np.nanmean(safe, axis=0), low, high)]
    return WeekBand(*found)


def _plain(difference: Difference) -> dict[str, Any]:
    plain = {each.name: getattr(difference, each.name) for each in fields(difference)}
    return {**plain, "first": vars(difference.first), "second": vars(difference.second)}
