"""The life patterns of the demo households, and homes drawn from them.

A pattern is a typical way of living. A home leans from its own pattern towards a second one and
varies in every trait, so that the homes fill the space between the patterns.
"""

from dataclasses import asdict, dataclass, replace
from typing import TypeVar

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Hours:
    """Times of the day on the clock; those above 24 are after midnight."""

    wake: float
    leave: float
    back: float
    sleep: float
    dinner: float


@dataclass(frozen=True, kw_only=True)
class Chances:
    """Probabilities: of a day, unless said otherwise."""

    out_workday: float
    """Nobody is at home between ``leave`` and ``back``."""
    out_day_off: float
    lunch: float
    """A cooked lunch by whoever is at home."""
    dinner: float
    shower: float
    """A shower heated by electricity, for every occupant."""
    wash: float
    """A washing machine, for every occupant."""
    dry: float
    """That the washing goes into a dryer."""
    dishwasher: float
    immersion: float
    """An hour of electric water heating."""


@dataclass(frozen=True, kw_only=True)
class Kwh:
    """Energies: of a half-hour, unless said otherwise."""

    standby: float
    cold: float
    """Fridges and freezers, on average."""
    activity: float
    """What runs while somebody is up and at home."""
    lighting: float
    dinner: float
    """Of a whole dinner."""
    direct_heating: float
    """For every degree below the heating limit while somebody is at home."""
    storage_heating: float
    """Of a whole night's charge, for every degree."""


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """A typical way of living and how common it is."""

    name: str
    share: float
    occupants: tuple[int, int]
    weeks: tuple[Hours, ...]
    """The hours of one week and the next, in turn; days off follow the first."""
    chances: Chances
    kwh: Kwh
    dwellings: dict[str, float]
    spread: float = 0.34
    """Between homes, of the logarithm of every energy."""
    night_tariff: float = 0.12
    """Probability of a day-and-night tariff."""
    open_saturdays: float = 0.15
    """Probability that Saturday is a working day."""
    trips: float = 2.2
    """Absences a year."""
    lived_in: bool = True
    """False where people only come to stay."""
    term_time: bool = False
    """Mostly empty in the university holidays."""
    mixes: bool = True
    """A home may lie between this pattern and another."""
    ordinary: bool = True
    """Lived in all year and by day: a life against which a planted anomaly is one."""


_CHANCES = Chances(
    out_workday=0.9,
    out_day_off=0.45,
    lunch=0.25,
    dinner=0.82,
    shower=0.4,
    wash=0.16,
    dry=0.4,
    dishwasher=0.4,
    immersion=0.25,
)
_KWH = Kwh(
    standby=0.07,
    cold=0.045,
    activity=0.18,
    lighting=0.19,
    dinner=1.4,
    direct_heating=0.013,
    storage_heating=0.0,
)
_HOUSES = {"apartment": 0.1, "terraced": 0.22, "semi-detached": 0.4, "detached": 0.28}

PATTERNS = (
    Pattern(
        name="working couple",
        share=0.2,
        occupants=(1, 2),
        weeks=(Hours(wake=7.0, leave=8.3, back=17.7, sleep=23.3, dinner=18.8),),
        chances=_CHANCES,
        kwh=_KWH,
        dwellings={"apartment": 0.3, "terraced": 0.3, "semi-detached": 0.3, "detached": 0.1},
    ),
    Pattern(
        name="family",
        share=0.27,
        occupants=(3, 6),
        weeks=(Hours(wake=7.1, leave=8.8, back=14.6, sleep=23.2, dinner=17.8),),
        chances=replace(_CHANCES, out_workday=0.62, lunch=0.4, wash=0.22, dry=0.6, dishwasher=0.75),
        kwh=replace(_KWH, standby=0.1, cold=0.06, activity=0.25, lighting=0.26, dinner=2.0),
        dwellings=_HOUSES,
    ),
    Pattern(
        name="retired",
        share=0.17,
        occupants=(1, 2),
        weeks=(Hours(wake=8.0, leave=10.6, back=12.8, sleep=22.9, dinner=17.6),),
        chances=replace(
            _CHANCES,
            out_workday=0.5,
            out_day_off=0.4,
            lunch=0.7,
            wash=0.12,
            dry=0.2,
            dishwasher=0.15,
        ),
        kwh=replace(_KWH, standby=0.05, activity=0.17, lighting=0.16, dinner=1.1),
        dwellings={"apartment": 0.1, "terraced": 0.3, "semi-detached": 0.25, "detached": 0.35},
        trips=1.6,
    ),
    Pattern(
        name="home by day",
        share=0.1,
        occupants=(1, 3),
        weeks=(Hours(wake=8.2, leave=15.0, back=16.6, sleep=24.3, dinner=19.0),),
        chances=replace(_CHANCES, out_workday=0.45, lunch=0.6),
        kwh=replace(_KWH, activity=0.23, direct_heating=0.018),
        dwellings=_HOUSES,
    ),
    Pattern(
        name="shift worker",
        share=0.07,
        occupants=(1, 3),
        weeks=(
            Hours(wake=5.6, leave=6.6, back=15.2, sleep=22.5, dinner=17.6),
            Hours(wake=8.8, leave=13.2, back=22.7, sleep=25.0, dinner=12.2),
            Hours(wake=14.8, leave=21.2, back=30.7, sleep=32.4, dinner=18.0),
        ),
        chances=replace(_CHANCES, out_workday=0.75),
        kwh=_KWH,
        dwellings=_HOUSES,
        mixes=False,
    ),
    Pattern(
        name="night heating",
        share=0.08,
        occupants=(1, 4),
        weeks=(Hours(wake=7.3, leave=9.0, back=16.8, sleep=23.2, dinner=18.3),),
        chances=replace(_CHANCES, out_workday=0.65, immersion=0.15, shower=0.6),
        kwh=replace(_KWH, storage_heating=1.9, direct_heating=0.02),
        dwellings={"apartment": 0.55, "terraced": 0.15, "semi-detached": 0.1, "detached": 0.2},
        night_tariff=0.92,
        ordinary=False,
    ),
    Pattern(
        name="student share",
        share=0.04,
        occupants=(3, 5),
        weeks=(Hours(wake=9.6, leave=11.0, back=16.0, sleep=25.6, dinner=20.0),),
        chances=replace(_CHANCES, out_workday=0.6, out_day_off=0.3, dinner=0.75, wash=0.1),
        kwh=replace(_KWH, standby=0.09, activity=0.28, direct_heating=0.018),
        dwellings={"apartment": 0.4, "terraced": 0.5, "semi-detached": 0.1},
        term_time=True,
        ordinary=False,
    ),
    Pattern(
        name="holiday home",
        share=0.03,
        occupants=(1, 5),
        weeks=(Hours(wake=8.8, leave=12.0, back=16.5, sleep=24.0, dinner=19.0),),
        chances=replace(_CHANCES, out_workday=0.55, out_day_off=0.55, immersion=0.6, wash=0.06),
        kwh=replace(_KWH, standby=0.02, cold=0.025, direct_heating=0.03),
        dwellings={"apartment": 0.2, "terraced": 0.1, "detached": 0.7},
        spread=0.5,
        lived_in=False,
        mixes=False,
        ordinary=False,
    ),
    Pattern(
        name="small business",
        share=0.04,
        occupants=(1, 4),
        weeks=(Hours(wake=8.6, leave=0.0, back=24.0, sleep=18.2, dinner=13.0),),
        chances=Chances(
            out_workday=0.01,
            out_day_off=0.96,
            lunch=0.3,
            dinner=0.1,
            shower=0.01,
            wash=0.01,
            dry=0.3,
            dishwasher=0.05,
            immersion=0.1,
        ),
        kwh=Kwh(
            standby=0.14,
            cold=0.16,
            activity=0.9,
            lighting=0.3,
            dinner=0.8,
            direct_heating=0.03,
            storage_heating=0.0,
        ),
        dwellings={"shop": 0.6, "office": 0.4},
        spread=0.42,
        night_tariff=0.3,
        open_saturdays=0.6,
        trips=1.2,
        mixes=False,
        ordinary=False,
    ),
)

REGIONS = {"Dublin": 0.3, "Leinster": 0.27, "Munster": 0.27, "Connacht": 0.11, "Ulster": 0.05}
REGION_CELSIUS = {"Dublin": 0.0, "Leinster": -0.3, "Munster": 0.5, "Connacht": -0.2, "Ulster": -0.7}

_MOST_LEAN = 0.8  # of the way to the second pattern
# Standard deviations between homes of one pattern: of a time in hours, of a chance in log-odds.
_HOUR_SPREAD = 0.6
_LOGIT_SPREAD = 0.7


@dataclass(frozen=True, kw_only=True)
class Home:
    """One household: its traits, constant over the span."""

    pattern: Pattern
    weeks: tuple[Hours, ...]
    chances: Chances
    kwh: Kwh
    occupants: int
    dwelling: str
    tariff: str
    region: str
    irregularity: float
    """Hours by which the times of a day scatter."""
    open_saturdays: bool
    first_week: int
    """Which of the weeks the span starts with."""


def draw_home(rng: np.random.Generator) -> Home:
    """Draw a household from the population."""
    shares = np.array([pattern.share for pattern in PATTERNS])
    own, other = (PATTERNS[i] for i in rng.choice(len(PATTERNS), size=2, p=shares / shares.sum()))
    lean = _MOST_LEAN * rng.beta(1, 2) if own.mixes and other.mixes else 0.0
    occupants = int(rng.integers(own.occupants[0], own.occupants[1] + 1))
    crowd = (occupants - np.mean(own.occupants)) / 4

    habit = rng.normal(0, _HOUR_SPREAD)
    weeks = tuple(
        Hours(
            **{
                name: hour + habit + rng.normal(0, _HOUR_SPREAD)
                for name, hour in _between(hours, other.weeks[0], lean).items()
            }
        )
        for hours in own.weeks
    )
    chances = {
        name: _expit(_logit(chance) + rng.normal(0, _LOGIT_SPREAD))
        for name, chance in _between(own.chances, other.chances, lean).items()
    }
    level = crowd + rng.normal(0, own.spread)
    kwh = {
        name: energy * np.exp(level + rng.normal(0, own.spread))
        for name, energy in _between(own.kwh, other.kwh, lean).items()
    }
    night_tariff = own.night_tariff + lean * (other.night_tariff - own.night_tariff)
    return Home(
        pattern=own,
        weeks=weeks,
        chances=Chances(**chances),
        kwh=Kwh(**kwh),
        occupants=occupants,
        dwelling=_pick(own.dwellings, rng),
        tariff="day and night" if rng.random() < night_tariff else "flat",
        region=_pick(REGIONS, rng),
        irregularity=float(rng.lognormal(np.log(0.6), 0.4)),
        open_saturdays=bool(rng.random() < own.open_saturdays),
        first_week=int(rng.integers(len(own.weeks))),
    )


Record = TypeVar("Record", Hours, Chances, Kwh)


def _between(own: Record, other: Record, lean: float) -> dict[str, float]:
    """Mix two records of the same traits."""
    towards = asdict(other)
    return {name: value + lean * (towards[name] - value) for name, value in asdict(own).items()}


def _pick(weights: dict[str, float], rng: np.random.Generator) -> str:
    p = np.array(list(weights.values()))
    return str(rng.choice(list(weights), p=p / p.sum()))


def _logit(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


def _expit(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))
