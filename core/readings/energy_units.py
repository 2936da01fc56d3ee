"""Units of energy and power: where a file names them, and which one the values' size suggests."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Quantity = Literal["energy", "power"]

# A home uses at least half a kWh a day and at most 200; the median of many certainly does.
PLAUSIBLE_DAILY_KWH = (0.5, 200.0)


@dataclass(frozen=True)
class Unit:
    """A unit; values are brought to kWh, or kW where they are power, by ``sql``."""

    name: str
    quantity: Quantity
    kilo: float

    def sql(self, value: str) -> str:
        """Return the SQL of a value in kWh or kW; dividing by 1000 rounds as decimals do."""
        if self.kilo == 1:
            return value
        return f"({value}) / {1 / self.kilo:g}" if self.kilo < 1 else f"({value}) * {self.kilo:g}"

    def daily_kwh(self, daily_sum: float, interval_minutes: int) -> float:
        """Return kWh a day where the values of a day add up to ``daily_sum``."""
        hours = interval_minutes / 60 if self.quantity == "power" else 1.0
        return daily_sum * self.kilo * hours


UNITS = {
    unit.name: unit
    for unit in (
        Unit("kWh", "energy", 1.0),
        Unit("Wh", "energy", 1e-3),
        Unit("MWh", "energy", 1e3),
        Unit("kW", "power", 1.0),
        Unit("W", "power", 1e-3),
    )
}

_SPELLINGS = {
    "kWh": r"kilo[- ]?watt[- ]?hours?|kwhr?s?|kw[ ·*./-]?h(?:r|rs|our)?",
    "MWh": r"mega[- ]?watt[- ]?hours?|mwhr?",
    "Wh": r"watt[- ]?hours?|wh",
    "kW": r"kilo[- ]?watts?|kw",
    "W": r"watts?|w",
}
_EXACT = {
    name: re.compile(rf"[\[(]?\s*(?:{spelling})\s*[\])]?", re.IGNORECASE)
    for name, spelling in _SPELLINGS.items()
}
_IN_BRACKETS = {
    name: re.compile(rf"[\[(]\s*(?:{spelling})\s*[\])]", re.IGNORECASE)
    for name, spelling in _SPELLINGS.items()
}
_IN_NAME = {
    name: re.compile(rf"(?<![a-z])(?:{spelling})(?![a-z])", re.IGNORECASE)
    for name, spelling in _SPELLINGS.items()
}
# A unit may end a word, as in energykWh and powerKW.
_AT_END = {
    "kWh": re.compile(r"kwh", re.IGNORECASE),
    "MWh": re.compile(r"(?<=[a-z])MWh$|mwh$"),
    "Wh": re.compile(r"(?<=[a-z])Wh$"),
    "kW": re.compile(r"(?<=[a-z])k[Ww]$"),
}
_POWER_WORD = re.compile(r"power|watt|leistung|puissance|potencia", re.IGNORECASE)
_POWER_SYMBOL = re.compile(r"(?<![a-z])p(?![a-z])", re.IGNORECASE)
_ENERGY_WORD = re.compile(r"energ", re.IGNORECASE)
_EITHER_WORD = re.compile(r"(?<![a-z])load(?![a-z])", re.IGNORECASE)


def exact_unit(cell: str) -> str | None:
    """Return the unit that a text is, with or without brackets, and nothing else."""
    text = cell.strip()
    return next((name for name, spelling in _EXACT.items() if spelling.fullmatch(text)), None)


def unit_in_name(name: str) -> tuple[str | None, str]:
    """Return the unit that a column's name holds, and the name without it."""
    for patterns in (_IN_BRACKETS, _IN_NAME, _AT_END):
        for unit, pattern in patterns.items():
            match = pattern.search(name)
            if match is None or not _is_meant(unit, match[0], name, patterns is _IN_BRACKETS):
                continue
            rest = name[: match.start()] + " " + name[match.end() :]
            return unit, re.sub(r"[\s_.,:;/-]*\(\s*\)|^[\s_.,:;/-]+|[\s_.,:;/-]+$", "", rest)
    return exact_unit(name), name


def _is_meant(unit: str, text: str, name: str, in_brackets: bool) -> bool:
    """Whether a short text is a unit there: W may be an initial, WH a water heater."""
    if in_brackets or unit not in ("W", "Wh") or text.lower().startswith("watt"):
        return True
    if unit == "Wh":
        return text != "WH" or _ENERGY_WORD.search(name) is not None
    return bool(_POWER_WORD.search(name) or _POWER_SYMBOL.search(name) or name.strip() in "Ww")


def quantity_in_name(name: str) -> Quantity | None:
    """Return whether a name speaks of power or of energy."""
    if _POWER_WORD.search(name):
        return "power"
    return "energy" if _ENERGY_WORD.search(name) else None


def may_be_power(name: str) -> bool:
    """Whether a name without a unit is used for power as often as for energy."""
    return quantity_in_name(name) is None and _EITHER_WORD.search(name) is not None


def is_plausible(daily_kwh: float) -> bool:
    """Whether a home may use so much a day."""
    low, high = PLAUSIBLE_DAILY_KWH
    return low <= daily_kwh <= high


def plausible_units(
    daily_sum: float, interval_minutes: int, quantity: Quantity | None
) -> tuple[str, ...]:
    """Return the units under which the values of a day make sense for a home."""
    candidates: Iterable[str] = ("kWh", "kW", "Wh", "W")
    return tuple(
        name
        for name in candidates
        if quantity in (None, UNITS[name].quantity)
        and is_plausible(UNITS[name].daily_kwh(daily_sum, interval_minutes))
    )
