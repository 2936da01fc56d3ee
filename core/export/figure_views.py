"""The views of the page as figures for print."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from core.errors import InputError
from core.export.provenance import Provenance
from core.figures import (
    Distribution,
    Lettering,
    demand_calendar,
    draw_calendar,
    draw_distributions,
    draw_map,
    draw_quantile_regions,
    draw_series,
    save_figure,
    set_lettering,
)
from core.figures.canvas import FALLBACK_FONT, TEXT
from core.figures.demand_summary import week_quantiles
from core.readings import Dataset
from core.runs import Run
from core.runs.readings_behind import readings_behind, within_period
from core.scene import MapScene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CM_PER_INCH = 2.54
# Common in papers, in this order; those that are installed are offered.
FONTS = (
    FALLBACK_FONT,
    "Arial",
    "Helvetica",
    "Liberation Sans",
    "Times New Roman",
    "Liberation Serif",
    "STIXGeneral",
    "DejaVu Serif",
)
WIDTH_CM = (4.0, 60.0)
FONT_SIZE = (4.0, 24.0)

_QUANTILES = 2_000


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The size of a figure and its lettering.

    Attributes
    ----------
    width_cm, height_cm : float
        From 4 to 60 cm.
    font : str
        An installed font.
    font_size : float
        Of axis labels, from 4 to 24 points.
    """

    width_cm: float = 16.0
    height_cm: float = 12.0
    font: str = FALLBACK_FONT
    font_size: float = TEXT

    def __post_init__(self) -> None:
        for name, (low, high) in (
            ("width_cm", WIDTH_CM),
            ("height_cm", WIDTH_CM),
            ("font_size", FONT_SIZE),
        ):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not low <= value <= high:
                raise InputError(f"{name} must be from {low:g} to {high:g}, got {value!r}")

    @classmethod
    def in_inches(cls, width: float, height: float, **lettering: str | float) -> Self:
        """Paper of a size in inches."""
        return cls(
            width_cm=width * CM_PER_INCH,
            height_cm=height * CM_PER_INCH,
            **lettering,  # type: ignore[arg-type]  # checked when it is made
        )

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height in inches."""
        return self.width_cm / CM_PER_INCH, self.height_cm / CM_PER_INCH

    @property
    def lettering(self) -> Lettering:
        """The lettering, if the font is there."""
        fonts = installed_fonts()
        if self.font not in fonts:
            raise InputError(
                f"the font {self.font!r} is not installed here; choose one of {', '.join(fonts)}"
            )
        return Lettering(self.font, float(self.font_size))


def installed_fonts() -> list[str]:
    """Those of `FONTS` that are there."""
    from matplotlib.font_manager import get_font_names

    there = set(get_font_names())
    return [font for font in FONTS if font in there]


def map_figure(
    scene: MapScene,
    *,
    paper: Paper | None = None,
    rings: Sequence[int] = (),
    ranges: tuple[float, float, float, float] | None = None,
) -> "Figure":
    """Draw a map; ``rings`` and ``ranges`` are as :func:`core.figures.draw_map` has them."""
    paper = paper or Paper()
    return draw_map(scene, rings=rings, ranges=ranges, size=paper.inches, lettering=paper.lettering)


def distribution_figure(
    run: Run, dataset: Dataset, rows: Sequence[int], *, paper: Paper | None = None
) -> "Figure":
    """Draw the demand behind points beside that of the most typical point and of all."""
    typical = int(np.argmax(run.hdr.density))
    others = {
        "most typical": readings_behind(run, dataset, typical),
        "all households": population_sample(run.edges, run.population),
    }
    anomalies = set(run.hdr.anomalies.tolist())
    panels = [
        Distribution(
            str(run.units["label"].iat[row]),
            readings_behind(run, dataset, row),
            anomalous=row in anomalies,
            others=others
            if row != typical
            else {name: others[name] for name in others if name != "most typical"},
        )
        for row in rows
    ]
    return _fit(draw_distributions(panels), paper)


def week_figure(
    run: Run, dataset: Dataset, rows: Sequence[int], *, paper: Paper | None = None
) -> "Figure":
    """Draw the quantile regions over the week of the households that points belong to."""
    households = dict.fromkeys(str(run.units["household"].iat[row]) for row in rows)
    weeks = {}
    for household in households:
        readings = within_period(run, dataset.readings(household))
        weeks[_title(run, household)] = week_quantiles(
            readings["time"].to_numpy(), readings["kwh"].to_numpy(), dataset.interval_minutes
        )
    return _fit(draw_quantile_regions(weeks), paper)


def series_figure(run: Run, dataset: Dataset, row: int, *, paper: Paper | None = None) -> "Figure":
    """Draw the readings of the household that a point belongs to."""
    household = str(run.units["household"].iat[row])
    readings = within_period(run, dataset.readings(household))
    figure = draw_series(
        readings["time"].to_numpy(),
        readings["kwh"].to_numpy(),
        interval_minutes=dataset.interval_minutes,
        title=household,
    )
    return _fit(figure, paper)


def calendar_figure(
    run: Run,
    dataset: Dataset,
    row: int,
    *,
    change: date | None = None,
    paper: Paper | None = None,
) -> "Figure":
    """Draw the calendar of the household that a point belongs to, the whole record of it."""
    household = str(run.units["household"].iat[row])
    readings = dataset.readings(household)
    calendar = demand_calendar(
        readings["time"].to_numpy(), readings["kwh"].to_numpy(), dataset.interval_minutes
    )
    return _fit(draw_calendar(calendar, change=change, title=household), paper)


def write_figure(figure: "Figure", path: Path, provenance: Provenance) -> None:
    """Write a figure in the format of the path's suffix, with where it comes from inside."""
    save_figure(figure, path, provenance.to_json())


def population_sample(edges: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Readings that are distributed as those in the bins are; within a bin they lie evenly.

    Parameters
    ----------
    edges : ndarray of shape (bins − 1,)
        In kWh, increasing; the last bin is open and taken to end at twice its edge.
    counts : ndarray of shape (bins,)
    """
    below = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    low = min(0.0, float(edges[0])) if len(edges) else 0.0
    high = 2 * float(edges[-1]) if len(edges) else 1.0
    levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    return np.interp(levels, below, [low, *edges, max(high, low)])


def _title(run: Run, words: str) -> str:
    """A title that says the period, where it is not the whole record."""
    period = run.config.period
    return words if period.is_whole else f"{words}, {period}"


def _fit(figure: "Figure", paper: Paper | None) -> "Figure":
    """Set a figure that lays itself out in the size and lettering that are wanted."""
    if paper is not None:
        figure.set_size_inches(paper.inches)
        set_lettering(figure, paper.lettering)
    return figure
