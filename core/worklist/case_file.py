"""A printable case file: one page per household on the list."""

import textwrap
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core import atomic
from core.anomalies import Weeks
from core.anomalies.homes import Homes
from core.anomalies.symptoms import summarize, to_half_hours
from core.anomalies.words import q_words
from core.errors import InputError
from core.figures.calendar import demand_calendar, paint_calendar
from core.figures.canvas import TEXT, new_figure, style_axes
from core.figures.demand_summary import week_quantiles
from core.figures.quantile_regions import draw_week
from core.figures.readings_series import with_gaps
from core.progress import Progress, silent
from core.readings import Dataset
from core.worklist.cases import money_text
from core.worklist.verdicts import OPEN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A4, upright, in inches.
PAPER = (8.27, 11.69)

DAYS_AROUND = 10
NEIGHBORS = 5
MOST_PAGES = 500

_INK, _QUIET = "#1c1917", "#57534e"


def write_case_file(
    cases: pd.DataFrame,
    dataset: Dataset,
    weeks: Weeks,
    path: str | Path,
    *,
    currency: str = "",
    progress: Progress = silent,
) -> None:
    """Write a PDF with one page per case, whole or not at all.

    Parameters
    ----------
    cases : DataFrame
        Of :func:`core.worklist.case_table`, with anomalies.
    dataset : Dataset
    weeks : Weeks
        All households' readings, among which similar ones are looked for.
    path : path
        A file that ends in ``.pdf``.
    currency : str
        Written before sums of money.
    progress : Progress
    """
    if cases.empty:
        raise InputError("the worklist is empty; flag a household before printing its case")
    if len(cases) > MOST_PAGES:
        raise InputError(
            f"the case file would have {len(cases):,} pages, and has {MOST_PAGES} at most; choose "
            "the verdict or the households to print"
        )
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import PdfPages

    homes = Homes(summarize(to_half_hours(weeks)), weeks.monday)
    facts = {"Creator": "Wattfold", "CreationDate": None}
    with (
        atomic.new_file(Path(path)) as temporary,
        rc_context({"pdf.fonttype": 42}),
        PdfPages(temporary, metadata=facts) as pages,
    ):
        for done, case in enumerate(cases.to_dict("records"), start=1):
            number = f"{done} of {len(cases)}"
            pages.savefig(draw_case(case, dataset, weeks, homes, page=number, currency=currency))
            progress(done / len(cases), "Printing cases")


def draw_case(
    case: Mapping[str, Any],
    dataset: Dataset,
    weeks: Weeks,
    homes: Homes,
    *,
    page: str = "",
    currency: str = "",
) -> "Figure":
    """Draw the page of one household: headline, week, calendar, the change, similar homes."""
    household = str(case["household"])
    readings = dataset.readings(household)
    times, kwh = readings["time"].to_numpy(), readings["kwh"].to_numpy(np.float64)
    interval = dataset.interval_minutes
    change = _change(case)
    figure = new_figure(*PAPER)
    figure.get_layout_engine().set(rect=(0.03, 0.03, 0.94, 0.94))  # type: ignore[union-attr, call-arg]
    grid = figure.add_gridspec(5, 1, height_ratios=[1.15, 1.1, 1.1, 1.0, 0.85])
    _write_headline(figure.add_subplot(grid[0]), case, dataset, page, currency)
    week = figure.add_subplot(grid[1])
    draw_week(week, week_quantiles(times, kwh, interval))
    _set_title(week, "Its week")
    week.legend(fontsize=TEXT - 2, frameon=False, ncols=5, loc="lower right", bbox_to_anchor=(1, 1))
    calendar = figure.add_subplot(grid[2])
    style_axes(calendar)
    _set_title(calendar, "Its calendar")
    handles = paint_calendar(calendar, demand_calendar(times, kwh, interval), change=change)
    if handles:
        calendar.legend(
            handles=handles,
            fontsize=TEXT - 2,
            frameon=False,
            ncols=2,
            loc="lower right",
            bbox_to_anchor=(1, 1),
        )
    _draw_around(figure.add_subplot(grid[3]), times, kwh, interval, change)
    _write_neighbors(figure.add_subplot(grid[4]), household, weeks, homes)
    return figure


def _set_title(axes: "Axes", text: str) -> None:
    axes.set_title(text, loc="left", fontsize=TEXT + 0.5, color=_INK, parse_math=False)


def _change(case: Mapping[str, Any]) -> date | None:
    since = case.get("since")
    return date.fromisoformat(since) if isinstance(since, str) and since else None


def _write_headline(
    axes: "Axes", case: Mapping[str, Any], dataset: Dataset, page: str, currency: str
) -> None:
    """What a field worker reads first."""
    axes.set_axis_off()
    household = str(case["household"])

    def write(x: float, y: float, text: str, size: float, color: str = _INK, **more: Any) -> None:
        axes.text(
            x, y, text, fontsize=size, color=color, va="top", parse_math=False, in_layout=False,
            transform=axes.transAxes, **more,
        )  # fmt: skip

    write(0, 1.0, f"Household {textwrap.shorten(household, 40, placeholder='…')}", 16)
    write(1, 1.0, page, TEXT, _QUIET, ha="right")
    reason = case.get("reason")
    reason = reason if isinstance(reason, str) else "Not among the households that were judged"
    write(0, 0.80, textwrap.fill(reason, 78), 11)
    lines = [_evidence(case, currency), _verdict(case)]
    attributes = dataset.metadata.iloc[dataset.code(household)].dropna()
    if len(attributes):
        told = ", ".join(f"{name} {value}" for name, value in list(attributes.items())[:8])
        lines.append(told)
    write(0, 0.54, "\n".join(textwrap.fill(line, 105) for line in lines if line), TEXT, _QUIET)
    note = case.get("note")
    shown = textwrap.shorten(note, 300, placeholder=" …") if isinstance(note, str) else ""
    write(0, 0.14, textwrap.fill(f"Note: {shown}" if shown else "Note:", 105), TEXT)


def _evidence(case: Mapping[str, Any], currency: str) -> str:
    parts = []
    if _is_number(case.get("rank")):
        parts.append(f"rank {int(case['rank'])}")
    if _is_number(case.get("q")):
        parts.append(f"q {q_words(case['q'])} (share of false ones among all up to here)")
    if _is_number(case.get("stability")):
        parts.append(f"stays on the list in {case['stability']:.0%} of resamples")
    if _is_number(case.get("kwh_per_week")) and case["kwh_per_week"]:
        parts.append(f"{case['kwh_per_week']:+.0f} kWh a week")
    if _is_number(case.get("money_per_year")) and case["money_per_year"]:
        parts.append(f"{money_text(case['money_per_year'], currency)} a year")
    return "; ".join(parts)


def _verdict(case: Mapping[str, Any]) -> str:
    if case["verdict"] == OPEN:
        return (
            "Verdict: ______________________    Looked at by: ________________    on: ____________"
        )
    who = f", {case['by']}" if case["by"] else ""
    disputed = "; others said otherwise" if case["disputed"] else ""
    return f"Verdict: {case['verdict']} ({case['at'][:10]}{who}{disputed})"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _draw_around(
    axes: "Axes", times: np.ndarray, kwh: np.ndarray, interval: int, change: date | None
) -> None:
    """The readings around the change, or the last ones where nothing changed."""
    from matplotlib.dates import AutoDateLocator, DateFormatter, date2num

    middle = np.datetime64(change) if change else times[-1] - np.timedelta64(DAYS_AROUND, "D")
    reach = np.timedelta64(DAYS_AROUND, "D")
    inside = (times >= middle - reach) & (times < middle + reach)
    style_axes(axes)
    _set_title(axes, "Readings around the change" if change else "Latest readings")
    shown = with_gaps(times[inside], kwh[inside], interval)
    axes.plot(*shown, color="#2b4a7d", linewidth=0.6)
    if change:
        axes.axvline(float(date2num(change)), color="#1450c8", linewidth=1.4)
    axes.xaxis.set_major_locator(AutoDateLocator(minticks=4, maxticks=9))
    axes.xaxis.set_major_formatter(DateFormatter("%d %b"))
    axes.set_ylabel("demand, kWh")
    if len(shown[1]) and np.nanmin(shown[1]) >= 0:
        axes.set_ylim(bottom=0)


def _write_neighbors(axes: "Axes", household: str, weeks: Weeks, homes: Homes) -> None:
    """Mean days of the most similar homes, beside its own."""
    style_axes(axes)
    row = weeks.households.index(household)
    similar = homes.similar(row)[:NEIGHBORS]
    hours = np.arange(48) / 2
    for other in similar:
        axes.plot(hours, homes.profiles[other], color="#a8a29e", linewidth=0.7)
    axes.plot(hours, homes.profiles[row], color="#c2410c", linewidth=1.4, label="this household")
    names = ", ".join(_named(weeks, homes, similar))
    _set_title(axes, textwrap.fill(f"Its mean day; grey, similar homes: {names}", 100))
    axes.set_xlabel("hour of the day")
    axes.set_ylabel("kWh")
    axes.set_xlim(0, 24)
    axes.set_xticks([0, 6, 12, 18, 24])
    axes.set_ylim(bottom=min(0.0, float(homes.profiles[row].min())))
    axes.legend(fontsize=TEXT - 1, frameon=False, loc="upper left")


def _named(weeks: Weeks, homes: Homes, rows: Sequence[int] | np.ndarray) -> list[str]:
    """Names of homes with what they use."""
    return [
        f"{textwrap.shorten(weeks.households[row], 16, placeholder='…')} "
        f"({homes.profiles[row].sum():.1f} kWh a day)"
        for row in rows
    ]
