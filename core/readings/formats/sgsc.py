"""Smart Grid Smart City, Australia: general supply beside controlled load and generation."""

from core.readings.columns import require_column
from core.readings.formats.base import Format, Plan
from core.readings.formats.long import plan_columns
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging
from core.readings.time_columns import TimeColumns

_COLUMNS = ("CUSTOMER_ID", "READING_DATETIME", "GENERAL_SUPPLY_KWH")


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether the header names the columns of the trial, in upper or lower case."""
    return set(_COLUMNS) <= {column.upper() for column in source.columns}


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read general supply, or the column the user names instead."""
    household, time, supply = _COLUMNS
    return plan_columns(
        source,
        staging,
        options,
        id=require_column(source, household, "id_column"),
        time=TimeColumns((require_column(source, time, "time_columns"),)),
        value=require_column(source, options.value_column or supply, "value_column"),
    )


FORMAT = Format(
    name="sgsc",
    title="Smart Grid Smart City",
    help="CSV with CUSTOMER_ID, READING_DATETIME and GENERAL_SUPPLY_KWH; times mark the start, "
    "or the end where they are written as 00:29:59",
    recognises=recognises,
    plan=plan,
)
