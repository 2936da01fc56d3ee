"""Where parsed readings wait to be sorted: a DuckDB database that lives as long as one ingest.

DuckDB parses, sorts and spills to the disk, so the size of the input is not bounded by memory.
Rows keep the order in which they were read (DuckDB's ``rowid``), which decides between
conflicting duplicates and gives every reading its line.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from core.errors import InputError
from core.progress import Progress, silent
from core.readings.sources import MAXIMUM_LINE_BYTES, MEMORY_LIMIT, NOTHING_FETCHED, Source

Result = TypeVar("Result")

REASONS = (
    "malformed line",
    "missing household",
    "missing time",
    "unparsable time",
    "time off the grid",
    "missing value",
    "unparsable value",
    "infinite value",
    "negative value",
    "half-hour 49 or 50",
    "other register",
    "not residential",
    "other interval",
)

_WATCH_SECONDS = 0.1

_SCHEMA = f"""
CREATE TYPE reason AS ENUM ({", ".join(f"'{reason}'" for reason in REASONS)});
CREATE TABLE staged (
    id VARCHAR,        -- the household; NULL when unknown
    time TIMESTAMP,    -- as written in the source; NULL when unknown
    kwh DOUBLE,
    reason reason,     -- why the reading is rejected; NULL when it is not
    line BIGINT,       -- where the source knows the line of each reading
    raw VARCHAR        -- the text of a rejected reading
);
"""


@dataclass(frozen=True)
class StagedFile:
    """Which rows of the staging table came from which file."""

    source: Source
    first_row: int
    end_row: int
    header_lines: int
    rows_per_line: int
    malformed_lines: tuple[int, ...]


@dataclass
class Staging:
    """The staging table and what was put into it."""

    connection: duckdb.DuckDBPyConnection
    progress: Progress = silent
    files: list[StagedFile] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    malformed: list[tuple[str, int, str]] = field(default_factory=list)  # file, line, text

    def notice(self, text: str) -> None:
        """Remember something the user should know; said once."""
        if text not in self.notices:
            self.notices.append(text)

    def insert(
        self,
        source: Source,
        select: str,
        parameters: Mapping[str, Any],
        *,
        header_lines: int = 1,
        rows_per_line: int = 1,
    ) -> None:
        """Append the readings of one source: a SELECT of the staging table's columns."""
        first_row = self.row_count()
        with readable_errors(source.name):
            self.watch(
                lambda: self.connection.execute(
                    f"INSERT INTO staged BY NAME {select}", dict(parameters)
                ),
                self.progress,
            )
        malformed = self._take_malformed(source)
        self.files.append(
            StagedFile(source, first_row, self.row_count(), header_lines, rows_per_line, malformed)
        )

    def watch(self, work: Callable[[], Result], progress: Progress) -> Result:
        """Let DuckDB work while progress is told; whoever stops it interrupts DuckDB."""
        with ThreadPoolExecutor(max_workers=1) as background:
            future = background.submit(work)
            try:
                while not future.done():
                    wait([future], timeout=_WATCH_SECONDS)
                    percent = self.connection.query_progress()
                    progress(max(percent, 0.0) / 100)
            except BaseException:
                self.connection.interrupt()
                raise
            return future.result()

    def row_count(self) -> int:
        """How many rows are staged, malformed lines not among them."""
        return int(self.query("SELECT count(*) FROM staged")[0][0])

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        return self.connection.execute(sql, dict(parameters or {})).fetchall()

    def discard_malformed(self) -> None:
        """Forget the malformed lines of the last scan."""
        self.connection.execute(
            "DROP TABLE IF EXISTS malformed; DROP TABLE IF EXISTS malformed_scans"
        )

    def _take_malformed(self, source: Source) -> tuple[int, ...]:
        """Collect the lines that DuckDB could not divide into columns."""
        tables = {row[0] for row in self.query("SELECT table_name FROM duckdb_tables()")}
        if "malformed" not in tables:
            return ()
        rows = self.query(
            "SELECT line, any_value(csv_line) FROM malformed GROUP BY line ORDER BY 1"
        )
        self.discard_malformed()
        self.malformed += [(source.name, line, (text or "").strip()) for line, text in rows]
        return tuple(line for line, _ in rows)


@contextmanager
def open_staging(directory: Path, *, threads: int | None = None) -> Iterator[Staging]:
    """Open an empty staging database in a directory that the caller removes."""
    config: dict[str, str | bool | int | float | list[str]] = {
        # Results are streamed and sorts spilled, so it bounds the memory of an ingest of any size.
        "memory_limit": MEMORY_LIMIT,
        "threads": threads or os.cpu_count() or 1,
        "temp_directory": str(directory / "spill"),
        **NOTHING_FETCHED,
    }
    with (
        readable_errors("the staged readings"),
        duckdb.connect(str(directory / "staging.duckdb"), config=config) as connection,
    ):
        connection.execute(_SCHEMA)
        yield Staging(connection)


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Turn DuckDB's errors into one line that names the file."""
    try:
        yield
    except duckdb.Error as error:
        first_line = str(error).splitlines()[0]
        raise InputError(f"{name} cannot be read or sorted: {first_line}") from error


def text_scan(
    source: Source, *, delimiter: str | None = None, header: bool = True, columns: int | None = None
) -> tuple[str, dict[str, Any]]:
    """SQL that scans a text table into VARCHAR columns ``c0``, ``c1`` …, and its parameters.

    Columns go by position, so no name that a user chose is ever part of the SQL. Lines with too
    few or too many cells are set aside in the table ``malformed``.
    """
    count = columns or len(source.columns)
    types = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(count))
    scan = f"""read_csv($path, columns = {{{types}}}, auto_detect = false, delim = $delimiter,
        quote = '"', escape = '"', header = {str(header).lower()}, compression = $compression,
        max_line_size = {MAXIMUM_LINE_BYTES}, ignore_errors = true, store_rejects = true,
        rejects_table = 'malformed', rejects_scan = 'malformed_scans', rejects_limit = 0)"""
    return scan, {
        "path": str(source.path),
        "delimiter": delimiter or source.delimiter,
        "compression": "gzip" if source.is_gzip else "none",
    }


def parquet_scan(source: Source) -> tuple[str, dict[str, Any]]:
    """SQL that scans a Parquet file into columns ``c0``, ``c1`` …, and its parameters."""
    names = ", ".join(f"c{position}" for position in range(len(source.columns)))
    return f"(SELECT * FROM read_parquet($path)) AS t({names})", {"path": str(source.path)}


def scan(source: Source) -> tuple[str, dict[str, Any]]:
    """SQL that scans a table with a header, whatever its container."""
    return parquet_scan(source) if source.is_parquet else text_scan(source)
