"""What the values are: their unit, and whether they are a register that only rises.

A sample of whole households decides, together with what the files state.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.errors import InputError
from core.readings.energy_units import (
    PLAUSIBLE_DAILY_KWH,
    UNITS,
    is_plausible,
    plausible_units,
)
from core.readings.intervals import Grid, check_spacing
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError
from core.readings.staging import Staging
from core.readings.values import StatedUnit

_SAMPLED_HOUSEHOLDS = 40
_SAMPLED_READINGS = 300_000
# Fewer readings do not tell a register from demand that happens to rise.
_JUDGED_FROM = 48
_RISING_SHARE = 0.99
_MOVING_SHARE = 0.1
# Of so many registers among the households one has to ask what the others are.
_ASKED_SHARE = 0.2

# So many times what three of four readings stay below, no home uses.
_UNUSUAL = 500.0
# Sums of what is written for "infinite" do not overflow.
_BEYOND = 1e30


@dataclass(frozen=True)
class Measure:
    """What the values are, and how that was decided.

    ``scaled`` says that the staged values are already in kWh or kW.
    """

    unit: str
    unit_because: str
    cumulative: bool
    cumulative_because: str
    scaled: bool

    def kwh_sql(self, value: str, interval_minutes: int) -> str:
        """Return the SQL of a staged value in kWh per interval, or in kWh for a register."""
        unit = UNITS[self.unit]
        kilo = value if self.scaled else unit.sql(value)
        return f"({kilo}) * {interval_minutes} / 60" if unit.quantity == "power" else kilo


@dataclass(frozen=True)
class _Sample:
    """Whole households: their ids, and for each the times in seconds and the staged values."""

    ids: list[str]
    times: list[np.ndarray]
    values: list[np.ndarray]


def find_measure(
    staging: Staging,
    grid: Grid,
    stated: Sequence[tuple[str, StatedUnit]],
    options: IngestOptions,
    before: Mapping[str, Any] | None = None,
) -> Measure:
    """Decide what the values are; ask where two answers are equally plausible.

    Parameters
    ----------
    stated : sequence of (str, StatedUnit)
        The name of each source, and what it states of its unit.
    before : mapping, optional
        The manifest of the dataset that they are appended to: it holds where they do not tell.
    """
    before = before or {}
    sample = _take_sample(staging, grid)
    if options.interval_minutes is None and (spacing := _spacing(sample)):
        check_spacing(spacing, grid.interval_minutes, stated[0][0])
    cumulative, why_cumulative = _find_cumulative(staging, sample, options, before)
    daily = _daily_sum(sample, grid.interval_minutes, cumulative)
    unit = _common(stated)
    if unit.unit:
        return Measure(unit.unit, unit.because, cumulative, why_cumulative, scaled=True)
    known = before.get("unit")
    if known and (
        daily is None or is_plausible(UNITS[known].daily_kwh(daily, grid.interval_minutes))
    ):
        return Measure(known, "the dataset", cumulative, why_cumulative, scaled=False)
    if cumulative and unit.quantity is None:
        unit = replace(unit, quantity="energy")
    name, why = _by_size(stated[0][0], unit, daily, grid.interval_minutes, staging)
    return Measure(name, why, cumulative, why_cumulative, scaled=False)


def _take_sample(staging: Staging, grid: Grid) -> _Sample:
    names = sorted(name for name in grid.counts if name not in grid.others)
    chosen: list[str] = []
    total = 0
    for name in names[:: max(1, len(names) // _SAMPLED_HOUSEHOLDS)]:
        total += grid.counts[name]
        if chosen and total > _SAMPLED_READINGS:
            break
        chosen.append(name)
    columns = staging.connection.execute(
        """SELECT list_position($ids, id) - 1 AS code, epoch(time)::BIGINT AS second, value
        FROM staged WHERE reason IS NULL AND id IN (SELECT unnest($ids))
        ORDER BY code, second, rowid""",
        {"ids": chosen},
    ).fetchnumpy()
    bounds = np.searchsorted(columns["code"], np.arange(1, len(chosen)))
    values = np.clip(columns["value"], -_BEYOND, _BEYOND)
    return _Sample(chosen, np.split(columns["second"], bounds), np.split(values, bounds))


def _spacing(sample: _Sample) -> int | None:
    """Return the most frequent difference of neighbouring times, in seconds."""
    steps: Counter[int] = Counter()
    for times in sample.times:
        if len(times) >= _JUDGED_FROM:
            found, counts = np.unique(np.diff(times), return_counts=True)
            steps.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
    del steps[0]
    return steps.most_common(1)[0][0] if steps else None


def _is_register(values: np.ndarray) -> bool | None:
    """Whether one household's values only rise; None where they do not tell."""
    steps = np.diff(values)
    if len(steps) < _JUDGED_FROM - 1 or not steps.any():
        return None
    return bool(
        (steps >= 0).mean() >= _RISING_SHARE
        and (steps > 0).mean() >= _MOVING_SHARE
        and (steps > 0).sum() >= _JUDGED_FROM // 2
    )


def _find_cumulative(
    staging: Staging, sample: _Sample, options: IngestOptions, before: Mapping[str, Any]
) -> tuple[bool, str]:
    if options.cumulative is not None:
        return options.cumulative, "said by the user"
    verdicts = {}
    for name, times, values in zip(sample.ids, sample.times, sample.values, strict=True):
        distinct = np.flatnonzero(np.diff(times, prepend=times[0] - 1))
        verdicts[name] = _is_register(values[distinct])
    registers = [name for name, verdict in verdicts.items() if verdict]
    others = [name for name, verdict in verdicts.items() if verdict is False]
    if not registers and not others and "cumulative" in before:
        return bool(before["cumulative"]), "the dataset"
    if not registers:
        return False, "the values rise and fall" if others else "no sign of a register"
    if not others:
        staging.notice("the values only rise, so demand is the difference from one to the next")
        return True, "the values only rise"
    if len(registers) < _ASKED_SHARE * len(verdicts):
        staging.notice(
            f"the values of {', '.join(registers[:5])} only rise, as a register does; they were "
            "taken for demand, as those of the other households are"
        )
        return False, "the values of most households rise and fall"
    raise UndecidedError(
        "cumulative",
        f"the values of {registers[0]} only rise, as a register does, and those of {others[0]} "
        "rise and fall; one dataset holds one kind",
        [
            Choice("all are registers", {"cumulative": True}),
            Choice("all are demand", {"cumulative": False}),
        ],
    )


def _daily_sum(sample: _Sample, interval_minutes: int, cumulative: bool) -> float | None:
    """Return the median over households of what the values of a day add up to."""
    per_day = 1440 // interval_minutes
    found = []
    for times, values in zip(sample.times, sample.values, strict=True):
        if len(values) >= max(per_day, 2):
            if cumulative:
                steps = np.diff(values)
                days = (times[-1] - times[0]) / 86_400
                found.append(steps[steps > 0].sum() / max(days, 1 / 24))
            else:
                # A code for no value, such as 99999, is as much as a year of readings.
                usual = values[values <= _UNUSUAL * max(np.quantile(values, 0.75), 0.0)]
                found.append((usual if usual.any() else values).mean() * per_day)
    return float(np.median(found)) if found else None


def _common(stated: Sequence[tuple[str, StatedUnit]]) -> StatedUnit:
    """Return the unit of all sources; those that are scaled alike agree."""
    first_name, first = stated[0]
    for name, other in stated[1:]:
        if (other.unit is None) != (first.unit is None) or other.quantity != first.quantity:
            raise InputError(
                f"{first_name} is in {first.unit or 'a unit it does not name'} and {name} in "
                f"{other.unit or 'one it does not name'}; make a dataset of the files of one kind, "
                "and append the others to it"
            )
    return first


def _by_size(
    source: str, stated: StatedUnit, daily: float | None, interval: int, staging: Staging
) -> tuple[str, str]:
    """Return the unit under which a home uses a plausible amount."""
    fitting = plausible_units(daily, interval, stated.quantity) if daily is not None else ()
    if stated.quantity == "power":
        if len(fitting) != 1:
            raise _ask_for_unit(source, daily, interval, ("kW", "W"))
        return fitting[0], f"{stated.because} and the size of the values"
    if stated.either and interval != 60 and "kW" in fitting:
        raise _ask_for_unit(source, daily, interval, fitting)
    if daily is None or "kWh" in fitting or daily < PLAUSIBLE_DAILY_KWH[0]:
        staging.notice("the files name no unit; the readings were taken for kWh")
        return "kWh", "the size of the values" if fitting else "no unit is named"
    if stated.quantity == "energy":
        unit = fitting[0] if fitting else "kWh"
        if fitting:
            staging.notice(f"the files name no unit; by their size the readings are {unit}")
        return unit, "the size of the values"
    raise _ask_for_unit(source, daily, interval, (*fitting, "kWh"))


def _ask_for_unit(
    source: str, daily: float | None, interval: int, candidates: Sequence[str]
) -> UndecidedError:
    def meaning(unit: str) -> str:
        if daily is None:
            return f"they are {unit}"
        kwh = UNITS[unit].daily_kwh(daily, interval)
        odd = "" if is_plausible(kwh) else ", which no home uses"
        return f"they are {unit}: {kwh:,.1f} kWh a day{odd}"

    return UndecidedError(
        "energy_unit",
        f"{source} names no unit, and the values may be {' or '.join(candidates)}",
        [Choice(meaning(unit), {"energy_unit": unit}) for unit in candidates],
    )
