"""What a user may say about the files to ingest; everything else is found out.

Every choice is one field. The command line, the import dialog and the cure of an error all read
the fields from here.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from core.errors import InputError

Stamp = Literal["start", "end"]
Flow = Literal["import", "export"]

# A large power station; what is beyond is no reading, whatever the user says.
LARGEST_MAXIMUM_KW = 1e6

ENERGY_UNITS = ("kWh", "Wh", "MWh", "kW", "W")


def _choice(default: Any, flag: str, help: str, **argument: Any) -> Any:
    """Describe a field; ``argument`` is what the command line's parser needs beside the help."""
    return field(default=default, metadata={"flag": flag, "help": help, "argument": argument})


@dataclass(frozen=True, kw_only=True)
class IngestOptions:
    """How to read the files; ``None`` and empty mean: find out.

    Attributes
    ----------
    format : str
        A name in ``FORMATS``, or ``auto``.
    sheets : tuple of str
        Which sheets of a workbook to read.
    id_column, value_column : str, optional
        Names in the header. For NEM12 the value column is the register, such as ``E1``.
    add_columns : tuple of str
        Columns that are added to the value column, such as off-peak beside peak.
    household_from_file : bool
        Each file is one household, named by the file, whatever its columns say.
    time_columns : tuple of str
        One column, or a date and a time column.
    ignore_columns : tuple of str
        Columns that are neither households nor readings.
    time_format : str, optional
        As for ``strptime``, such as ``%d/%m/%Y %H:%M``.
    decimal : {".", ","}, optional
        What separates the whole from the fraction; the other one separates thousands.
    energy_unit : {"kWh", "Wh", "MWh", "kW", "W"}, optional
        The unit of the values.
    cumulative : bool, optional
        Whether the values are a running register, of which demand is the difference.
    flow : {"import", "export"}
        What to read where energy flows both ways.
    stamp : {"start", "end"}, optional
        Which end of the interval a time marks; by default what the format says.
    timezone : str, optional
        An IANA name such as ``Europe/Dublin``: gives the days on which the clocks change, and the
        place whose wall clock times with an offset are converted to.
    interval_minutes : int, optional
        Households with another interval are then rejected, not refused.
    allow_negative : bool
        Keep negative readings (net export).
    maximum_kw : float
        Readings that need more power than that on average are rejected.
    allocation : str, optional
        CER only: the file that says which meters are residential.
    """

    format: str = _choice("auto", "--format", "")
    sheets: tuple[str, ...] = _choice(
        (), "--sheet", "a sheet of the workbook; may be given again", action="append",
        metavar="NAME",
    )  # fmt: skip
    id_column: str | None = _choice(None, "--id-column", "the column of households", metavar="NAME")
    household_from_file: bool = _choice(
        False, "--household-from-file", "each file is one household, named by the file",
        action="store_true",
    )  # fmt: skip
    time_columns: tuple[str, ...] = _choice(
        (), "--time-column", "the column of times; give it twice for a date and a time column",
        action="append", metavar="NAME",
    )  # fmt: skip
    value_column: str | None = _choice(
        None, "--value-column", "the column of readings", metavar="NAME"
    )
    add_columns: tuple[str, ...] = _choice(
        (), "--add-column", "a column to add to that of readings, such as off-peak beside peak; "
        "may be given again", action="append", metavar="NAME",
    )  # fmt: skip
    ignore_columns: tuple[str, ...] = _choice(
        (), "--ignore-column", "a column that is neither a household nor a reading; may be given "
        "again", action="append", metavar="NAME",
    )  # fmt: skip
    time_format: str | None = _choice(
        None, "--time-format", "how times are written, as %%d/%%m/%%Y %%H:%%M", metavar="FORMAT"
    )
    decimal: Literal[".", ","] | None = _choice(
        None, "--decimal", "what separates the whole from the fraction (default: found out)",
        choices=[".", ","],
    )  # fmt: skip
    energy_unit: str | None = _choice(
        None, "--energy-unit", "the unit of the values (default: what the file says, or what "
        "their size says)", choices=list(ENERGY_UNITS),
    )  # fmt: skip
    cumulative: bool | None = _choice(
        None, "--cumulative", "whether the values are a running register, of which demand is the "
        "difference (default: found out)", action="boolean",
    )  # fmt: skip
    flow: Flow = _choice(  # noqa: RUF009 (it is a field)
        "import", "--flow", "what to read where energy flows both ways (default: import)",
        choices=["import", "export"],
    )  # fmt: skip
    stamp: Stamp | None = _choice(  # noqa: RUF009 (it is a field)
        None, "--stamp", "which end of its interval a time marks (default: what the file or the "
        "format says)", choices=["start", "end"],
    )  # fmt: skip
    timezone: str | None = _choice(
        None, "--timezone", "where the meters are, as Europe/Dublin: gives the days on which "
        "clocks change", metavar="ZONE",
    )  # fmt: skip
    interval_minutes: int | None = _choice(
        None, "--interval", "take this interval and reject households with another (default: "
        "found out)", type=int, metavar="MINUTES",
    )  # fmt: skip
    allow_negative: bool = _choice(
        False, "--allow-negative", "keep negative readings (net export)", action="store_true"
    )
    maximum_kw: float = _choice(
        1000.0, "--maximum-kw", "reject readings that need more power than that on average "
        "(default: 1000)", type=float, metavar="KW",
    )  # fmt: skip
    allocation: str | None = _choice(
        None, "--allocation", "cer: the table that says which meters are residential",
        metavar="FILE",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if not 0 < self.maximum_kw <= LARGEST_MAXIMUM_KW:
            raise InputError(
                f"the largest power of a reading must be over 0 and at most "
                f"{LARGEST_MAXIMUM_KW:,.0f} kW, got {self.maximum_kw:g}; a home has under 100"
            )

    def said(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        defaults = asdict(IngestOptions())
        return {key: value for key, value in asdict(self).items() if value != defaults[key]}


_FLAGS: dict[str, str] = {each.name: each.metadata["flag"] for each in fields(IngestOptions)}


def as_arguments(options: Mapping[str, Any]) -> list[str]:
    """Return options as the command line takes them."""
    arguments: list[str] = []
    for name, value in options.items():
        flag = _FLAGS[name]
        if isinstance(value, bool):
            arguments.append(flag if value else f"--no-{flag.removeprefix('--')}")
        else:
            values: Iterable[Any] = value if isinstance(value, tuple) else (value,)
            arguments += [part for each in values for part in (flag, str(each))]
    return arguments


def as_command(options: Mapping[str, Any]) -> str:
    """Return options as a person types them."""
    return shlex.join(as_arguments(options))
