"""What the colours of the map say: categories or a scale, one colour a point.

Colours are settled here once for all that shows points: markers, the shaded image, the legend and
small maps. Categories keep their colours whichever of them are in view.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from core.density import COVERAGES, LEVELS
from core.runs import Run
from core.scene.palette import hdr_colors, time_color
from core.slots import DAYS

# Numbers of fewer values, such as occupants, are told apart better as categories.
MAXIMUM_NUMBERS = 8
# More categories than can be told apart by colour: the rarest share one.
MAXIMUM_CATEGORIES = 20

MISSING = "#9aa0a8"
MISSING_NAME = "not known"
OTHERS_NAME = "others"

# Okabe and Ito's colours, which remain apart for any kind of colour vision, then others.
_CATEGORIES = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"),
    *("#7f6bb3", "#8c564b", "#17becf", "#b5bd61", "#1f4e5f", "#f7a1c4", "#6b8e23"),
    *("#a05195", "#ffa600", "#4c72b0", "#c44e52", "#64b5cd", "#937860"),
)
_DAYS = ("#0072b2", "#56b4e9", "#009e73", "#b5bd61", "#e69f00", "#d55e00", "#cc79a7")

HDR, TIME, DAY, DEMAND = "HDR", "Time of day", "Day of week", "Mean demand"
DENSITY, SURPRISE, SAMPLE = "Density", "Surprise", "Sample size"
TRUST, DISTORTION = "Trust", "Distortion"

# What every map has of its own; all else is the same for a point wherever it is drawn.
OF_EACH_MAP = (HDR, DENSITY, SURPRISE, TRUST, DISTORTION)
HDR_TITLE = "Highest density regions (HDR)"

# What the levels of `core.density.LEVELS` are called.
_MIDDLE = (f"{low}–{high} %" for low, high in pairwise(COVERAGES))
LEVEL_NAMES = (f"densest {COVERAGES[0]} %", *_MIDDLE, f"rarest {100 - COVERAGES[-1]} %")


@dataclass(frozen=True, eq=False)
class Coloring:
    """Colours of n points.

    Attributes
    ----------
    title : str
        What is coloured, with its unit.
    codes : ndarray of uint8, shape (n,)
        Each point's place in ``colors``.
    colors : tuple of str
        As ``#rrggbb``: of the categories, or of the scale from its low to its high end; where
        some values are missing, the last is theirs.
    dark_colors : tuple of str
        The same for dark paper; ``colors`` where it is empty.
    names : tuple of str
        Of the categories; empty for a scale.
    ticks : tuple of (float, str)
        Places on the scale from 0 to 1 and their labels.
    words : tuple of str
        What a point of each category is said to be; ``names`` where it is empty.
    values : ndarray of float, shape (n,), optional
        For a scale of numbers.
    missing : int
        How many points have no value.
    """

    title: str
    codes: np.ndarray
    colors: tuple[str, ...]
    names: tuple[str, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    words: tuple[str, ...] = ()
    values: np.ndarray | None = None
    missing: int = 0
    dark_colors: tuple[str, ...] = ()

    def palette(self, *, dark: bool = False) -> tuple[str, ...]:
        """The colours on light or dark paper."""
        return (dark and self.dark_colors) or self.colors

    @property
    def scale_length(self) -> int:
        """How many of the colours are a scale; the rest is that of missing values."""
        return 0 if self.names else len(self.colors) - bool(self.missing)

    @property
    def counts(self) -> np.ndarray:
        """Points of each colour."""
        return np.bincount(self.codes, minlength=len(self.colors))

    def counts_of(self, rows: np.ndarray) -> np.ndarray:
        """Points of each colour among some."""
        return np.bincount(self.codes[rows], minlength=len(self.colors))

    def texts(self, rows: np.ndarray) -> list[str]:
        """The values of some points in words."""
        if self.values is None:
            words = self.words or self.names
            return [words[code] for code in self.codes[rows]]
        return [_number(v) if np.isfinite(v) else MISSING_NAME for v in self.values[rows]]

    def shown(self, hidden: Sequence[str]) -> np.ndarray:
        """Which points are not of a hidden category, (n,)."""
        off = np.array([name in hidden for name in self.names] or [False] * len(self.colors))
        return ~off[self.codes]


def choices(run: Run) -> list[str]:
    """What the points of a run can be coloured by."""
    slots = [TIME, DAY] if "slot" in run.units else []
    of_map = [DENSITY, TRUST] if run.surprise is None else [DENSITY, SURPRISE, TRUST]
    if np.isfinite(run.trust.distortion).any():
        of_map.append(DISTORTION)
    return [HDR, *slots, DEMAND, *of_map, SAMPLE, *_metadata(run)]


def color_points(run: Run, by: str, *, interval_minutes: int, safe: bool = False) -> Coloring:
    """Colour the points of a run.

    Parameters
    ----------
    by : str
        One of `choices`.
    interval_minutes : int
        Minutes a slot.
    safe : bool
        Whether to use colours that hold for any kind of colour vision.
    """
    if by == HDR:
        return color_levels(run.hdr.level, safe=safe)
    if by in (TIME, DAY):
        minutes = run.units["slot"].to_numpy() * interval_minutes
        if by == TIME:
            return color_times(minutes % (24 * 60))
        days = (minutes // (24 * 60)).astype(np.uint8)
        return Coloring(by, days, _DAYS, DAYS)
    if by == DEMAND:
        return _scale("Mean demand, kWh", run.units["mean_kwh"].to_numpy(float))
    if by == DENSITY:
        # Densities span many powers of ten; their order is what can be seen.
        return _ranks("Density, rank in %", run.hdr.density)
    if by == SURPRISE and run.surprise is not None:
        return _scale("Surprise", run.surprise.score)
    if by == TRUST:
        return _scale("Trust: neighbours that the map keeps, %", 100 * run.trust.kept)
    if by == DISTORTION:
        return _factors("Distortion: drawn larger or smaller", run.trust.distortion)
    if by == SAMPLE:
        return _scale("Sample size, readings", run.units["m"].to_numpy(float))
    return color_values(by, run.units[_metadata(run)[by]])


def color_values(title: str, values: pd.Series, *, missing_name: str = MISSING_NAME) -> Coloring:
    """Colour points by numbers or texts, (n,); ``missing_name`` is what those without one are."""
    values = values.reset_index(drop=True)
    numbers = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if numbers and values.nunique() > MAXIMUM_NUMBERS:
        return _scale(title, values.to_numpy(dtype=float, na_value=np.nan))
    # A million points have few values between them: each is looked at once.
    found, uniques = pd.factorize(values)
    often = np.argsort(-np.bincount(found[found >= 0], minlength=len(uniques)), kind="stable")
    kept = list(often if len(often) <= MAXIMUM_CATEGORIES else often[: MAXIMUM_CATEGORIES - 1])
    kept.sort(key=lambda place: (isinstance(uniques[place], str), uniques[place]))
    names, colors = [_words(uniques[place]) for place in kept], list(_CATEGORIES[: len(kept)])
    # The last place is that of missing values, whose code is −1.
    color_of = np.full(len(uniques) + 1, len(kept))
    color_of[kept] = np.arange(len(kept))
    if len(kept) < len(uniques):
        names, colors = [*names, OTHERS_NAME], [*colors, _CATEGORIES[len(kept)]]
    color_of[-1] = len(names)
    missing = found < 0
    if missing.any():
        names, colors = [*names, missing_name], [*colors, MISSING]
    codes = color_of[found]
    codes = codes.astype(np.uint8)
    return Coloring(title, codes, tuple(colors), tuple(names), missing=int(missing.sum()))


def color_levels(level: np.ndarray, *, safe: bool = False) -> Coloring:
    """Colour points by their highest density region, codes of `core.density.LEVELS`, (n,)."""
    light, dark = (tuple(hdr_colors(safe=safe, dark=dark).values()) for dark in (False, True))
    words = tuple(level_text(name) for name in LEVELS)
    return Coloring(
        HDR_TITLE,
        level.astype(np.uint8),
        light,
        LEVEL_NAMES,
        words=words,
        dark_colors=dark,
    )


def color_times(minutes: np.ndarray) -> Coloring:
    """Colour points by the time of day, in minutes from midnight, (n,); midnight meets itself."""
    steps = 48
    codes = (minutes * steps // (24 * 60)).astype(np.uint8)
    colors = tuple(_hex(time_color((np.arange(steps) + 0.5) * 24 * 60 / steps)))
    ticks = tuple((hour / 24, f"{hour:02d}:00") for hour in range(0, 25, 6))
    words = tuple(f"{step // 2:02d}:{step % 2 * 30:02d}" for step in range(steps))
    return Coloring(TIME, codes, colors, ticks=ticks, words=words)


def level_text(level: str) -> str:
    """Say how dense the place of a point is, by its level, one of `core.density.LEVELS`."""
    name = LEVEL_NAMES[LEVELS.index(level)]
    return f"in the {name}" if level in (LEVELS[0], LEVELS[-1]) else f"density band {name}"


def _metadata(run: Run) -> Mapping[str, str]:
    """Names to show of the metadata columns, and the columns of ``units`` they stand for."""
    own = {"label", "household", "slot", "m", "mean_kwh"}
    return {name.removeprefix("metadata_"): name for name in run.units.columns if name not in own}


def _words(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    return str(value)


def _scale(title: str, values: np.ndarray) -> Coloring:
    """Viridis from the 1st to the 99th percentile, so that one giant does not flatten the rest."""
    known = np.isfinite(values)
    low, high = np.quantile(values[known], [0.01, 0.99]) if known.any() else (0.0, 1.0)
    if not high > low:
        low, high = (
            (float(values[known].min()), float(values[known].max())) if known.any() else (0, 1)
        )
    share = (values - low) / ((high - low) or 1.0)
    middle = _number((low + high) / 2)
    ticks = ((0.0, f"≤ {_number(low)}"), (0.5, middle), (1.0, f"≥ {_number(high)}"))
    return _colored_scale(title, share, values, ticks)


def _ranks(title: str, values: np.ndarray) -> Coloring:
    """Viridis by order."""
    order = np.empty(len(values))
    order[np.argsort(values, kind="stable")] = np.linspace(0, 1, len(values))
    return _colored_scale(title, order, 100 * order, ((0.0, "rarest"), (1.0, "densest")))


def _factors(title: str, values: np.ndarray) -> Coloring:
    """Viridis by the logarithm of factors, 1 in the middle, to the 99th percentile."""
    powers = np.log2(values, out=np.full(len(values), np.nan), where=values > 0)
    known = np.abs(powers[np.isfinite(powers)])
    most = (float(np.quantile(known, 0.99)) if len(known) else 0.0) or 1.0
    ends = (f"≤ × {_number(2**-most)}", "× 1", f"≥ × {_number(2**most)}")
    ticks = tuple(zip((0.0, 0.5, 1.0), ends, strict=True))
    known_values = np.where(np.isfinite(powers), values, np.nan)
    return _colored_scale(title, (powers / most + 1) / 2, known_values, ticks)


def _number(value: float) -> str:
    """A number as people write it: three digits that count, and thousands with commas."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _colored_scale(
    title: str, share: np.ndarray, values: np.ndarray, ticks: tuple[tuple[float, str], ...]
) -> Coloring:
    from matplotlib import colormaps

    steps = 128
    known = np.isfinite(values)
    codes = np.full(len(values), steps, np.uint8)
    codes[known] = np.clip(share[known] * steps, 0, steps - 1)
    colors = tuple(_hex(colormaps["viridis"](np.linspace(0, 1, steps))))
    missing = int((~known).sum())
    if missing:
        colors = (*colors, MISSING)
    return Coloring(title, codes, colors, ticks=ticks, values=values, missing=missing)


def _hex(rgba: np.ndarray) -> list[str]:
    from matplotlib.colors import to_hex

    return [to_hex(color) for color in rgba]
