"""Tables with one row per day: a date, and 24, 48 or 96 values side by side."""

import re
from dataclasses import dataclass

from core.errors import InputError
from core.readings.cells import MISSING_WORDS
from core.readings.column_names import is_id_name
from core.readings.columns import find_id_column, is_sum_of_others, listed, require_column, where
from core.readings.expressions import Cell, position, reading_select
from core.readings.formats.base import Format, Plan, column_roles, household_cell
from core.readings.options import IngestOptions, Stamp
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source
from core.readings.staging import Staging, scan
from core.readings.time_parsing import date_cell
from core.readings.values import describe_values, other_register_rows, with_row_unit

# Periods of a day, and the minutes of each; one hour more on the long day of autumn.
_COUNTS = {24: 60, 25: 60, 48: 30, 50: 30, 96: 15, 100: 15, 144: 10, 288: 5}
_CLOCK_NAME = re.compile(
    r"[a-z_ ]*?(\d{1,2})[:.h](\d{2})(?::00)?\s*([ap]m)?(\s*(?:-|–|to)\s*\d{1,2}[:.h]\d{2}.*)?"
    r"(?:\s*[\[(]?[km]?wh?[\])]?)?",
    re.IGNORECASE,
)
_COMPACT_NAME = re.compile(r"[a-z_ ]*(\d{2})(\d{2})", re.IGNORECASE)
_NUMBERED_NAME = re.compile(r"(.*?)(\d{1,3})(\D*)")
_PERIOD_PREFIXES = {
    "", "hh", "h", "hr", "hour", "p", "period", "t", "slot", "interval", "int", "v", "val", "value",
    "kwh", "wh", "q", "qh", "halfhour", "i", "reading", "column", "hhkwh", "consumption", "usage",
    "energy", "sp", "time", "quarter", "quarterhour",
}  # fmt: skip


@dataclass(frozen=True)
class _Day:
    """The columns of a day's values, and the minute of the day that each one marks."""

    columns: list[str]
    minutes: list[int]
    stamp: Stamp = "start"
    because: str = ""
    is_numbered: bool = False


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether there is a date in each row and as many values as a day has periods."""
    if source.is_parquet and not source.columns:
        return False
    dates = [name for name in source.columns if source.contents[name] == "date"]
    clocks = [name for name in source.columns if source.contents[name] == "clock"]
    if len(dates) != 1 or clocks or "datetime" in source.contents.values():
        return False
    day = _find_day(source, dates[0])
    if day is None:
        return False
    prefix = re.sub(r"[\W_\d]", "", day.columns[0].lower())
    if not day.is_numbered or prefix in _PERIOD_PREFIXES:
        return True
    raise UndecidedError(
        "format",
        f"{where(source)}: the {len(day.columns)} columns from {day.columns[0]!r} to "
        f"{day.columns[-1]!r} may be the periods of a day, or households that are read once a day",
        [
            Choice("periods of a day", {"format": "days"}),
            Choice("households, read once a day", {"format": "wide"}),
        ],
    )


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read every value of every day."""
    date = _date_column(source, options)
    day = _find_day(source, date)
    if day is None:
        raise InputError(
            f"{where(source)}: no 24, 48 or 96 columns of values among {listed(source.columns)}; "
            "leave the format out to have it recognised"
        )
    household = _household_column(source, options, date, day)
    values = describe_values(source, day.columns, options, staging)
    taken = [date, *day.columns, *filter(None, [household])]
    reasons, codes = other_register_rows(source, values, taken, options)
    missing = ", ".join(f"'{word}'" for word in MISSING_WORDS)
    # The columns of the long day are empty on all others.
    beyond = "minute >= 1440" if day.stamp == "start" else "minute > 1440"
    reasons += f"""WHEN {beyond} AND (cell IS NULL OR lower(trim(cell)) IN ({missing}))
            THEN 'no such period'
        WHEN {beyond} THEN 'half-hour 49 or 50' """
    table, parameters = scan(source)
    dates = date_cell(source, date, staging, options)
    ids = household_cell(source, household, staging)
    cells = ", ".join(f"{position(source, name)}::VARCHAR" for name in day.columns)
    unpivoted = (
        f"""(SELECT *, unnest($minutes) AS minute, unnest([{cells}]) AS cell FROM {table})"""
    )
    number = with_row_unit(source, values.sql("cell"), day.columns, values)
    select = reading_select(
        unpivoted,
        id=ids,
        time=Cell(dates.text, f"{dates.value} + to_minutes(minute)"),
        value=Cell("cell", number),
        allow_negative=options.allow_negative,
        extra_reason=reasons,
    )
    return Plan(
        select=select,
        parameters={
            **parameters, **dates.parameters, **ids.parameters, **codes, "minutes": day.minutes,
        },
        roles=column_roles(source, household=household, time=date, value=day.columns),
        unit=values.stated,
        stamp=day.stamp,
        stamp_because=day.because,
        rows_per_line=len(day.columns),
    )  # fmt: skip


def _date_column(source: Source, options: IngestOptions) -> str:
    if options.time_columns:
        return require_column(source, options.time_columns[0], "time_columns")
    dates = [name for name in source.columns if source.contents[name] == "date"]
    if len(dates) == 1:
        return dates[0]
    if not dates:
        raise InputError(
            f"{where(source)}: no column of dates among {listed(source.columns)}; leave the format "
            "out to have it recognised"
        )
    raise UndecidedError(
        "time_columns",
        f"{where(source)}: the date may be in {listed(dates)}",
        [Choice(name, {"time_columns": (name,)}) for name in dates],
    )


def _household_column(source: Source, options: IngestOptions, date: str, day: _Day) -> str | None:
    """Return the column of households: by its name, or where there are none by its place."""
    headed = source.is_parquet or source.layout.header_line is not None
    if headed or options.id_column or options.household_from_file:
        return find_id_column(source, options, [date, *day.columns])
    rest = [name for name in source.columns if name not in (date, *day.columns)]
    others = [name for name in rest if source.contents[name] in ("text", "number")]
    before = [name for name in others if source.place(name) < source.place(day.columns[0])]
    return before[0] if len(before) == 1 else None


def _find_day(source: Source, date: str) -> _Day | None:
    """Find the columns of a day's values by their names, or by their number without a header."""
    numbers = [
        name
        for name in source.columns
        if name != date and source.contents[name] in ("number", "empty") and not is_id_name(name)
    ]
    if not source.is_parquet and source.layout.header_line is None:
        return _unnamed(source, date, numbers)
    return (
        _by_clock(numbers, _CLOCK_NAME) or _by_clock(numbers, _COMPACT_NAME) or _numbered(numbers)
    )


def _by_clock(names: list[str], pattern: re.Pattern[str]) -> _Day | None:
    found = [(name, match) for name in names if (match := pattern.fullmatch(name.strip()))]
    minutes = [_minute(match) for _, match in found]
    if len(found) not in _COUNTS or None in minutes:
        return None
    step = _COUNTS[len(found)]
    clock = [minute for minute in minutes if minute is not None]
    columns = [name for name, _ in found]
    expected = [step * number for number in range(len(clock))]
    if clock == expected:
        return _Day(columns, clock, "start", f"the values begin at {columns[0]!r}")
    # From 00:30 to 24:00, or to 00:00, which is the same: they mark the end.
    if [minute or 1440 for minute in clock] == [minute + step for minute in expected]:
        return _Day(
            columns, [minute or 1440 for minute in clock], "end",
            f"the values begin at {columns[0]!r} and end at {columns[-1]!r}",
        )  # fmt: skip
    return None


def _minute(match: re.Match[str]) -> int | None:
    hour, minute = int(match[1]), int(match[2])
    half = match[3].lower() if match.lastindex and match.lastindex >= 3 and match[3] else ""
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return hour * 60 + minute if minute < 60 and hour * 60 + minute <= 1440 else None


def _numbered(names: list[str]) -> _Day | None:
    """Find the run of names that counts the periods of a day, from 0 or from 1."""
    runs: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for name in names:
        if match := _NUMBERED_NAME.fullmatch(name):
            runs.setdefault((match[1], match[3]), []).append((int(match[2]), name))
    for run in runs.values():
        first = run[0][0]
        if len(run) in _COUNTS and [number for number, _ in run] == list(
            range(first, first + len(run))
        ):
            if first not in (0, 1):
                continue
            step = _COUNTS[len(run)]
            return _Day(
                [name for _, name in run],
                [step * n for n in range(len(run))],
                because=f"the values are numbered from {run[0][1]!r}",
                is_numbered=True,
            )
    return None


def _unnamed(source: Source, date: str, numbers: list[str]) -> _Day | None:
    """Take the values behind the date where there are as many as a day has periods."""
    behind = [name for name in numbers if source.place(name) > source.place(date)]
    if len(behind) - 1 in _COUNTS and is_sum_of_others(source, behind[-1], behind[:-1]):
        behind = behind[:-1]
    if len(behind) not in _COUNTS:
        return None
    step = _COUNTS[len(behind)]
    because = f"{len(behind)} values follow the date"
    return _Day(behind, [step * number for number in range(len(behind))], "start", because)


FORMAT = Format(
    name="days",
    title="One day per row",
    help="a date and 24, 48 or 96 values per row, headed by clock times or numbers (HH01, HH02 …) "
    "or by nothing; without a column of households each file is one; clock times from 00:00 mark "
    "the start, from 00:30 the end",
    recognises=recognises,
    plan=plan,
)
