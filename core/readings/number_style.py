"""How numbers are written: decimal commas, thousands separators, units in the cell."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.readings.energy_units import UNITS, exact_unit
from core.readings.questions import Choice, UndecidedError

_UNIT_AT_END = re.compile(r"[\d.,]\s*([a-zA-Z]+)\s*$")
_SEPARATED = re.compile(r"^[-+]?\d{1,3}([ '’\u00a0\u202f])\d{3}(\D|$)")
_COMMA_FRACTION = re.compile(r"[-+]?(0|\d*),(\d{1,2}|\d{4,})\s*\D*|[-+]?0?,\d+\s*\D*")
_COMMA_THOUSANDS = re.compile(
    r"[-+]?[1-9]\d{0,2}(,\d{3}){2,}(\.\d+)?|[-+]?[1-9]\d{0,2}(,\d{3})+\.\d*"
)
_COMMA_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}\s*[a-zA-Z]*")
_POINT_EITHER = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}\s*[a-zA-Z]*")
_POINT_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+,\d*|[-+]?[1-9]\d{0,2}(\.\d{3}){2,}")
_SMALL_WHOLE = re.compile(r"[-+]?\d{1,3}(\.\d+)?\s*[a-zA-Z]*")


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a column are written.

    ``grouping`` are the signs that separate thousands; ``cell_unit`` is the unit that most cells
    end with, or None where they are bare or where letters behind them do not count.
    """

    decimal: str = "."
    grouping: str = ""
    cell_unit: str | None = None
    has_letters: bool = False

    def sql(self, text: str) -> str:
        """Return the SQL of a number; cells with units come in kWh or kW."""
        digits = (
            f"rtrim(regexp_replace({text}, '[a-zA-Z]+\\s*$', ''))" if self.has_letters else text
        )
        number = f"try_cast({self._plain(digits)} AS DOUBLE)"
        if self.cell_unit is None:
            return number
        unit = f"lower(regexp_extract({text}, '([a-zA-Z]+)\\s*$', 1))"
        cases = [
            f"WHEN '{name.lower()}' THEN {each.sql(number)}"
            for name, each in UNITS.items()
            if each.quantity == UNITS[self.cell_unit].quantity
        ]
        return f"CASE {unit} {' '.join(cases)} WHEN '' THEN {UNITS[self.cell_unit].sql(number)} END"

    def _plain(self, text: str) -> str:
        for sign in self.grouping:
            quoted = sign.replace("'", "''")
            text = f"replace({text}, '{quoted}', '')"
        return f"replace({text}, ',', '.')" if self.decimal == "," else text


def find_number_style(
    cells: Sequence[str], *, where: str, decimal: str | None, energy_unit: str | None
) -> NumberStyle:
    """Find out how numbers are written; ask where 1,234 may be one or a thousand."""
    units = Counter(
        unit
        for cell in cells
        if (match := _UNIT_AT_END.search(cell)) and (unit := exact_unit(match[1]))
    )
    cell_unit = units.most_common(1)[0][0] if units.total() > len(cells) / 2 else None
    quantities = {UNITS[unit].quantity for unit in units}
    has_letters = cell_unit is not None
    if energy_unit:
        cell_unit = None
    elif cell_unit and len(quantities) > 1:
        raise UndecidedError(
            "energy_unit",
            f"{where}: some cells are power and some energy ({', '.join(units)})",
            [Choice(f"all are {unit}", {"energy_unit": unit}) for unit in units],
        )
    spaces = "".join({match[1] for cell in cells if (match := _SEPARATED.match(cell))})
    found = decimal or _find_decimal(cells, where)
    other = "," if found == "." else "."
    either = {".": _COMMA_EITHER, ",": _POINT_EITHER}[found]
    whole = {".": _COMMA_THOUSANDS, ",": _POINT_THOUSANDS}[found]
    grouped = any(whole.fullmatch(cell) or either.fullmatch(cell) for cell in cells)
    return NumberStyle(found, spaces + (other if grouped else ""), cell_unit, has_letters)


def _find_decimal(cells: Sequence[str], where: str) -> str:
    with_comma = [cell for cell in cells if "," in cell]
    if not with_comma:
        points = any(map(_POINT_THOUSANDS.fullmatch, cells)) or _points_are_thousands(cells)
        return "," if points else "."
    if any(_POINT_THOUSANDS.fullmatch(cell) for cell in with_comma):
        return ","
    if any(_COMMA_THOUSANDS.fullmatch(cell) for cell in with_comma):
        return "."
    if any(_COMMA_FRACTION.fullmatch(cell) for cell in with_comma):
        return ","
    either = [cell for cell in with_comma if _COMMA_EITHER.fullmatch(cell)]
    if not either:
        return "."
    # Where small numbers have no comma, the comma of the large ones separates thousands.
    if any(
        _SMALL_WHOLE.fullmatch(cell) and float(re.sub(r"[^\d.]", "", cell) or 0) for cell in cells
    ):
        return "."
    raise UndecidedError(
        "decimal",
        f"{where}: {either[0]!r} may be {either[0].replace(',', '.')} or "
        f"{either[0].replace(',', '')}",
        [
            Choice("the comma separates the fraction", {"decimal": ","}),
            Choice("the comma separates thousands", {"decimal": "."}),
        ],
    )


def _points_are_thousands(cells: Sequence[str]) -> bool:
    """Whether whole numbers up to 999 stand beside numbers such as 1.234, and nothing else.

    Of numbers with a fraction, some are below one or have another number of digits.
    """
    whole = [int(cell) for cell in cells if cell.isdecimal()]
    points = [cell for cell in cells if "." in cell]
    return (
        bool(points)
        and all(map(_POINT_EITHER.fullmatch, points))
        and len(whole) > len(cells) / 2
        and 100 <= max(whole) < 1000
    )
