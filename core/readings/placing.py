"""Staged rows on the time grid, in kWh, sorted: what is left to reject is rejected here."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pandas as pd

from core.progress import Progress
from core.readings.cleaning import Readings
from core.readings.column_names import is_total
from core.readings.dataset import ROW_GROUP_SIZE
from core.readings.intervals import Grid
from core.readings.measure import Measure
from core.readings.options import IngestOptions
from core.readings.staging import FILE_SHIFT, IGNORED, Staging

_GRID_TOLERANCE_SECONDS = 60
_BATCH_ROWS = 8 * ROW_GROUP_SIZE

# What meters and databases write for "no value", and the power beyond which no home's reading is
# one of these numbers by chance: a fuse of 100 A at 230 V.
_CODES = (
    999, 9999, 99999, 999999, 9999999, 99999999, 999999999, 999.99, 999.999, 9999.99, 9999.999,
    32767, 32768, 65535, 65536, 2147483647, 2147483648, 4294967295, 4294967296, 1e30, 1e38,
)  # fmt: skip
_FUSE_KW = 23.0


def strip_ids(staging: Staging) -> None:
    """Strip tabs and other blanks from ids; one of nothing else is no household.

    Of millions of readings there are few ids, so it is done once for each of them.
    """
    ids = [row[0] for row in staging.query("SELECT DISTINCT id FROM staged WHERE id IS NOT NULL")]
    for name in ids:
        if (stripped := name.strip()) != name:
            staging.connection.execute(
                """UPDATE staged SET id = nullif($stripped, ''), reason = coalesce(reason,
                    CASE WHEN $stripped = '' THEN 'missing household'::reason END)
                WHERE id = $name""",
                {"name": name, "stripped": stripped},
            )


def place(
    staging: Staging,
    grid: Grid,
    measure: Measure,
    options: IngestOptions,
    *,
    stamp: str,
) -> None:
    """Define the view ``placed``: staged rows on the grid and in kWh, or with their reason."""
    seconds = 60 * grid.interval_minutes
    shift = seconds if stamp == "end" else 0
    totals = _total_households(grid)
    staging.connection.execute("CREATE OR REPLACE TABLE left_out (id VARCHAR, reason reason)")
    for names, reason in ((grid.others, "other interval"), (totals, "total household")):
        if names:
            staging.connection.execute(
                "INSERT INTO left_out SELECT unnest($names), $reason::reason",
                {"names": sorted(names), "reason": reason},
            )
    left_out = ""
    if grid.others or totals:
        left_out = """WHEN id IN (SELECT id FROM left_out)
            THEN (SELECT any_value(l.reason) FROM left_out AS l WHERE l.id = on_grid.id)"""
    kwh = measure.kwh_sql("value", grid.interval_minutes)
    # DuckDB keeps the order of rows within a file, not that of the files.
    row = "rowid" if len(staging.files) == 1 else f"(file::BIGINT << {FILE_SHIFT}) + rowid"
    # A register is judged by its differences, later.
    bounds = "" if measure.cumulative else _bounds(measure, grid.interval_minutes, options)
    staging.connection.execute(f"""
        CREATE OR REPLACE VIEW placed AS
        SELECT row, id, kwh, file, line, raw, grid_second - {shift} AS second,
            CASE WHEN reason IS NOT NULL THEN reason
                {left_out}
                WHEN abs(second - grid_second) > {_GRID_TOLERANCE_SECONDS}
                    THEN 'time off the grid'::reason
                {bounds}
            END AS reason, time
        FROM (SELECT *, (second + {seconds // 2}) // {seconds} * {seconds} AS grid_second
            FROM (SELECT {row} AS row, *, {kwh} AS kwh, epoch(time)::BIGINT AS second
                FROM staged)) AS on_grid
    """)


def _bounds(measure: Measure, interval_minutes: int, options: IngestOptions) -> str:
    """Return the SQL that rejects codes for no value, and what no connection carries."""
    hours = interval_minutes / 60
    power = hours if measure.unit in ("kW", "W") else 1.0
    codes = {code * kilo * power for code in _CODES for kilo in (1.0, 1e-3, 1e3)}
    meant = sorted(code for code in codes if code > _FUSE_KW * hours)
    return f"""
        WHEN abs(kwh) > {min(_FUSE_KW, options.maximum_kw) * hours!r} THEN CASE
            WHEN abs(kwh) IN ({", ".join(map(repr, meant))}) THEN 'code for no value'::reason
            WHEN abs(kwh) > {options.maximum_kw * hours!r}
                THEN 'beyond the physical bound'::reason END"""


def _total_households(grid: Grid) -> frozenset[str]:
    """Return the ids that are those of sums, where there are households beside them."""
    totals = frozenset(name for name in grid.counts if is_total(name))
    return totals if len(totals) < len(grid.counts) else frozenset()


def number_households(staging: Staging) -> pd.DataFrame:
    """Number the households in the order of their ids; count what was rejected of each."""
    ignored = ", ".join(f"'{reason}'" for reason in IGNORED)
    staging.connection.execute(f"""
        CREATE OR REPLACE TABLE households AS
        SELECT *, (row_number() OVER (ORDER BY id) - 1)::INTEGER AS code
        FROM (SELECT id, count(*) - count(reason) FILTER (reason IN ({ignored})) AS input,
                count(reason) FILTER (reason NOT IN ({ignored})) AS rejected
            FROM placed WHERE id IS NOT NULL GROUP BY id)
        WHERE input > 0
    """)
    return staging.connection.execute(
        "SELECT id AS household, input, rejected FROM households ORDER BY code"
    ).df()


def sorted_chunks(staging: Staging, progress: Progress, *, with_rows: bool) -> Iterator[Readings]:
    """Yield the usable readings, sorted, in chunks of whole households."""
    progress(0.0, "sorting")
    row = ", row" if with_rows else ""
    relation = staging.connection.sql(f"""
        SELECT code, second, kwh{row} FROM placed JOIN households USING (id)
        WHERE reason IS NULL ORDER BY code, second, row
    """)
    reader = staging.watch(lambda: relation.to_arrow_reader(_BATCH_ROWS), progress)
    first = staging.watch(lambda: next(reader, None), progress)
    waiting: list[Readings] = []
    for batch in chain([first] if first else [], reader):
        arrays = Readings(*(column.to_numpy(zero_copy_only=False) for column in batch.columns))
        # The last household of a batch may go on in the next one.
        end = int(np.searchsorted(arrays.household, arrays.household[-1]))
        if end > 0:
            yield join([*waiting, arrays.take(slice(0, end))])
            waiting = []
        waiting.append(arrays.take(slice(end, None)))
    if waiting:
        yield join(waiting)


def join(parts: list[Readings]) -> Readings:
    """Return readings one after the other."""
    rows = [part.row for part in parts if part.row is not None]
    return Readings(
        np.concatenate([part.household for part in parts]),
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.kwh for part in parts]),
        np.concatenate(rows) if rows else None,
    )
