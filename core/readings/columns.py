"""Which column of a table is the household, and which one the reading.

Names decide where they can, cells where they must, and the user where both leave a doubt.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from core.errors import InputError
from core.readings.column_names import (
    is_id_name,
    is_no_reading,
    is_rate,
    is_total,
    kinds,
    words,
)
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError, choose_column
from core.readings.sources import Source

# From the clearest word to the vaguest.
_VALUE_WORDS = ("kwh", "energy", "consumption", "demand", "usage", "load", "value", "reading")


def where(source: Source) -> str:
    """Return the place of the header for people."""
    line = 1 if source.is_parquet else source.layout.header_line
    return f"{source.name}, line {line}" if line else source.name


def require_column(source: Source, name: str, topic: str) -> str:
    """Return a column the user named, as the header spells it."""
    for column in source.columns:
        if column == name or column.lower() == name.strip().lower():
            return column
    near = get_close_matches(name, source.columns, n=3, cutoff=0.5)
    raise choose_column(
        topic,
        f"{where(source)}: there is no column {name!r}; the columns are {listed(source.columns)}",
        near or [column for column in source.columns if column],
    )


def find_id_column(source: Source, options: IngestOptions, taken: Sequence[str]) -> str | None:
    """Find the column of household ids; None where no column looks like one."""
    if options.household_from_file:
        return None
    if options.id_column:
        return require_column(source, options.id_column, "id_column")
    others = [
        column
        for column in source.columns
        if column not in (*taken, *options.ignore_columns) and column
    ]
    candidates = [column for column in others if is_id_name(column)]
    if not candidates:
        candidates = [
            column for column in others if source.contents[column] == "text" and not kinds(column)
        ]
    candidates = _without_equivalents(source, candidates)
    if len(candidates) > 1:
        error = choose_column(
            "id_column",
            f"{where(source)}: the household may be in {listed(candidates)}",
            candidates,
        )
        by_file = Choice("each file is one household", {"household_from_file": True})
        raise UndecidedError("id_column", error.problem, [*error.choices, by_file])
    return candidates[0] if candidates else None


def _without_equivalents(source: Source, candidates: list[str]) -> list[str]:
    """Leave out columns that divide the rows in the same way as one before them."""
    kept: list[str] = []
    divisions: list[tuple[int, ...]] = []
    for column in candidates:
        place = source.place(column)
        numbers: dict[str, int] = {}
        division = tuple(numbers.setdefault(row[place], len(numbers)) for row in source.rows)
        if division not in divisions or not division:
            kept.append(column)
            divisions.append(division)
    # All households in the sample may be one: that does not make their columns equal.
    return (
        kept if not divisions or max(map(max, filter(None, divisions)), default=0) else candidates
    )


def find_value_column(source: Source, options: IngestOptions, taken: Sequence[str]) -> str:
    """Find the one column of demand."""
    if options.value_column:
        return require_column(source, options.value_column, "value_column")
    numbers = number_columns(source, [*taken, *options.ignore_columns])
    numbers = [name for name in numbers if ("export" in kinds(name)) == (options.flow == "export")]
    numbers = [name for name in numbers if source.contents[name] == "number"] or numbers
    if not numbers:
        numbers = _named_columns(source, [*taken, *options.ignore_columns], options.flow)
    if not numbers:
        raise InputError(
            f"{source.name}: no column of numbers beside {listed(taken)}; name a file with "
            "readings, one number per row or per time"
        )
    if len(numbers) > 1:
        numbers = [name for name in numbers if not is_total(name)] or numbers
    flowing = [name for name in numbers if options.flow in kinds(name)]
    if len(flowing) == 1:
        return flowing[0]
    for wanted in _VALUE_WORDS:
        matching = [column for column in numbers if wanted in column.lower()]
        if len(matching) == 1:
            return matching[0]
        numbers = matching or numbers
    if len(numbers) == 1:
        return numbers[0]
    problem = f"{where(source)}: the readings may be in {listed(numbers)}"
    choices = [Choice(name, {"value_column": name}) for name in numbers]
    if all(map(is_rate, numbers)):
        first, *others = numbers
        together = {"value_column": first, "add_columns": tuple(others)}
        choices.insert(0, Choice("all of them, added up", together))
    raise UndecidedError("value_column", problem, choices)


def _named_columns(source: Source, taken: Sequence[str], flow: str) -> list[str]:
    """Return the columns that are readings by their names, many of them unreadable."""
    return [
        column
        for column in source.columns
        if column not in taken
        and not is_no_reading(column)
        and ("export" in kinds(column)) == (flow == "export")
        and any(word in column.lower() for word in _VALUE_WORDS)
        and any(_is_number(row[source.place(column)]) for row in source.rows)
    ]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def number_columns(source: Source, taken: Sequence[str]) -> list[str]:
    """Return the columns of numbers that are not taken and may be readings by their names."""
    return [
        column
        for column in source.columns
        if column not in taken
        and not is_no_reading(column)
        and source.contents[column] in ("number", "empty")
    ]


def is_sum_of_others(source: Source, name: str, others: Sequence[str]) -> bool:
    """Whether a column is the sum of all others in nearly every row of the sample."""
    if len(others) < 2:
        return False
    place, places = source.place(name), [source.place(other) for other in others]
    agreeing = judged = 0
    for row in source.rows[:50]:
        try:
            total = float(row[place].replace(",", "."))
            parts = [float(row[other].replace(",", ".")) for other in places]
        except ValueError:
            continue
        judged += total != 0
        agreeing += total != 0 and abs(total - sum(parts)) <= 0.001 * len(parts) + 1e-6 * abs(total)
    return judged >= 10 and agreeing >= 0.95 * judged


def time_like(name: str) -> bool:
    """Whether a name speaks of time."""
    return bool(
        {"time", "date", "datetime", "timestamp", "ts", "epoch", "unix", "utc", "unixtime",
         "clock", "hhmm", "datum", "zeit", "zeitstempel", "t"} & set(words(name))
    )  # fmt: skip


def listed(names: Sequence[str]) -> str:
    """Return a few names in words."""
    shown = ", ".join(repr(name) for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"
