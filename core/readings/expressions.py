"""SQL that turns the cells of a table into ids, values and readings.

A cell that cannot be turned gives NULL, and the reading a reason to be rejected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.readings.cells import MISSING_WORDS
from core.readings.sources import Source

# Meters did not exist before; a later year is a slip of the pen.
SENSIBLE_TIME = "time >= TIMESTAMP '1980-01-01' AND time < TIMESTAMP '2100-01-01'"

# What rows are called that add others up; they are ignored, not rejected.
_TOTAL_ROW = (
    "(grand |sub)?-?(total|totals|sum|average|avg|mean|summe|gesamt|somme|totaal|totale|min|max)"
    "( .{0,30})?:?"
)


@dataclass(frozen=True)
class Cell:
    """One cell in SQL: its text, its value, and the parameters both need."""

    text: str
    value: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def position(source: Source, column: str) -> str:
    """Return the SQL name of a column: ``c`` and its place in the header."""
    return f"c{source.place(column)}"


def id_cell(source: Source, column: str) -> Cell:
    """Return the household's id, without blanks, and without the ``.0`` of a float."""
    return id_expression(f"{position(source, column)}::VARCHAR")


def id_expression(text: str) -> Cell:
    """Return an id made of any SQL text; other blanks than spaces are left to ``strip_ids``."""
    return Cell(
        text,
        f"""nullif(CASE WHEN contains({text}, '.0')
            THEN regexp_replace(trim({text}), '^(\\d+)\\.0+$', '\\1') ELSE trim({text}) END, '')""",
    )


def file_id(households: list[str]) -> Cell:
    """Return the household by the file that a row comes from; ``households`` are those of all."""
    household = "$file_households[file + 1]"
    return Cell(household, household, {"file_households": households})


def sum_cell(cells: Sequence[Cell]) -> Cell:
    """Return the sum of several cells, which is there where all of them are."""
    if len(cells) == 1:
        return cells[0]
    texts = ", ".join(cell.text for cell in cells)
    return Cell(f"concat_ws(' + ', {texts})", " + ".join(f"({cell.value})" for cell in cells))


def reading_select(
    table: str,
    *,
    id: Cell,
    time: Cell,
    value: Cell,
    allow_negative: bool,
    extra_reason: str = "",
    line: str = "NULL::BIGINT",
) -> str:
    """Return the SELECT that stages readings, each with its reason where it is rejected.

    ``extra_reason`` is SQL, ``WHEN … THEN …``, that a format puts before the common reasons;
    ``line`` is the SQL of the line where the format knows it better than by counting rows.
    """
    missing = ", ".join(f"'{word}'" for word in MISSING_WORDS)
    negative = "" if allow_negative else "WHEN value < 0 THEN 'negative value'"
    return f"""
        SELECT id, time, value, file, reason::reason AS reason, {line} AS line,
            CASE WHEN reason IS NOT NULL
                THEN left(concat_ws(', ', id_text, time_text, value_text), 200) END AS raw
        FROM (SELECT *, CASE
                {extra_reason}
                WHEN time IS NULL AND ({_is_total("time_text")} OR {_is_total("id_text")})
                    THEN 'total row'
                WHEN id IS NULL THEN 'missing household'
                WHEN time IS NULL THEN
                    CASE WHEN trim(coalesce(time_text, '')) = ''
                        THEN 'missing time' ELSE 'unparsable time' END
                WHEN NOT ({SENSIBLE_TIME}) THEN 'unparsable time'
                WHEN value IS NULL THEN
                    CASE WHEN value_text IS NULL OR lower(trim(value_text)) IN ({missing})
                        THEN 'missing value' ELSE 'unparsable value' END
                WHEN isnan(value) THEN 'missing value'
                WHEN isinf(value) THEN 'infinite value'
                {negative}
            END AS reason
            FROM (SELECT {id.text} AS id_text, {id.value} AS id,
                    {time.text} AS time_text, {time.value} AS time,
                    {value.text} AS value_text, {value.value} AS value, *
                FROM {table}))
    """


def _is_total(text: str) -> str:
    return f"regexp_full_match(lower(trim(coalesce({text}, ''))), '{_TOTAL_ROW}')"
