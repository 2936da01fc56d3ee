"""The Irish smart metering trial (CER): lines of meter, day code and kWh.

A day code is five digits: the day, 1 January 2009 being day 1, and the half-hour, 1 to 48. On the
long autumn days there are half-hours 49 and 50. How the trial numbered those days is not
documented, so these two are set aside, as the authors of the paper did.
"""

import re
from pathlib import Path

from core.errors import InputError
from core.readings import columns
from core.readings.expressions import Cell, id_expression, reading_select
from core.readings.formats.base import Format, Plan
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging, text_scan
from core.readings.table_file import TableFile

_LINE = re.compile(r"\d+([ ,;\t])\d{5}\1-?[\d.]+")
_RESIDENTIAL = "1"


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether most lines are a meter, a day code and a number."""
    if source.is_parquet:
        return False
    lines = source.head.splitlines()[:200]
    return sum(_LINE.fullmatch(line.strip()) is not None for line in lines) > len(lines) / 2


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read the meters that are residential, where a file says which are."""
    match = next(filter(None, map(_LINE.match, source.head.splitlines())), None)
    if match is None:
        raise InputError(
            f"{source.name}, line 1: no line of meter, five-digit day code and kWh; leave the "
            "format out to have it recognised"
        )
    table, parameters = text_scan(source, delimiter=match[1], skipped_lines=0, columns=3)
    day, half_hour = "try_cast(left(c1, 3) AS INTEGER)", "try_cast(right(c1, 2) AS INTEGER)"
    time = Cell(
        "c1",
        f"""CASE WHEN length(c1) = 5 AND {day} >= 1 AND {half_hour} BETWEEN 1 AND 50
            THEN TIMESTAMP '2009-01-01' + to_days({day} - 1) + to_minutes(30 * ({half_hour} - 1))
            END""",
    )
    reasons = "WHEN time IS NOT NULL AND right(c1, 2) IN ('49', '50') THEN 'half-hour 49 or 50'"
    if options.allocation:
        _load_residential(options.allocation, staging)
        reasons = f"WHEN id NOT IN (SELECT id FROM residential) THEN 'not residential' {reasons}"
    select = reading_select(
        table,
        id=id_expression("c0"),
        time=time,
        value=Cell("c2", "try_cast(c2 AS DOUBLE)"),
        allow_negative=options.allow_negative,
        extra_reason=reasons,
    )
    return Plan(select=select, parameters=parameters, skipped_lines=0)


def _load_residential(path: str, staging: Staging) -> None:
    """Read the meters whose code is 1, residential, from the trial's allocation table."""
    file = TableFile(Path(path), Path(path).name)
    table = Source((file,))
    try:
        file.check_lines()
        id_column = columns.require_column(table, "ID", "allocation")
        code_column = columns.require_column(table, "Code", "allocation")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    id_cell = id_expression(f"c{table.columns.index(id_column)}")
    code_cell = id_expression(f"c{table.columns.index(code_column)}")
    scan, parameters = text_scan(table)
    staging.connection.execute(
        f"""CREATE OR REPLACE TABLE residential AS
        SELECT DISTINCT {id_cell.value} AS id FROM {scan}
        WHERE {code_cell.value} = $residential AND {id_cell.value} IS NOT NULL""",
        {**parameters, "residential": _RESIDENTIAL},
    )
    staging.discard_malformed()


FORMAT = Format(
    name="cer",
    title="Irish smart metering trial",
    help="text lines of meter, five-digit day code and kWh; times mark the start",
    recognises=recognises,
    plan=plan,
)
