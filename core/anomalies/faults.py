"""Models of faults: what a meter records when something is wrong, given what a home uses.

They are planted into real readings to measure what the detectors find, and into the tests' data.
Sizes are those of mild, medium and strong cases.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from core.errors import InputError

Severity = Literal["mild", "medium", "strong"]
SEVERITIES: tuple[Severity, ...] = ("mild", "medium", "strong")

# The share of the record's days that is affected, counted from its end.
ONSETS = MappingProxyType({"whole": 1.0, "half": 0.5, "quarter": 0.25})

DAY, WEEK = 48, 336
MIDNIGHT, FOUR = 0, 8


@dataclass(frozen=True)
class Planted:
    """A record with a fault in it.

    Attributes
    ----------
    kwh : ndarray, shape (weeks, 336)
        What the meter recorded.
    first_day : int
        The first affected day, counted from the first Monday.
    slots : ndarray of int
        The slots of the week that are affected.
    """

    kwh: np.ndarray
    first_day: int
    slots: np.ndarray


def plant(
    kwh: np.ndarray, kind: str, severity: Severity, onset: str, rng: np.random.Generator
) -> Planted:
    """Put a fault into one household's half-hourly readings.

    Parameters
    ----------
    kwh : ndarray, shape (weeks, 336)
        NaN where there is no reading; such gaps stay.
    kind : str
        One of ``FAULTS`` or ``ATTACKS``.
    severity : {'mild', 'medium', 'strong'}
    onset : {'whole', 'half', 'quarter'}
        How much of the record is affected, counted from its end.
    """
    models = {**FAULTS, **ATTACKS}
    if kind not in models:
        raise InputError(f"there is no fault {kind!r}; choose one of {', '.join(models)}")
    days = kwh.reshape(-1, DAY).astype(np.float64)
    present = np.flatnonzero(np.isfinite(days).any(axis=1))
    first_day = present[len(present) - round(ONSETS[onset] * len(present))]
    record = _Record(days, int(first_day), SEVERITIES.index(severity), rng)
    slots = models[kind](record)
    recorded = record.days.reshape(kwh.shape)
    # Where a gap was moved onto a reading, the reading stays.
    recorded = np.where(np.isfinite(kwh) & ~np.isfinite(recorded), kwh, recorded)
    recorded = np.where(np.isfinite(kwh), recorded, np.nan)
    return Planted(recorded.astype(kwh.dtype), record.first_day, slots)


@dataclass
class _Record:
    """A household's days (a copy that faults change), and what decides the fault."""

    days: np.ndarray
    first_day: int
    level: int
    rng: np.random.Generator

    @property
    def affected(self) -> np.ndarray:
        """The affected days; a view to write to."""
        return self.days[self.first_day :]

    def delay(self) -> None:
        """Let the fault begin later: in the last 25, 50 or 100 % of the affected days."""
        count = len(self.affected)
        self.first_day += count - round((0.25, 0.5, 1.0)[self.level] * count)


ALL = np.arange(WEEK)


def _daily(start: int, stop: int) -> np.ndarray:
    return np.flatnonzero((start <= ALL % DAY) & (stop > ALL % DAY))


def _dead(record: _Record) -> np.ndarray:
    record.delay()
    record.affected[:] = 0.0
    return ALL


def _stuck(record: _Record) -> np.ndarray:
    record.delay()
    record.affected[:] = np.nanmean(record.days)
    return ALL


def _clock(record: _Record) -> np.ndarray:
    shift = (6, 12, 24)[record.level]
    flat = record.affected.reshape(-1)
    flat[:] = np.roll(flat, shift * record.rng.choice([-1, 1]))
    return ALL


def _theft(record: _Record) -> np.ndarray:
    record.affected[:] *= (0.7, 0.5, 0.3)[record.level]
    return ALL


def _charging(record: _Record) -> np.ndarray:
    record.affected[:, MIDNIGHT:FOUR] += (0.3, 0.75, 1.5)[record.level]
    return _daily(MIDNIGHT, FOUR)


def _solar(record: _Record) -> np.ndarray:
    hour = np.arange(DAY) / 2
    dip = np.maximum(0.0, 1 - ((hour - 13) / 4.5) ** 2)
    record.affected[:] *= 1 - (0.3, 0.6, 0.95)[record.level] * dip
    return _daily(18, 35)


def _weekend(record: _Record) -> np.ndarray:
    weeks = record.days.reshape(-1, 7, DAY)
    whole = np.flatnonzero(np.arange(len(weeks)) * 7 >= record.first_day)
    count = max(1, round((1 / 3, 2 / 3, 1.0)[record.level] * len(whole)))
    for week in record.rng.choice(whole, size=min(count, len(whole)), replace=False):
        tuesday, saturday = weeks[week, 1:3].copy(), weeks[week, 5:7].copy()
        weeks[week, 1:3], weeks[week, 5:7] = saturday, tuesday
    return np.concatenate([np.arange(DAY, 3 * DAY), np.arange(5 * DAY, WEEK)])


def _event(record: _Record) -> np.ndarray:
    length, kwh = (4, 6, 12)[record.level], (0.5, 1.0, 2.5)[record.level]
    day, start = record.rng.integers(7), record.rng.integers(DAY - length + 1)
    weekday = np.arange(len(record.days)) % 7
    rows = (weekday == day) & (np.arange(len(record.days)) >= record.first_day)
    record.days[rows, start : start + length] += kwh
    return day * DAY + np.arange(start, start + length)


def _share(record: _Record) -> float:
    """The theft literature's α, by severity."""
    return (0.7, 0.5, 0.3)[record.level]


def _constant_share(record: _Record) -> np.ndarray:
    record.affected[:] *= _share(record)
    return ALL


def _random_share(record: _Record) -> np.ndarray:
    spread = min(0.2, _share(record) - 0.05)
    record.affected[:] *= _share(record) + record.rng.uniform(
        -spread, spread, record.affected.shape
    )
    return ALL


def _zero_interval(record: _Record) -> np.ndarray:
    length = (8, 16, 32)[record.level]
    start = int(record.rng.integers(DAY - length + 1))
    record.affected[:, start : start + length] = 0.0
    return _daily(start, start + length)


def _random_mean(record: _Record) -> np.ndarray:
    mean = np.nanmean(record.days)
    record.affected[:] = mean * record.rng.uniform(
        _share(record) - 0.2, _share(record) + 0.2, record.affected.shape
    )
    return ALL


def _mean(record: _Record) -> np.ndarray:
    record.affected[:] = np.nanmean(record.days)
    return ALL


def _reversed_day(record: _Record) -> np.ndarray:
    record.affected[:] = record.affected[:, ::-1].copy()
    return ALL


def _capped(record: _Record) -> np.ndarray:
    record.affected[:] = np.minimum(
        record.affected, np.nanquantile(record.days, (0.9, 0.75, 0.5)[record.level])
    )
    return ALL


def _cut(record: _Record) -> np.ndarray:
    cut = np.nanquantile(record.days, (0.1, 0.25, 0.5)[record.level])
    record.affected[:] = np.maximum(record.affected - cut, 0.0)
    return ALL


Model = Callable[[_Record], np.ndarray]

FAULTS: Mapping[str, Model] = MappingProxyType(
    {
        "dead": _dead,
        "stuck": _stuck,
        "clock": _clock,
        "theft": _theft,
        "charging": _charging,
        "solar": _solar,
        "weekend": _weekend,
        "event": _event,
    }
)

# Attack types of the theft literature.
ATTACKS: Mapping[str, Model] = MappingProxyType(
    {
        "constant share": _constant_share,
        "random share": _random_share,
        "zero interval": _zero_interval,
        "random mean": _random_mean,
        "mean": _mean,
        "reversed day": _reversed_day,
        "capped": _capped,
        "cut": _cut,
    }
)
