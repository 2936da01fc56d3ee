"""Which column of a table is the household, the time, the value; and what its cells are.

Names decide where they can, cells where they must, and the user where both leave a doubt.
"""

import re
from collections.abc import Sequence
from typing import Literal

from core.errors import InputError
from core.readings.sources import Source

Content = Literal["number", "datetime", "date", "clock", "text", "empty"]

# What stands in files for a reading that is not there, in lower case.
MISSING_WORDS = ("", "null", "na", "n/a", "nan", "none", "-", "--", "?", "missing", "#n/a")

_ID_WORDS = {
    "id", "household", "house", "home", "meter", "customer", "customerkey", "dataid", "lclid",
    "nmi", "mpan", "mprn", "cups", "site", "user", "account", "client", "icp",
}  # fmt: skip
_VALUE_WORDS = ("kwh", "energy", "consumption", "demand", "usage", "load", "value", "reading")
_CALENDAR_WORDS = {
    "year", "month", "week", "weekofyear", "day", "dayofweek", "dayofmonth", "dayofyear", "dow",
    "doy", "wday", "yday", "weekday", "weekend", "isweekend", "hour", "minute", "halfhour",
    "period", "slot", "quarter", "season", "holiday", "isholiday", "dst", "index", "",
    "unnamed0", "row", "rownumber",
}  # fmt: skip

_NUMBER = re.compile(r"[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2}[-/ ]?[A-Za-z]{3}[-/ ]?\d{2,4}")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?")
_COMPACT_TIME = re.compile(r"(19|20)\d{6}([ T]?\d{2}:?\d{2}(:?\d{2})?)?")


def content(source: Source, column: str) -> Content:
    """Say what a column holds, judging by its first cells."""
    cells = [cell for cell in source.column(column)[:200] if cell.lower() not in MISSING_WORDS]
    if not cells:
        return "empty"

    def share(test: re.Pattern[str], *, whole: bool = True) -> float:
        match = test.fullmatch if whole else test.match
        return sum(match(cell) is not None for cell in cells) / len(cells)

    if "time" in _plain(column) or "date" in _plain(column):
        compact = share(_COMPACT_TIME)
        if compact > 0.5:
            return "datetime" if max(map(len, cells)) > 8 else "date"
    if share(_CLOCK) > 0.5:
        return "clock"
    if share(_DATE) > 0.5:
        return "date"
    if share(_DATE, whole=False) > 0.5:
        return "datetime"
    return "number" if share(_NUMBER) > 0.5 else "text"


def require_column(source: Source, name: str, option: str) -> str:
    """Return a column the user named, as the header spells it."""
    for column in source.columns:
        if column == name or column.lower() == name.strip().lower():
            return column
    raise InputError(
        f"{source.name}, line 1: there is no column {name!r} for {option}; "
        f"the columns are {listed(source.columns)}"
    )


def find_time_columns(source: Source, named: Sequence[str]) -> tuple[str, ...]:
    """Find the column of times, or the two of dates and times of day."""
    if named:
        return tuple(require_column(source, name, "--time-column") for name in named)
    kinds = {column: content(source, column) for column in source.columns}
    full = [column for column, kind in kinds.items() if kind == "datetime"]
    dates = [column for column, kind in kinds.items() if kind == "date"]
    clocks = [column for column, kind in kinds.items() if kind == "clock"]
    if len(full) == 1:
        return (full[0],)
    if not full and len(dates) == 1 and len(clocks) <= 1:
        # A lone date column is how daily readings, and midnights cut short, look: the grid tells.
        return (dates[0], *clocks)
    if not full and not dates:
        raise InputError(
            f"{source.name}, line 1: no column of times among {listed(source.columns)}; "
            "name it with --time-column"
        )
    raise InputError(
        f"{source.name}, line 1: the time may be in {listed(full or dates + clocks)}; "
        "name one with --time-column"
    )


def find_id_column(source: Source, named: str | None, taken: Sequence[str]) -> str | None:
    """Find the column of household ids; None where no column looks like one."""
    if named:
        return require_column(source, named, "--id-column")
    others = [column for column in source.columns if column not in taken]
    candidates = [column for column in others if _is_id_name(column)]
    if not candidates:
        candidates = [
            column
            for column in others
            if content(source, column) == "text" and not is_calendar(column)
        ]
    if len(candidates) > 1:
        raise InputError(
            f"{source.name}, line 1: the household may be in {listed(candidates)}; "
            "name one with --id-column"
        )
    return candidates[0] if candidates else None


def find_value_column(source: Source, named: str | None, taken: Sequence[str]) -> str:
    """Find the one column of demand."""
    if named:
        return require_column(source, named, "--value-column")
    numbers = number_columns(source, taken)
    if not numbers:
        raise InputError(
            f"{source.name}: no column of numbers beside {listed(taken)}; "
            "name the column of readings with --value-column"
        )
    for wanted in ("kwh", *_VALUE_WORDS):
        matching = [column for column in numbers if wanted in column.lower()]
        if len(matching) == 1:
            return matching[0]
    if len(numbers) == 1:
        return numbers[0]
    raise InputError(
        f"{source.name}, line 1: the readings may be in {listed(numbers)}; "
        "name one with --value-column"
    )


def number_columns(source: Source, taken: Sequence[str]) -> list[str]:
    """Return the columns of numbers that are neither taken nor parts of a calendar."""
    return [
        column
        for column in source.columns
        if column not in taken
        and not is_calendar(column)
        and content(source, column) in ("number", "empty")
    ]


def is_calendar(column: str) -> bool:
    """Whether a name is that of a part of the date, such as ``month``."""
    return _plain(column) in _CALENDAR_WORDS


def is_value_name(column: str) -> bool:
    """Whether a name is that of a quantity, such as ``kwh``, and not of a household."""
    return any(word in column.lower() for word in _VALUE_WORDS)


def has_decimal_comma(cells: Sequence[str]) -> bool:
    """Whether numbers are written with a decimal comma."""
    return any(re.fullmatch(r"[-+]?\d*,\d+", cell) for cell in cells)


def listed(names: Sequence[str]) -> str:
    """Return a few names in words."""
    shown = ", ".join(repr(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def _is_id_name(column: str) -> bool:
    plain = _plain(column)
    return (
        plain in _ID_WORDS
        or any(plain == word + "id" for word in _ID_WORDS)
        or (
            plain.endswith("id")
            and re.search(r"(_| |[a-z]I)d$|ID$|[_ ]id$", column.strip()) is not None
        )
    )


def _plain(column: str) -> str:
    # A name of nothing but signs is a name all the same.
    return re.sub(r"[\W_]", "", column.lower()) or column.strip()
