"""Tables with one row per household and the times across the top."""

from core.errors import InputError
from core.readings.cells import cell_content
from core.readings.columns import find_id_column, listed, where
from core.readings.expressions import Cell, file_id, id_cell, position, reading_select
from core.readings.formats.base import Format, Plan, column_roles
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging, scan
from core.readings.time_parsing import parse_texts
from core.readings.values import describe_values

_FEWEST_TIMES = 20


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether many columns are headed by a date and a time."""
    return len(_times(source)) >= _FEWEST_TIMES


def _times(source: Source) -> list[str]:
    return [name for name in source.columns if cell_content(name) == "datetime"]


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read every cell under a time."""
    columns = _times(source)
    if not columns:
        raise InputError(
            f"{where(source)}: no column is headed by a time among {listed(source.columns)}; "
            "leave the format out to have it recognised"
        )
    texts = [name.replace("T24:00", " 24:00") for name in columns]
    times = parse_texts(texts, source, staging, options)
    others = [name for name in source.columns if name not in columns]
    household = find_id_column(source, options, columns)
    if household is None and not options.household_from_file and others:
        household = others[0]
    id = id_cell(source, household) if household else file_id(staging.households)
    values = describe_values(source, columns, options, staging)
    table, parameters = scan(source)
    cells = ", ".join(f"{position(source, name)}::VARCHAR" for name in columns)
    unpivoted = f"""(SELECT *, unnest($times) AS column_time, unnest($time_texts) AS column_text,
        unnest([{cells}]) AS cell FROM {table})"""
    select = reading_select(
        unpivoted,
        id=id,
        time=Cell("column_text", "column_time"),
        value=Cell("cell", values.sql("cell")),
        allow_negative=options.allow_negative,
    )
    return Plan(
        select=select,
        parameters={**parameters, **id.parameters, "times": times, "time_texts": columns},
        roles=column_roles(source, household=household, value=columns),
        unit=values.stated,
        rows_per_line=len(columns),
    )


FORMAT = Format(
    name="across",
    title="One row per household",
    help="a column of households, then one column per time, headed by date and time; times mark "
    "the start",
    recognises=recognises,
    plan=plan,
)
