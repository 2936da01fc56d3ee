"""Tables with one column a household and one row an interval."""

from core.errors import InputError
from core.readings.columns import (
    content,
    find_id_column,
    find_time_columns,
    has_decimal_comma,
    is_calendar,
    is_value_name,
    listed,
    number_columns,
    require_column,
)
from core.readings.expressions import Cell, id_expression, position, reading_select, time_cell
from core.readings.formats.base import Format
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging, scan


def recognises(source: Source) -> bool:
    """Whether there are times, no column of ids, and columns of numbers with names of their own."""
    try:
        time = find_time_columns(source, ())
        if find_id_column(source, None, time) is not None:
            return False
    except InputError:
        return False
    numbers = number_columns(source, time)
    return bool(numbers) and not any(map(is_value_name, numbers))


def stage(source: Source, staging: Staging, options: IngestOptions) -> None:
    """Stage every cell of every household's column, row by row."""
    time = find_time_columns(source, options.time_columns)
    ignored = {require_column(source, name, "--ignore-column") for name in options.ignore_columns}
    others = [name for name in source.columns if name not in time and name not in ignored]
    calendar = [name for name in others if is_calendar(name)]
    households = [name for name in others if name not in calendar]
    if calendar:
        staging.notice(f"{source.name}: columns {listed(calendar)} were taken for the calendar")
    if texts := [name for name in households if content(source, name) not in ("number", "empty")]:
        raise InputError(
            f"{source.name}, line 1: columns {listed(texts)} hold no numbers; "
            "leave them out with --ignore-column"
        )
    if not households:
        raise InputError(f"{source.name}, line 1: no column of readings beside {listed(time)}")

    table, parameters = scan(source)
    times = time_cell(source, time, staging, options)
    parameters |= times.parameters | {"households": households}
    cells = ", ".join(f"{position(source, name)}::VARCHAR" for name in households)
    unpivoted = f"""(SELECT *, unnest($households) AS household, unnest([{cells}]) AS cell
        FROM {table})"""
    comma = any(has_decimal_comma(source.column(name)) for name in households)
    number = "replace(cell, ',', '.')" if comma else "cell"
    select = reading_select(
        unpivoted,
        id=id_expression("household"),
        time=times,
        value=Cell("cell", f"try_cast({number} AS DOUBLE)"),
        allow_negative=options.allow_negative,
    )
    staging.insert(
        source,
        select,
        parameters,
        header_lines=0 if source.is_parquet else 1,
        rows_per_line=len(households),
    )


FORMAT = Format(
    name="wide",
    title="One column a household",
    help="a time column, or a date and a time column, then one column a household; calendar "
    "columns are recognised; times mark the start",
    recognises=recognises,
    stage=stage,
)
