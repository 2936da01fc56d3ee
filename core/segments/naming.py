"""Names of segments, made of what sets them apart: "low, evening peak, quiet weekends"."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

# A trait is named from this many robust deviations of the households on.
LEAST_DEVIATION = 0.35
MOST_TRAITS = 3

BETWEEN = "between segments"
TYPICAL = "typical week"


@dataclass(frozen=True)
class Trait:
    """A number of each household's mean week, with words for little and for much of it."""

    name: str
    low: str
    high: str
    measure: Callable[[np.ndarray], np.ndarray]


def _share_of_hours(start: int, stop: int) -> Callable[[np.ndarray], np.ndarray]:
    """Share of demand from one hour to another; ``week`` is (n, 7, 24)."""

    def measure(week: np.ndarray) -> np.ndarray:
        hours = np.arange(24)
        inside = (hours >= start) & (hours < stop)
        return np.asarray(week[:, :, inside].sum(axis=(1, 2)) / week.sum(axis=(1, 2)))

    return measure


def _weekend_ratio(week: np.ndarray) -> np.ndarray:
    return np.asarray(week[:, 5:].mean(axis=(1, 2)) / week[:, :5].mean(axis=(1, 2)))


def _peakiness(week: np.ndarray) -> np.ndarray:
    day = week.mean(axis=1)
    return np.asarray(day.max(axis=1) / day.mean(axis=1))


TRAITS = (
    Trait("night", "little at night", "much at night", _share_of_hours(0, 6)),
    Trait("morning", "late mornings", "morning peak", _share_of_hours(6, 10)),
    Trait("day", "away by day", "at home by day", _share_of_hours(10, 16)),
    Trait("evening", "flat evenings", "evening peak", _share_of_hours(17, 22)),
    Trait("late", "early nights", "late evenings", _share_of_hours(22, 24)),
    Trait("weekend", "quiet weekends", "busy weekends", _weekend_ratio),
    Trait("peak", "level days", "sharp peaks", _peakiness),
)


def name_segments(
    week_kwh: np.ndarray,
    label: np.ndarray,
    *,
    named: Mapping[int, str] | None = None,
    taken: Iterable[str] = (),
) -> list[str]:
    """Name the segments; no name is given twice.

    Parameters
    ----------
    week_kwh : ndarray of shape (n, 7, 24)
        Mean kWh of every household by day of the week and hour.
    label : ndarray of int, shape (n,)
        Segments from 0; −1 for none.
    named : mapping of int to str, optional
        Segments that have their names already.
    taken : iterable of str
        Names that no other segment may have.
    """
    named, taken = named or {}, set(taken)
    count = int(label.max()) + 1
    safe = np.maximum(week_kwh, 1e-4)
    level = 24 * safe.mean(axis=(1, 2))
    traits = np.stack([_standardize(trait.measure(safe)) for trait in TRAITS], axis=1)
    levels = np.array([np.median(level[label == each]) for each in range(count)])
    middles = np.array([np.median(traits[label == each], axis=0) for each in range(count)])
    levels_words = _level_words(levels, float(np.median(level)))
    names: list[str] = []
    for each in range(count):
        order = np.argsort(-np.abs(middles[each]), kind="stable")
        words = [
            TRAITS[place].high if middles[each, place] > 0 else TRAITS[place].low for place in order
        ]
        used = min(int((np.abs(middles[each]) >= LEAST_DEVIATION).sum()), MOST_TRAITS)
        name = _joined(levels_words[each], words[:used])
        while name in {*names, *taken} and used < len(words):
            used += 1
            name = _joined(levels_words[each], words[:used])
        names.append(named.get(each, name))
    return _told_apart(names, levels)


def _joined(level: str, words: list[str]) -> str:
    return ", ".join([level, *(words or [TYPICAL])])


def _level_words(levels: np.ndarray, usual: float) -> list[str]:
    """Say how much a segment uses against the median household."""
    ratio = levels / max(usual, 1e-4)
    limits = np.array([0.35, 0.75, 1.33, 2.5])
    words = ("very low", "low", "medium", "high", "very high")
    return [words[place] for place in np.searchsorted(limits, ratio)]


def _told_apart(names: list[str], levels: np.ndarray) -> list[str]:
    """Add what a segment uses where names are equal, and a number where that is equal too."""
    found: list[str] = []
    for name, kwh in zip(names, levels, strict=True):
        if names.count(name) > 1:
            name = f"{name} ({kwh:.1f} kWh a day)"
        base, number = name, 2
        while name in found:
            name, number = f"{base} {number}", number + 1
        found.append(name)
    return found


def _standardize(values: np.ndarray) -> np.ndarray:
    middle = np.median(values)
    spread = 1.4826 * np.median(np.abs(values - middle))
    return np.asarray((values - middle) / max(spread, 1e-6))
