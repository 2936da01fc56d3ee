"""Running registers: demand is the difference from one reading of the register to the next."""

from dataclasses import dataclass

import numpy as np

from core.readings.cleaning import Readings
from core.readings.clock import HOUR, ClockChanges

RESET = "register reset"
NO_NEXT = "register before a gap"


@dataclass(frozen=True)
class Differences:
    """Demand by interval, and the places of the register readings that begin none, by reason."""

    kept: Readings
    rejected: dict[str, Readings]


def difference(readings: Readings, *, interval: int, changes: ClockChanges) -> Differences:
    """Turn register readings into demand.

    A reading and the next one, an interval later, give the demand of the interval between them,
    at its start. Before a gap, at the end, and where the register falls there is none.

    Parameters
    ----------
    readings : Readings
        Cleaned, of whole households; ``kwh`` is the register.
    interval : int
        Seconds from one reading to the next.
    """
    order = _chronological(readings)
    register = readings.take(order)
    same = np.zeros(len(register), bool)
    same[:-1] = register.household[1:] == register.household[:-1]
    elapsed = np.zeros(len(register), np.int64)
    elapsed[:-1] = np.diff(register.time)
    # Across the skipped hour of spring the clock moves an hour further than time does; within the
    # repeated hour of autumn it moves back.
    elapsed -= HOUR * _count_between(changes.skipped, register.time, register.time + elapsed)
    elapsed[elapsed == interval - HOUR] += HOUR
    follows = same & (elapsed == interval)
    demand = np.zeros(len(register))
    demand[:-1] = np.diff(register.kwh)
    falls = follows & (demand < 0)
    kept = follows & ~falls
    result = Readings(register.household, register.time, demand, register.row).take(kept)
    back = np.lexsort((np.arange(len(result)), result.time, result.household))
    rejected = {NO_NEXT: register.take(~follows), RESET: register.take(falls)}
    return Differences(
        result.take(back), {reason: rows for reason, rows in rejected.items() if len(rows)}
    )


def _chronological(readings: Readings) -> np.ndarray:
    """Return the order in time; within an hour that exists twice the register tells it."""
    twice = np.zeros(len(readings), bool)
    twice[1:] = (readings.time[1:] == readings.time[:-1]) & (
        readings.household[1:] == readings.household[:-1]
    )
    if not twice.any():
        return np.arange(len(readings))
    hours = np.unique(np.stack([readings.household[twice], readings.time[twice] // HOUR]), axis=1)
    span = 1 << 40
    inside = np.isin(
        readings.household.astype(np.int64) * span + readings.time // HOUR,
        hours[0].astype(np.int64) * span + hours[1],
    )
    time = np.where(inside, readings.time // HOUR * HOUR, readings.time)
    value = np.where(inside, readings.kwh, 0.0)
    return np.lexsort((value, time, readings.household))


def _count_between(moments: np.ndarray, after: np.ndarray, until: np.ndarray) -> np.ndarray:
    """Count the moments in each span from ``after`` to ``until``."""
    if not len(moments):
        return np.zeros(len(after), np.int64)
    ordered = np.sort(moments)
    counts = np.searchsorted(ordered, until, "left") - np.searchsorted(ordered, after, "right")
    return np.maximum(counts, 0)
