"""What a cell of a table is, judged by its text alone."""

import re
from collections.abc import Sequence
from typing import Literal

Content = Literal["number", "datetime", "date", "clock", "text", "empty"]

# What stands in files for a reading that is not there, in lower case.
MISSING_WORDS = ("", "null", "na", "n/a", "nan", "none", "-", "--", "?", "missing", "#n/a")

_DIGITS = r"\d+(?:[ '’\u00a0\u202f.,]\d{3})*(?:[.,]\d*)?|[.,]\d+"
_UNIT = r"(?:\s*(?:[kM]?Wh?|KWH|kwh|wh|kw|KW|w))?"
NUMBER = re.compile(rf"[-+−]?(?:{_DIGITS})(?:[eE][-+]?\d+)?{_UNIT}")
_CLOCK_TEXT = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?"
_WEEKDAY_TEXT = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?"
_MONTH_TEXT = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DAY_TEXT = (
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2}[-/. ][A-Za-z]{3,9}[-/., ]+\d{2,4}"
    rf"|\d{{1,2}}[-/. ]?{_MONTH_TEXT}[-/., ]*\d{{2,4}}"
    r"|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
)
CLOCK = re.compile(_CLOCK_TEXT)
DATE = re.compile(f"{_WEEKDAY_TEXT}(?:{_DAY_TEXT})")
# A clock follows after a sign, or the T of ISO 8601; more letters or digits are those of an id.
_DATETIME = re.compile(f"{_WEEKDAY_TEXT}(?:{_DAY_TEXT})(?![A-SU-Za-z0-9])")
_MIDNIGHT = re.compile(r".*[ T]0?0:00(:00([.,]0+)?)?$|.*[ T]12:00(:00)? ?[Aa][Mm]$")
COMPACT_TIME = re.compile(r"(19|20)\d{6}([ T]?\d{2}:?\d{2}(:?\d{2})?)?")


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in MISSING_WORDS


def cell_content(cell: str) -> Content:
    """Say what one cell is."""
    text = cell.strip()
    if is_missing(text):
        return "empty"
    if CLOCK.fullmatch(text):
        return "clock"
    if DATE.fullmatch(text):
        return "date"
    if _DATETIME.match(text):
        return "datetime"
    return "number" if NUMBER.fullmatch(text) else "text"


def column_content(cells: Sequence[str], *, named_as_time: bool = False) -> Content:
    """Say what most cells of a column are; times at midnight only are dates."""
    kept = [text for cell in cells if not is_missing(text := cell.strip())]
    if not kept:
        return "empty"
    if named_as_time:
        compact = sum(COMPACT_TIME.fullmatch(cell) is not None for cell in kept)
        if compact > len(kept) / 2:
            return "datetime" if max(map(len, kept)) > 8 else "date"
    kinds = [cell_content(cell) for cell in kept]
    for kind in ("clock", "date", "datetime", "number"):
        if kinds.count(kind) > len(kinds) / 2:
            if kind == "datetime" and all(map(_MIDNIGHT.match, kept)):
                return "date"
            return kind
    # Midnights are often written without their clock among other times.
    if kinds.count("date") + kinds.count("datetime") > len(kinds) / 2:
        return "datetime"
    return "text"
