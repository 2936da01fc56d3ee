"""What a user may say about the files to ingest; everything else is found out."""

from dataclasses import dataclass
from typing import Literal

Stamp = Literal["start", "end"]


@dataclass(frozen=True, kw_only=True)
class IngestOptions:
    """How to read the files; ``None`` and empty mean: find out.

    Attributes
    ----------
    format : str
        A name in ``FORMATS``, or ``auto``.
    id_column, value_column : str, optional
        Names in the header. For NEM12 the value column is the register, such as ``E1``.
    time_columns : tuple of str
        One column, or a date and a time column.
    ignore_columns : tuple of str
        Columns of a wide table that are no households.
    time_format : str, optional
        As for ``strptime``, such as ``%d/%m/%Y %H:%M``.
    stamp : {"start", "end"}, optional
        Which end of the interval a time marks; by default what the format says.
    timezone : str, optional
        An IANA name such as ``Europe/Dublin``: gives the days on which the clocks change.
    interval_minutes : int, optional
        Households with another interval are then rejected, not refused.
    allow_negative : bool
        Keep negative readings (net export).
    allocation : str, optional
        CER only: the file that says which meters are residential.
    """

    format: str = "auto"
    id_column: str | None = None
    time_columns: tuple[str, ...] = ()
    value_column: str | None = None
    ignore_columns: tuple[str, ...] = ()
    time_format: str | None = None
    stamp: Stamp | None = None
    timezone: str | None = None
    interval_minutes: int | None = None
    allow_negative: bool = False
    allocation: str | None = None
