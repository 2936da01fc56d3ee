"""NEM12, the Australian market's interval meter data.

200 records name a meter and a register, 300 records hold one day of its readings, 400 records
qualify parts of that day. Market time has no daylight saving.
"""

import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from core.readings.columns import listed
from core.readings.expressions import Cell, id_expression, reading_select
from core.readings.formats.base import Format, Plan
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.readings.staging import Staging
from core.readings.table_file import TableFile

_IMPORT, _EXPORT = "E1", "B1"
_KWH_PER_UNIT = {"kwh": 1.0, "wh": 1e-3, "mwh": 1e3}
_NO_DATA = "N"

_BATCH_DAYS = 10_000


def recognises(source: Source, options: IngestOptions) -> bool:
    """Whether the file starts as NEM12 does."""
    return not source.is_parquet and source.head.startswith(("100,NEM12", "200,"))


def plan(source: Source, staging: Staging, options: IngestOptions) -> Plan:
    """Plan to read one register; those of others are set aside."""
    import pyarrow as pa

    schema = pa.schema(
        [
            ("file", pa.int32()),
            ("line", pa.int64()),
            ("nmi", pa.string()),
            ("register", pa.string()),
            ("kwh_per_unit", pa.float64()),
            ("minutes", pa.int64()),
            ("day", pa.string()),
            ("cells", pa.list_(pa.string())),
        ]
    )
    register = options.value_column or {"import": _IMPORT, "export": _EXPORT}[options.flow]
    malformed: list[tuple[str, int, str]] = []
    days = chain.from_iterable(_days(file, malformed) for file in source.files)
    staging.connection.execute(
        """CREATE OR REPLACE TABLE nem12 (file INTEGER, line BIGINT, nmi VARCHAR, register VARCHAR,
        kwh_per_unit DOUBLE, minutes BIGINT, day VARCHAR, cells VARCHAR[])"""
    )
    while batch := list(islice(days, _BATCH_DAYS)):
        staging.connection.register("batch", pa.Table.from_pylist(batch, schema))
        staging.connection.execute("INSERT INTO nem12 SELECT * FROM batch")
        staging.connection.unregister("batch")
    staging.malformed += malformed
    others = staging.query(
        "SELECT DISTINCT register FROM nem12 WHERE register LIKE $alike AND register <> $register "
        "ORDER BY 1",
        {"alike": f"{register[:1]}%", "register": register},
    )
    if others:
        names = listed([name for (name,) in others])
        staging.notice(
            f"the energy of register {register} is read, and that of {names} is not added to it",
            source.first.name,
        )

    table = """(SELECT * EXCLUDE cells, unnest(cells) AS cell,
        unnest(range(len(cells))) AS number FROM nem12)"""
    select = reading_select(
        table,
        id=id_expression("nmi"),
        time=Cell(
            "day || ' interval ' || (number + 1)",
            "try_strptime(day, '%Y%m%d') + to_minutes((number * minutes)::INTEGER)",
        ),
        value=Cell("cell", "try_cast(cell AS DOUBLE) * kwh_per_unit"),
        allow_negative=options.allow_negative,
        extra_reason="WHEN register <> $register OR kwh_per_unit IS NULL THEN 'other register'",
        line="line",
    )
    return Plan(select=select, parameters={"register": register})


def _days(file: TableFile, malformed: list[tuple[str, int, str]]) -> Iterator[dict[str, Any]]:
    """Yield one record per day of readings; note the lines that cannot be used."""
    meter: dict[str, Any] | None = None
    day: dict[str, Any] | None = None
    with file.open() as text:
        lines = io.TextIOWrapper(text, encoding="utf-8-sig", errors="replace", newline="")
        reader = csv.reader(lines)
        for record in reader:
            kind = record[0].strip() if record else ""
            try:
                if kind == "400" and day is not None:
                    _set_aside(day, record)
                    continue
                if day is not None:
                    yield day
                    day = None
                if kind == "200":
                    meter = _meter(record)
                elif kind == "300" and meter is not None:
                    day = {"file": file.number} | _day(record, meter, reader.line_num)
                elif kind not in ("", "100", "500", "900"):
                    raise ValueError
            except (ValueError, IndexError):
                malformed.append((file.name, reader.line_num, ",".join(record)[:200]))
    if day is not None:
        yield day


def _meter(record: list[str]) -> dict[str, Any]:
    minutes = int(record[8])
    if not 0 < minutes <= 1440 or 1440 % minutes:
        raise ValueError
    return {
        "nmi": record[1],
        "register": record[4].strip(),
        "kwh_per_unit": _KWH_PER_UNIT.get(record[7].strip().lower()),
        "minutes": minutes,
    }


def _day(record: list[str], meter: dict[str, Any], line: int) -> dict[str, Any]:
    count = 1440 // meter["minutes"]
    cells, rest = record[2 : 2 + count], record[2 + count :]
    if len(cells) < count or not rest:
        raise ValueError
    if rest[0].startswith(_NO_DATA):
        cells = [""] * count
    return {**meter, "line": line, "day": record[1].strip(), "cells": cells}


def _set_aside(day: dict[str, Any], record: list[str]) -> None:
    """Empty the readings that a 400 record calls missing."""
    first, last = int(record[1]), int(record[2])
    if not 1 <= first <= last <= len(day["cells"]):
        raise ValueError
    if record[3].startswith(_NO_DATA):
        day["cells"][first - 1 : last] = [""] * (last - first + 1)


FORMAT = Format(
    name="nem12",
    title="Australian market data (NEM12)",
    help="100/200/300/400/900 records, register E1 unless another is named as the value column; "
    "times mark the start",
    recognises=recognises,
    plan=plan,
)
