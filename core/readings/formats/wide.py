"""Tables with one column per household and one row per interval."""

from core.errors import InputError
from core.readings.column_names import is_quantity, is_total, kinds
from core.readings.columns import (
    find_id_column,
    is_sum_of_others,
    listed,
    number_columns,
    require_column,
    where,
)
from core.readings.energy_units import unit_in_name
from core.readings.expressions import Cell, id_expression, position, reading_select
from core.readings.formats.base import Format, Plan, column_roles
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source
from core.readings.staging import Staging, scan
from core.readings.time_columns import find_time_columns
from core.readings.time_parsing import time_cell
from core.readings.values import describe_values


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether there are times, no column of ids, and columns of numbers with names of their own."""
    if options.id_column or options.value_column:
        return False
    try:
        time = find_time_columns(source, options)
        if options.household_from_file or find_id_column(source, options, time.columns):
            return False
    except InputError:
        return False
    numbers = number_columns(source, [*time.columns, *options.ignore_columns])
    named = [name for name in numbers if not is_quantity(name) and "export" not in kinds(name)]
    # One quantity beside other numbers is a reading; many with names beside are households.
    quantities = [name for name in numbers if is_quantity(name) and not is_total(name)]
    return bool(named) and (not quantities or (len(named) > 1 and len(quantities) != 1))


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read every cell of every household's column, row by row."""
    time = find_time_columns(source, options)
    ignored = {require_column(source, name, "ignore_columns") for name in options.ignore_columns}
    households = _household_columns(source, [*time.columns, *ignored], options)
    names = _names(households)
    values = describe_values(source, households, options, staging)
    table, parameters = scan(source)
    times, stamp, because = time_cell(source, time, staging, options)
    cells = ", ".join(f"{position(source, name)}::VARCHAR" for name in households)
    unpivoted = f"""(SELECT *, unnest($households) AS household, unnest([{cells}]) AS cell
        FROM {table})"""
    select = reading_select(
        unpivoted,
        id=id_expression("household"),
        time=times,
        value=Cell("cell", values.sql("cell")),
        allow_negative=options.allow_negative,
    )
    roles = column_roles(source, time=time.columns, household=households)
    if left := [name for name, role in roles.items() if role.startswith("ignored") and name]:
        staging.notice(f"columns {listed(left)} are no households", source.first.name)
    return Plan(
        select=select,
        parameters={**parameters, **times.parameters, "households": names},
        roles=roles,
        unit=values.stated,
        stamp=stamp,
        stamp_because=because,
        rows_per_line=len(households),
    )


def _household_columns(source: Source, taken: list[str], options: IngestOptions) -> list[str]:
    """Return the columns of households: numbers that are no weather, no price and no sum."""
    numbers = number_columns(source, taken)
    flowing = [name for name in numbers if ("export" in kinds(name)) == (options.flow == "export")]
    plain = [name for name in flowing if not is_total(name)]
    if not plain:
        raise InputError(
            f"{where(source)}: no column of readings beside {listed(taken)}; name a table with "
            "one column per household"
        )
    sums = [
        name
        for name in (plain[0], plain[-1])
        if len(plain) > 2 and is_sum_of_others(source, name, [o for o in plain if o != name])
    ]
    households = [name for name in plain if name not in sums]
    repeated = frozenset() if source.is_parquet else source.layout.repeated
    pairs = ((name.rpartition(" (")[0], name) for name in households if name in repeated)
    for first, twice in pairs:
        if first not in households:
            continue
        raise UndecidedError(
            "ignore_columns",
            f"{where(source)}: two columns are called {first!r}, and a household is one",
            [
                Choice(
                    f"leave {which} one out", {"ignore_columns": (*options.ignore_columns, name)}
                )
                for which, name in (("the second", twice), ("the first", first))
            ],
        )
    return households


def _names(columns: list[str]) -> list[str]:
    """Return the households' names: the columns' without a unit, where they stay distinct."""
    bare = [unit_in_name(name)[1] for name in columns]
    return bare if all(bare) and len(set(bare)) == len(bare) else columns


FORMAT = Format(
    name="wide",
    title="One column per household",
    help="a time column, or a date and a time column, then one column per household; columns of "
    "text, calendar, weather, prices and totals are ignored; times mark the start",
    recognises=recognises,
    plan=plan,
)
