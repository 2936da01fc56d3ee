"""What a format is: it recognises its files, and plans how their cells become readings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.readings.expressions import Cell, file_id, id_cell
from core.readings.options import IngestOptions, Stamp
from core.readings.sources import Source
from core.readings.staging import Staging
from core.readings.values import StatedUnit
from core.registry import Parameter

KWH = StatedUnit("kWh", "energy", "the format")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How one table becomes readings.

    Attributes
    ----------
    select : str
        SQL that gives the columns of the staging table.
    roles : mapping
        For every column of the table: household, time, value, or why it is ignored.
    unit : StatedUnit
        What the table says of its unit.
    stamp : {"start", "end"}, optional
        Which end of its interval a time marks, where the table says so, because of what.
    skipped_lines : int, optional
        Lines above the first row, where the format knows better than the layout.
    rows_per_line : int
        Readings in a row of the table.
    """

    select: str
    parameters: Mapping[str, Any]
    roles: Mapping[str, str] = field(default_factory=dict)
    unit: StatedUnit = KWH
    stamp: Stamp | None = None
    stamp_because: str = ""
    skipped_lines: int | None = None
    rows_per_line: int = 1


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way in which readings are written down.

    Attributes
    ----------
    recognises : callable
        Whether a source looks like this format; the first format that says yes gets it.
    plan : callable
        Says how the readings of a source get into the staging table.
    stamp : {"start", "end"}
        Which end of its interval a time marks, unless the user or the file says otherwise.
    """

    name: str
    title: str
    help: str
    recognises: Callable[[Source, IngestOptions], bool]
    plan: Callable[[Source, Staging, IngestOptions], Plan]
    stamp: Stamp = "start"
    parameters: tuple[Parameter, ...] = ()


def household_cell(source: Source, column: str | None, staging: Staging) -> Cell:
    """Return the SQL of the household; without a column each file is one, which is said."""
    if column is not None:
        return id_cell(source, column)
    for file in source.files:
        staging.notice("no column of households, so the file's name is the household", file.name)
    return file_id(staging.households)


def column_roles(
    source: Source, **roles: str | tuple[str, ...] | list[str] | None
) -> dict[str, str]:
    """Return the role of every column; those without one are ignored, and say why."""
    from core.readings.column_names import why_ignored

    found: dict[str, str] = {}
    for role, names in roles.items():
        for name in [names] if isinstance(names, str) else names or ():
            found[name] = role
    return {name: found.get(name) or f"ignored: {why_ignored(name)}" for name in source.columns}
