"""Which columns hold the time: one, a date and a clock, a date and the number of the period."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.errors import InputError
from core.readings.column_names import is_id_name, marks_end, marks_start, plain, words
from core.readings.columns import listed, require_column, time_like, where
from core.readings.options import IngestOptions, Stamp
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source

# How the cells are written: text, seconds and parts of them since 1970, days since 1900 as Excel
# counts them, the number of the period in the day, the clock as 0030, year, month, day and hour.
Style = Literal[
    "text", "seconds", "milliseconds", "microseconds", "excel", "period", "hhmm", "parts"
]

_PERIOD_NAMES = {
    "hour", "hh", "halfhour", "period", "settlementperiod", "slot", "interval", "timeslot",
    "halfhourperiod", "hr", "he", "hourending", "sp", "periodid", "quarterhour", "intervalnumber",
    "hourofday", "periodnumber", "halfhourly", "hhperiod", "intervalid", "settlementperiodnumber",
}  # fmt: skip
_RECORD_WORDS = {
    "created", "updated", "received", "processed", "modified", "loaded", "inserted", "revision",
    "revised",
}  # fmt: skip
_EPOCHS: tuple[tuple[Style, float, float], ...] = (
    ("seconds", 3.2e8, 4.1e9),
    ("milliseconds", 3.2e11, 4.1e12),
    ("microseconds", 3.2e14, 4.1e15),
)


@dataclass(frozen=True)
class TimeColumns:
    """The columns of the time, how they are written, and which end of the interval they mark."""

    columns: tuple[str, ...]
    style: Style = "text"
    stamp: Stamp | None = None
    because: str = ""


def find_time_columns(source: Source, options: IngestOptions) -> TimeColumns:
    """Find the columns of the time."""
    if options.time_columns:
        named = tuple(require_column(source, name, "time_columns") for name in options.time_columns)
        return _described(source, named)
    candidates = [name for name in source.columns if name not in options.ignore_columns]
    kinds = {name: source.contents[name] for name in candidates}
    moments = _without_records(
        [name for name, kind in kinds.items() if kind in ("datetime", "date")]
    )
    full = [name for name in moments if kinds[name] == "datetime"]
    dates = [name for name in moments if kinds[name] == "date"]
    clocks = [name for name, kind in kinds.items() if kind == "clock"]
    if full:
        return _one_of(source, full)
    if dates:
        date = dates[0] if len(dates) == 1 else _one_of(source, dates).columns[0]
        return _with_clock(source, date, clocks, candidates)
    numeric = [name for name in candidates if _epoch_style(source, name)]
    if len(numeric) == 1:
        return _described(source, (numeric[0],))
    if len(numeric) > 1:
        return _one_of(source, numeric)
    if parts := _calendar_parts(source, candidates):
        return TimeColumns(parts, "parts")
    if not source.rows:
        raise InputError(f"{source.name} has a header and no readings; name a file with readings")
    raise UndecidedError(
        "time_columns",
        f"{where(source)}: no column of times among {listed(source.columns)}",
        [Choice(name, {"time_columns": (name,)}) for name in candidates if name],
    )


def _described(source: Source, columns: tuple[str, ...]) -> TimeColumns:
    """Return columns with what their names and cells say."""
    first, last = columns[0], columns[-1]
    style: Style = "text"
    if len(columns) == 1:
        style = _epoch_style(source, first) or "text"
    elif source.contents[last] == "number":
        style = "hhmm" if _is_hhmm(source, last) else "period"
    if style == "period":
        return TimeColumns(columns, style)
    if marks_end(last) and not marks_start(last):
        return TimeColumns(columns, style, "end", f"the column is called {last!r}")
    if marks_start(last):
        return TimeColumns(columns, style, "start", f"the column is called {last!r}")
    return TimeColumns(columns, style)


def _without_records(names: list[str]) -> list[str]:
    """Leave out the times at which a record was made, where there are others."""
    return [name for name in names if not _RECORD_WORDS & set(words(name))] or names


def _one_of(source: Source, names: list[str]) -> TimeColumns:
    """Choose among several columns of times: the start before the end, local before UTC."""
    if len(names) == 1:
        return _described(source, (names[0],))
    starts = [name for name in names if marks_start(name)]
    others = [name for name in names if not marks_end(name)]
    local = [name for name in names if "local" in words(name)]
    for chosen in (starts, others, local):
        if len(chosen) == 1:
            return _described(source, (chosen[0],))
    raise UndecidedError(
        "time_columns",
        f"{where(source)}: the time may be in {listed(names)}",
        [Choice(name, {"time_columns": (name,)}) for name in names],
    )


def _with_clock(
    source: Source, date: str, clocks: list[str], candidates: Sequence[str]
) -> TimeColumns:
    """Add the time of day to a column of dates, where there is one."""
    if len(clocks) > 1:
        starts = [name for name in clocks if marks_start(name)]
        others = [name for name in clocks if not marks_end(name)]
        for chosen in (starts, others):
            if len(chosen) == 1:
                return _described(source, (date, chosen[0]))
        raise UndecidedError(
            "time_columns",
            f"{where(source)}: the time of day may be in {listed(clocks)}",
            [Choice(f"{date}, {name}", {"time_columns": (date, name)}) for name in clocks],
        )
    if clocks:
        return _described(source, (date, clocks[0]))
    numbers = [name for name in candidates if name != date and _integers(source, name)]
    if hhmm := [name for name in numbers if time_like(name) and _is_hhmm(source, name)]:
        return _described(source, (date, hhmm[0]))
    periods = [name for name in numbers if plain(name) in _PERIOD_NAMES]
    if len(periods) == 1:
        minute = [name for name in numbers if plain(name) in ("minute", "min", "minutes")]
        if minute and plain(periods[0]) in ("hour", "hr"):
            return TimeColumns((date, periods[0], minute[0]), "parts")
        return _described(source, (date, periods[0]))
    if len(periods) > 1:
        raise UndecidedError(
            "time_columns",
            f"{where(source)}: the period of the day may be in {listed(periods)}",
            [Choice(f"{date}, {name}", {"time_columns": (date, name)}) for name in periods],
        )
    # A lone date column is how daily readings, and midnights cut short, look: the grid tells.
    return _described(source, (date,))


def _integers(source: Source, name: str) -> list[int]:
    """Return the sample's whole numbers of a column; none where it holds anything else."""
    if source.contents[name] != "number":
        return []
    cells = [re.sub(r"\.0+$", "", cell) for cell in source.column(name)]
    return [int(cell) for cell in cells] if all(map(str.isdecimal, cells)) else []


def _is_hhmm(source: Source, name: str) -> bool:
    numbers = _integers(source, name)
    return bool(numbers) and max(numbers) > 100 and all(n <= 2400 and n % 100 < 60 for n in numbers)


def _epoch_style(source: Source, name: str) -> Style | None:
    """Return how a column of numbers counts the time, where it does."""
    numbers = _integers(source, name)
    if numbers and not is_id_name(name):
        for style, low, high in _EPOCHS:
            minute = 60 * 1000 ** ("seconds", "milliseconds", "microseconds").index(style)
            regular = all(number % minute == 0 for number in numbers)
            if low < min(numbers) and max(numbers) < high and (regular or time_like(name)):
                return style
    if source.contents[name] == "number" and time_like(name):
        values = [float(cell.replace(",", ".")) for cell in source.column(name)[:500]
                  if re.fullmatch(r"\d+([.,]\d+)?", cell)]  # fmt: skip
        if values and min(values) > 20_000 and max(values) < 80_000:
            return "excel"
    return None


def _calendar_parts(source: Source, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of year, month, day, hour and perhaps minute, where all are there."""
    found = {plain(name): name for name in candidates if _integers(source, name)}
    day = found.get("day") or found.get("dayofmonth")
    parts = (found.get("year"), found.get("month"), day, found.get("hour"))
    if None in parts:
        return ()
    minute = found.get("minute")
    return tuple(name for name in (*parts, minute) if name)
