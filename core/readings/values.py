"""The values of a table: their unit, how they are written, and which rows are another register."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.readings.cells import is_missing
from core.readings.column_names import EXPORT_CODES, IMPORT_CODES, kinds
from core.readings.columns import where
from core.readings.energy_units import (
    UNITS,
    Quantity,
    exact_unit,
    may_be_power,
    quantity_in_name,
    unit_in_name,
)
from core.readings.expressions import Cell, position
from core.readings.number_style import NumberStyle, find_number_style
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source
from core.readings.staging import Staging, readable_errors, scan


@dataclass(frozen=True)
class StatedUnit:
    """The unit that a file states, where it does, and where it states it.

    ``unit`` is None where only the quantity is known, or nothing at all; ``per_row`` says that a
    column holds the unit of each row, and this is the usual one; ``either`` that the values are
    called what power is called as often as energy.
    """

    unit: str | None = None
    quantity: Quantity | None = None
    because: str = ""
    per_row: bool = False
    either: bool = False


@dataclass(frozen=True)
class Values:
    """How cells become kWh or kW, or numbers whose unit is decided later."""

    style: NumberStyle
    stated: StatedUnit

    def sql(self, text: str) -> str:
        """Return the SQL of a value."""
        number = self.style.sql(text)
        if self.stated.unit is None or self.stated.per_row or self.style.cell_unit is not None:
            return number
        return UNITS[self.stated.unit].sql(number)


def describe_values(
    source: Source, columns: Sequence[str], options: IngestOptions, staging: Staging
) -> Values:
    """Find out how the values of one or many columns are written, and in which unit."""
    cells = [
        cell
        for name in columns[:500]
        for cell in source.column(name)[: 20_000 // len(columns) + 20]
    ]
    if not source.is_parquet and options.decimal is None and all(map(_is_whole, cells)):
        cells += _separated_cells(source, columns, staging)
    style = find_number_style(
        cells, where=where(source), decimal=options.decimal, energy_unit=options.energy_unit
    )
    return Values(style, _stated(source, columns, style, options))


def _is_whole(cell: str) -> bool:
    return is_missing(cell) or cell.strip().lstrip("+-").isdecimal()


def _separated_cells(source: Source, columns: Sequence[str], staging: Staging) -> list[str]:
    """Return examples of numbers with points or commas from anywhere in a table.

    Homes that use little come first by chance; what separates thousands shows in others. One
    example per shape, such as ``1.011``: how many there are says nothing about how they are
    written. Shapes of less than a hundredth of these numbers are left out: typing errors.
    """
    table, parameters = scan(source)
    cells = ", ".join(f"trim({position(source, name)}::VARCHAR)" for name in columns)
    with readable_errors(source.name):
        found = staging.watch(
            lambda: staging.query(
                f"""SELECT min(cell) AS example
                FROM (SELECT unnest([{cells}]) AS cell FROM {table})
                WHERE regexp_full_match(cell, '[-+]?\\d+[., ’''\\x{{a0}}\\x{{202f}}][\\d.,]+')
                GROUP BY regexp_replace(cell, '[1-9]', '1', 'g')
                QUALIFY count(*) >= 0.01 * sum(count(*)) OVER ()
                ORDER BY example""",
                parameters,
            ),
            staging.progress,
        )
    staging.discard_malformed()
    return [cell for (cell,) in found]


def _stated(
    source: Source, columns: Sequence[str], style: NumberStyle, options: IngestOptions
) -> StatedUnit:
    if options.energy_unit:
        return _as_stated(options.energy_unit, "said by the user")
    if style.cell_unit:
        return _as_stated(style.cell_unit, "written in the cells")
    if column := unit_column(source, columns):
        unit = _usual_unit(source, column)
        because = f"written in column {column!r}"
        return StatedUnit(unit, UNITS[unit].quantity, because, per_row=True)
    found: dict[str, list[str]] = {}
    for name in columns:
        stated = exact_unit(source.unit_below(name)) or unit_in_name(name)[0]
        if stated:
            found.setdefault(stated, []).append(name)
    if len(found) > 1:
        raise UndecidedError(
            "ignore_columns",
            f"{where(source)}: columns are in different units ("
            + ", ".join(f"{names[0]!r} in {unit}" for unit, names in found.items())
            + "); those of one unit can be read at a time, and the others appended",
            [
                Choice(
                    f"read those in {unit}",
                    {
                        "ignore_columns": (
                            *options.ignore_columns,
                            *(name for name in columns if name not in names),
                        )
                    },
                )
                for unit, names in found.items()
            ],
        )
    if found:
        [(unit, names)] = found.items()
        is_below = exact_unit(source.unit_below(names[0])) is not None
        place = "the row below the header" if is_below else f"the column's name {names[0]!r}"
        return _as_stated(unit, place)
    quantities = {quantity_in_name(name) for name in columns}
    if len(quantities) == 1 and (quantity := quantities.pop()):
        return StatedUnit(None, quantity, f"the column's name {columns[0]!r}")
    return StatedUnit(either=all(map(may_be_power, columns)))


def _as_stated(unit: str, because: str) -> StatedUnit:
    return StatedUnit(unit, UNITS[unit].quantity, because)


def value_cell(source: Source, column: str, values: Values) -> Cell:
    """Return the SQL of a reading in one column, with a unit from another where there is one."""
    text = f"{position(source, column)}::VARCHAR"
    # Numbers in Parquet need no detour through text.
    is_number = values.style == NumberStyle() and source.is_parquet
    number = values.sql(position(source, column) if is_number else text)
    return Cell(text, with_row_unit(source, number, [column], values))


def with_row_unit(source: Source, number: str, columns: Sequence[str], values: Values) -> str:
    """Bring a number to kWh or kW by a column of units, where the table has one."""
    column = unit_column(source, columns) if values.stated.per_row else None
    if column is None:
        return number
    cases = " ".join(
        f"WHEN '{name.lower()}' THEN {unit.sql(number)}"
        for name, unit in UNITS.items()
        if unit.quantity == values.stated.quantity
    )
    return f"CASE lower(trim({position(source, column)}::VARCHAR)) {cases} END"


def unit_column(source: Source, taken: Sequence[str]) -> str | None:
    """Return the column that holds a unit for every row."""
    for name in source.columns:
        if name not in taken and "unit" in kinds(name) and source.contents[name] == "text":
            cells = source.column(name)
            if sum(exact_unit(cell) is not None for cell in cells) > len(cells) / 3:
                return name
    return None


def _usual_unit(source: Source, column: str) -> str:
    units = Counter(unit for cell in source.column(column) if (unit := exact_unit(cell)))
    return units.most_common(1)[0][0]


def other_register_rows(
    source: Source, values: Values, taken: Sequence[str], options: IngestOptions
) -> tuple[str, dict[str, list[str]]]:
    """Return SQL that rejects the rows of other registers: export, reactive energy."""
    reasons, parameters = "", {}
    column = unit_column(source, taken) if values.stated.per_row else None
    if column:
        known = [n.lower() for n, u in UNITS.items() if u.quantity == values.stated.quantity]
        cell = f"lower(trim({position(source, column)}::VARCHAR))"
        reasons += f"WHEN NOT list_contains($units, {cell}) THEN 'other register' "
        parameters["units"] = known
    for name in source.columns:
        if name in taken or "direction" not in kinds(name) or source.contents[name] != "text":
            continue
        codes = {_code(cell) for cell in source.column(name)}
        if codes & (IMPORT_CODES | EXPORT_CODES):
            wanted = IMPORT_CODES if options.flow == "import" else EXPORT_CODES
            cell = f"regexp_replace(lower({position(source, name)}::VARCHAR), '[\\s_]', '', 'g')"
            reasons += f"WHEN NOT list_contains($flow, {cell}) THEN 'other register' "
            parameters["flow"] = sorted(wanted)
            break
    return reasons, parameters


def _code(cell: str) -> str:
    return "".join(cell.lower().replace("_", " ").split())
