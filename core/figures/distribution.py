"""Demand distributions: a histogram and a density curve, against those of others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from core.figures.canvas import TEXT, new_figure, style_axes
from core.figures.demand_summary import demand_curve
from core.scene.palette import ANOMALY, OTHERS, TYPICAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OTHER_STYLES = ("--", ":", "-.")
_BINS = 40


@dataclass(frozen=True, eq=False)
class Distribution:
    """Readings to draw.

    Attributes
    ----------
    title : str
        Whose they are.
    kwh : ndarray
        The readings.
    anomalous : bool
        Black for anomalous units, orange for typical ones, as in the paper.
    others : mapping of str to ndarray
        Readings to compare with, by name; drawn as lines.
    """

    title: str
    kwh: np.ndarray
    anomalous: bool = False
    others: Mapping[str, np.ndarray] = field(default_factory=dict)


def draw_distributions(
    distributions: Sequence[Distribution],
    *,
    columns: int = 2,
    panel: tuple[float, float] = (3.3, 2.2),
) -> "Figure":
    """Draw several units' distributions of demand on the same scales, one panel each."""
    columns = max(1, min(columns, len(distributions)))
    rows = -(-len(distributions) // columns)
    figure = new_figure(panel[0] * columns, panel[1] * rows + 0.3)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    limit = max((_upper_limit(each.kwh) for each in distributions), default=1.0)
    tallest = 0.0
    for axes, each in zip(grid.flat, distributions, strict=False):
        draw_distribution(axes, each, limit=limit)
        axes.label_outer()
        # Asked for at once: the next panel sets the limit that they share.
        tallest = max(tallest, axes.get_ylim()[1])
    grid[0, 0].set_ylim(0, tallest or 1.0)
    for axes in list(grid.flat)[len(distributions) :]:
        axes.set_visible(False)
    return figure


def draw_distribution(
    axes: "Axes", distribution: Distribution, *, limit: float | None = None
) -> None:
    """Draw a histogram of a unit's readings, its density, and the densities of others.

    Demand beyond ``limit`` kWh, by default that of the top fortieth of the readings, is not shown.
    """
    kwh = np.asarray(distribution.kwh, np.float64)
    limit = _upper_limit(kwh) if limit is None else limit
    low = min(0.0, float(kwh.min()))
    color = ANOMALY if distribution.anomalous else TYPICAL
    edges = np.linspace(low, limit, _BINS + 1)
    counts, _ = np.histogram(kwh, edges)
    heights = counts / (len(kwh) * (edges[1] - edges[0]))
    style_axes(axes, title=distribution.title)
    axes.stairs(heights, edges, fill=True, color=color, alpha=0.3, linewidth=0)
    axes.plot(*demand_curve(kwh), color=color, linewidth=1.2, label="this unit", zorder=3)
    for (name, readings), line in zip(distribution.others.items(), _OTHER_STYLES, strict=False):
        axes.plot(*demand_curve(readings), color=OTHERS, linestyle=line, linewidth=1.0, label=name)
    axes.set_xlim(low, limit)
    # Scaled to the histogram: the curve of an empty house is a spike without end.
    axes.set_ylim(0, 1.25 * float(heights.max(initial=0)) or 1.0)
    axes.set_xlabel("demand, kWh per interval")
    axes.set_ylabel("density, per kWh")
    if distribution.others:
        legend = axes.legend(fontsize=TEXT - 1, frameon=False, handlelength=1.8)
        for text in legend.get_texts():
            text.set_parse_math(False)


def _upper_limit(kwh: np.ndarray) -> float:
    return float(np.quantile(kwh, 0.975)) or 1.0
