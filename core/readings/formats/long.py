"""Any table with one reading a row: a household, a time and a value."""

from collections.abc import Sequence
from pathlib import PurePath

from core.readings.columns import (
    find_id_column,
    find_time_columns,
    find_value_column,
)
from core.readings.expressions import Cell, id_cell, reading_select, time_cell, value_cell
from core.readings.formats.base import Format
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging, scan


def recognises(source: Source) -> bool:
    """Take whatever no other format took, so that its errors say what is missing."""
    return True


def stage(source: Source, staging: Staging, options: IngestOptions) -> None:
    """Stage the readings of the columns that are named or found."""
    time = find_time_columns(source, options.time_columns)
    named = [name for name in (options.id_column, options.value_column) if name]
    household = find_id_column(source, options.id_column, [*time, *named])
    value = find_value_column(
        source, options.value_column, [*time, *options.ignore_columns, *filter(None, [household])]
    )
    stage_columns(source, staging, options, id=household, time=time, value=value)


def stage_columns(
    source: Source,
    staging: Staging,
    options: IngestOptions,
    *,
    id: str | None,
    time: Sequence[str],
    value: str,
) -> None:
    """Stage the readings of known columns; without an id column the file is one household."""
    table, parameters = scan(source)
    times = time_cell(source, time, staging, options)
    parameters |= times.parameters
    if id is None:
        household = Cell("$household", "$household")
        parameters["household"] = PurePath(source.name.rpartition(":")[2]).name.partition(".")[0]
        staging.notice(
            f"{source.name} has no column of households; its readings are those of "
            f"{parameters['household']!r}"
        )
    else:
        household = id_cell(source, id)
    select = reading_select(
        table,
        id=household,
        time=times,
        value=value_cell(source, value),
        allow_negative=options.allow_negative,
    )
    staging.insert(source, select, parameters, header_lines=0 if source.is_parquet else 1)


FORMAT = Format(
    name="long",
    title="One reading a row",
    help="a table with columns of households, times (or dates and times) and values, "
    "guessed or named; times mark the start",
    recognises=recognises,
    stage=stage,
)
