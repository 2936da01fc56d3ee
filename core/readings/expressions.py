"""SQL that turns the cells of a table into ids, times and values.

A cell that cannot be turned gives NULL, and the reading a reason to be rejected.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pyarrow as pa

from core.errors import InputError
from core.readings.columns import MISSING_WORDS, has_decimal_comma, listed
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging, readable_errors, scan

_ISO = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T]\d{1,2}:\d{2}.*)?")
_OFFSET = re.compile(r".*\d{2}:\d{2}.*(Z|[-+]\d{2}(:?\d{2})?)$")
_DATES = ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y", "%d{0}%b{0}%Y",
          "%d{0}%b{0}%y", "%Y{0}%m{0}%d")  # fmt: skip
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%H%M")

# Meters did not exist before; a later year is a slip of the pen.
_SENSIBLE = "time >= TIMESTAMP '1980-01-01' AND time < TIMESTAMP '2100-01-01'"


@dataclass(frozen=True)
class Cell:
    """One cell in SQL: its text, its value, and the parameters both need."""

    text: str
    value: str
    parameters: dict[str, Any] = field(default_factory=dict)


def position(source: Source, column: str) -> str:
    """Return the SQL name of a column: ``c`` and its place in the header."""
    return f"c{source.place(column)}"


def id_cell(source: Source, column: str) -> Cell:
    """Return the household's id, without blanks, and without the ``.0`` of a float."""
    return id_expression(f"{position(source, column)}::VARCHAR")


def id_expression(text: str) -> Cell:
    """Return an id made of any SQL text."""
    return Cell(
        text,
        f"""nullif(CASE WHEN contains({text}, '.0')
            THEN regexp_replace(trim({text}), '^(\\d+)\\.0+$', '\\1') ELSE trim({text}) END, '')""",
    )


def value_cell(source: Source, column: str) -> Cell:
    """Return a reading in kWh."""
    name = position(source, column)
    if has_decimal_comma(source.column(column)):
        name = f"replace({name}, ',', '.')"
    return Cell(f"{name}::VARCHAR", f"try_cast({name} AS DOUBLE)")


def time_cell(
    source: Source, columns: Sequence[str], staging: Staging, options: IngestOptions
) -> Cell:
    """Return a wall-clock time from one column, or from a date and a time column."""
    names = [position(source, column) for column in columns]
    if len(names) == 1 and source.is_parquet:
        kind = source.parquet_schema.field(columns[0]).type
        if pa.types.is_timestamp(kind):
            zone = options.timezone or "UTC"
            value = names[0] if kind.tz is None else f"timezone($zone, {names[0]}::TIMESTAMPTZ)"
            parameters = {} if kind.tz is None else {"zone": zone}
            return Cell(f"{names[0]}::VARCHAR", f"{value}::TIMESTAMP", parameters)
    text = " || ' ' || ".join(f"trim({name}::VARCHAR)" for name in names)
    samples = [" ".join(cells) for cells in zip(*map(source.column, columns), strict=False)]
    return Cell(text, *_time_parser(text, samples, source, staging, options))


def _time_parser(
    text: str, samples: list[str], source: Source, staging: Staging, options: IngestOptions
) -> tuple[str, dict[str, Any]]:
    if options.time_format:
        return f"try_strptime({text}, $time_format)", {"time_format": options.time_format}
    if not samples:
        raise InputError(f"{source.name} has a header and no readings; name a file with readings")
    if sum(_ISO.fullmatch(sample) is not None for sample in samples) > len(samples) / 2:
        if options.timezone and sum(map(bool, map(_OFFSET.match, samples))) > len(samples) / 2:
            return f"timezone($zone, try_cast({text} AS TIMESTAMPTZ))", {"zone": options.timezone}
        return f"try_cast({text} AS TIMESTAMP)", {}
    formats = _find_formats(text, samples, source, staging)
    return f"try_strptime({text}, $time_formats)", {"time_formats": formats}


def _find_formats(text: str, samples: list[str], source: Source, staging: Staging) -> list[str]:
    """Find the order of day, month and year under which the times can be read."""
    distinct = sorted(set(samples))[:500]
    candidates = [
        [date + joint + clock for joint, clock in product((" ", ":", "T", ""), _CLOCKS)] + [date]
        for date in dict.fromkeys(
            date.format(separator) for date, separator in product(_DATES, ("/", "-", ".", " ", ""))
        )
    ]

    def parsed(formats: list[str]) -> int:
        # %Y reads 20 as the year 20: only a time that makes sense counts.
        query = f"""SELECT count(*) FROM (SELECT try_strptime(unnest($samples), $formats) AS time)
            WHERE {_SENSIBLE}"""
        return int(staging.query(query, {"formats": formats, "samples": distinct})[0][0])

    counts = [parsed(formats) for formats in candidates]
    most = max(counts)
    if most < len(distinct) / 2:
        raise InputError(
            f"{source.name}: times like {samples[0]!r} are not understood; "
            "describe them with --time-format, as '%d/%m/%Y %H:%M'"
        )
    best = [formats for formats, count in zip(candidates, counts, strict=True) if count == most]
    if len(best) > 1:
        best = _decide_on_all_rows(text, best, source, staging)
    if len(best) > 1:
        orders = listed([formats[-1] for formats in best])
        raise InputError(
            f"{source.name}: dates like {samples[0]!r} can be read as {orders}; "
            f"say which with --time-format, as '{best[0][0]}'"
        )
    return best[0]


def _decide_on_all_rows(
    text: str, candidates: list[list[str]], source: Source, staging: Staging
) -> list[list[str]]:
    """Keep the candidates that read the most times of the whole file."""
    table, parameters = scan(source)
    counts = ", ".join(
        f"count(try_strptime(x, $formats_{number}))" for number in range(len(candidates))
    )
    formats = {f"formats_{number}": formats for number, formats in enumerate(candidates)}
    sql = f"SELECT {counts} FROM (SELECT {text} AS x FROM {table})"
    with readable_errors(source.name):
        row = staging.query(sql, {**parameters, **formats})[0]
    staging.discard_malformed()
    return [formats for formats, count in zip(candidates, row, strict=True) if count == max(row)]


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
        SELECT id, time, value AS kwh, reason::reason AS reason, {line} AS line,
            CASE WHEN reason IS NOT NULL
                THEN left(concat_ws(', ', id_text, time_text, value_text), 200) END AS raw
        FROM (SELECT *, CASE
                {extra_reason}
                WHEN id IS NULL THEN 'missing household'
                WHEN time IS NULL THEN
                    CASE WHEN trim(coalesce(time_text, '')) = ''
                        THEN 'missing time' ELSE 'unparsable time' END
                WHEN NOT ({_SENSIBLE}) THEN 'unparsable time'
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
