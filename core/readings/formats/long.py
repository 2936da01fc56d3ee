"""Any table with one reading per row: a household, a time and a value."""

from core.readings.columns import find_id_column, find_value_column, require_column
from core.readings.expressions import reading_select, sum_cell
from core.readings.formats.base import Format, Plan, column_roles, household_cell
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging, scan
from core.readings.time_columns import TimeColumns, find_time_columns
from core.readings.time_parsing import time_cell
from core.readings.values import describe_values, other_register_rows, value_cell


def recognises(source: Source, options: IngestOptions) -> bool:
    """Take whatever no other format took, so that its errors say what is missing."""
    return True


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read the columns that are named or found."""
    time = find_time_columns(source, options)
    named = [name for name in (options.id_column, options.value_column) if name]
    household = find_id_column(source, options, [*time.columns, *named])
    value = find_value_column(source, options, [*time.columns, *filter(None, [household])])
    return plan_columns(source, staging, options, id=household, time=time, value=value)


def plan_columns(
    source: Source,
    staging: Staging,
    options: IngestOptions,
    *,
    id: str | None,
    time: TimeColumns,
    value: str,
) -> Plan:
    """Plan to read known columns; without an id column each file is one household."""
    table, parameters = scan(source)
    added = [require_column(source, name, "add_columns") for name in options.add_columns]
    values = describe_values(source, [value, *added], options, staging)
    times, stamp, because = time_cell(source, time, staging, options)
    taken = [*time.columns, value, *added, *filter(None, [id])]
    reasons, codes = other_register_rows(source, values, taken, options)
    household = household_cell(source, id, staging)
    select = reading_select(
        table,
        id=household,
        time=times,
        value=sum_cell([value_cell(source, name, values) for name in [value, *added]]),
        allow_negative=options.allow_negative,
        extra_reason=reasons,
    )
    return Plan(
        select=select,
        parameters={**parameters, **household.parameters, **times.parameters, **codes},
        roles=column_roles(source, household=id, time=time.columns, value=[value, *added]),
        unit=values.stated,
        stamp=stamp,
        stamp_because=because,
    )


FORMAT = Format(
    name="long",
    title="One reading per row",
    help="a table with columns of households, times (or dates and times) and values, guessed or "
    "named; without a column of households each file is one; times mark the start",
    recognises=recognises,
    plan=plan,
)
