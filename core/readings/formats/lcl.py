"""Low Carbon London: one row per half-hour, with the household in ``LCLid``."""

from core.errors import InputError
from core.readings.columns import listed
from core.readings.formats.base import Format, Plan
from core.readings.formats.long import plan_columns
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging
from core.readings.time_columns import TimeColumns

_TIME_NAMES = ("DateTime", "tstp")
_VALUE_NAMES = ("KWH/hh (per half hour)", "energy(kWh/hh)")


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether the header names the columns of the trial."""
    return "LCLid" in source.columns and None not in (
        _first(source, _TIME_NAMES),
        _first(source, _VALUE_NAMES),
    )


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read demand; the tariff and Acorn columns are left aside."""
    time, value = _first(source, _TIME_NAMES), _first(source, _VALUE_NAMES)
    if "LCLid" not in source.columns or time is None or value is None:
        raise InputError(
            f"{source.name}, line 1: LCL needs the columns LCLid, DateTime or tstp, and "
            f"{_VALUE_NAMES[0]!r} or {_VALUE_NAMES[1]!r}; it has "
            f"{listed(source.columns)}; leave the format out to have it recognised"
        )
    return plan_columns(
        source, staging, options, id="LCLid", time=TimeColumns((time,)), value=value
    )


def _first(source: Source, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in source.columns), None)


FORMAT = Format(
    name="lcl",
    title="Low Carbon London",
    help="CSV with LCLid, DateTime or tstp, and kWh per half-hour; times mark the start",
    recognises=recognises,
    plan=plan,
)
