"""Two groups in one figure: their mean weeks with bands, and their distributions."""

from typing import TYPE_CHECKING

import numpy as np

from core.figures.canvas import TEXT, new_figure, style_axes
from core.slots import DAYS, parse_slots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from core.groups import GroupComparison

COLORS = ("#b45309", "#1d4ed8")
_MARK = "#fde68a"

# Hours with an adjusted p up to this are marked on the week.
_CLEAR = 0.05


def draw_groups(
    comparison: "GroupComparison", *, size: tuple[float, float] = (7.2, 4.6)
) -> "Figure":
    """Draw a comparison: the week above, cumulative distributions and kWh a day below."""
    figure = new_figure(*size)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.2, 1.0])
    _draw_weeks(figure.add_subplot(grid[0, :]), comparison)
    _draw_shares(figure.add_subplot(grid[1, 0]), comparison)
    _draw_hours(figure.add_subplot(grid[1, 1]), comparison)
    return figure


def _labels(comparison: "GroupComparison") -> list[str]:
    return [
        f"{name} ({count:,})"
        for name, count in zip(comparison.names, comparison.sizes, strict=True)
    ]


def _draw_weeks(axes: "Axes", comparison: "GroupComparison") -> None:
    style_axes(axes, title=f"{comparison.names[0]} and {comparison.names[1]}")
    per_day = 24 * 60 / comparison.interval_minutes
    days = np.arange(7 * int(per_day)) / per_day
    for slots in comparison.hours["slots"][comparison.hours["p"] <= _CLEAR]:
        for slot in parse_slots(slots, comparison.interval_minutes):
            axes.axvspan(days[slot], days[slot] + 1 / per_day, color=_MARK, linewidth=0, zorder=0)
    for band, color, label in zip(comparison.week, COLORS, _labels(comparison), strict=True):
        full = [_on_week(each, comparison) for each in (band.mean, band.low, band.high)]
        axes.fill_between(days, full[1], full[2], color=color, alpha=0.15, linewidth=0)
        axes.plot(days, full[0], color=color, linewidth=1.1, label=label)
    for day in range(1, 7):
        axes.axvline(day, color="#57534e", linewidth=0.4, alpha=0.5)
    axes.set_xlim(0, 7)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_xticks(np.arange(7) + 0.5, labels=DAYS)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(f"kWh per {comparison.interval_minutes} minutes")
    _legend(axes)


def _on_week(values: np.ndarray, comparison: "GroupComparison") -> np.ndarray:
    """Values of the chosen slots on the whole week, NaN elsewhere, so that lines break there."""
    week = np.full(7 * 24 * 60 // comparison.interval_minutes, np.nan)
    week[comparison.slots] = values
    return week


def _draw_shares(axes: "Axes", comparison: "GroupComparison") -> None:
    style_axes(axes)
    for shares, color, label in zip(comparison.shares, COLORS, _labels(comparison), strict=True):
        axes.step(
            comparison.edges,
            100 * np.cumsum(shares)[:-1],
            where="post",
            color=color,
            linewidth=1.1,
            label=label,
        )
    axes.set_ylim(0, 100)
    axes.set_xlim(min(0.0, float(comparison.edges[0])), float(comparison.edges[-1]))
    axes.set_xlabel(f"kWh per {comparison.interval_minutes} minutes")
    axes.set_ylabel("readings up to it, %")


def _draw_hours(axes: "Axes", comparison: "GroupComparison") -> None:
    """The difference at every hour of the day, on weekdays and at weekends."""
    style_axes(axes)
    for kind, line in (("weekdays", "-"), ("weekend", "--")):
        rows = comparison.hours[comparison.hours["slots"].str.startswith(kind)]
        hours = rows["slots"].str.slice(len(kind), len(kind) + 2).astype(int)
        order = np.argsort(hours.to_numpy())
        difference = rows["difference"].to_numpy()[order]
        axes.plot(
            hours.to_numpy()[order] + 0.5,
            difference,
            color="#30343b",
            linestyle=line,
            linewidth=1.1,
            label=kind,
        )
    axes.axhline(0, color="#57534e", linewidth=0.5)
    axes.set_xlim(0, 24)
    axes.set_xticks([0, 6, 12, 18, 24])
    axes.set_xlabel("hour of the day")
    axes.set_ylabel("difference, kWh")
    _legend(axes)


def _legend(axes: "Axes") -> None:
    if axes.get_legend_handles_labels()[0]:
        legend = axes.legend(fontsize=TEXT - 1, frameon=False, loc="best", ncols=2)
        for text in legend.get_texts():
            text.set_parse_math(False)
