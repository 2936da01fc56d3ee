"""Where parsed readings wait to be sorted: a DuckDB database that lives as long as one ingest.

DuckDB parses, sorts and spills to the disk, so the size of the input is not bounded by memory.
Rows of a file keep the order in which they were read (DuckDB's ``rowid``), which decides between
conflicting duplicates and gives every reading its line.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import InputError
from core.progress import Progress, silent
from core.readings.bomb_guard import MEMORY_LIMIT, NOTHING_FETCHED
from core.readings.sources import Source
from core.readings.table_file import MAXIMUM_LINE_BYTES, TableFile

if TYPE_CHECKING:
    import duckdb

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
    "code for no value",
    "beyond the physical bound",
    "half-hour 49 or 50",
    "other register",
    "not residential",
    "other interval",
    "total row",
    "total household",
    "no such period",
)
# Rows and cells that are no readings: listed, but no part of the accounts.
IGNORED = ("total row", "total household", "no such period")

# The place of a reading in the input: the number of its file, then its row in the table.
FILE_SHIFT = 40

_WATCH_SECONDS = 0.1

_SCHEMA = f"""
CREATE TYPE reason AS ENUM ({", ".join(f"'{reason}'" for reason in REASONS)});
CREATE TABLE staged (
    id VARCHAR,        -- the household; NULL when unknown
    time TIMESTAMP,    -- as written in the source; NULL when unknown
    value DOUBLE,      -- in kWh, or kW, or a unit that is not known yet
    file INTEGER,      -- the number of the file
    reason reason,     -- why the reading is rejected; NULL when it is not
    line BIGINT,       -- where the source knows the line of each reading
    raw VARCHAR        -- the text of a rejected reading
);
"""


@dataclass
class StagedFile:
    """How the rows of a file became rows of the staging table."""

    file: TableFile
    skipped_lines: int = 1
    rows_per_line: int = 1
    malformed_lines: list[int] = field(default_factory=list)


@dataclass
class Staging:
    """The staging table and what was put into it.

    ``files`` are those of the whole ingest, by number; ``households`` are their names as
    households; ``limit`` is the number of rows to take of each source, all where it is None.
    """

    connection: "duckdb.DuckDBPyConnection"
    progress: Progress = silent
    files: list[StagedFile] = field(default_factory=list)
    households: list[str] = field(default_factory=list)
    limit: int | None = None
    malformed: list[tuple[str, int, str]] = field(default_factory=list)  # file, line, text
    _notices: dict[str, list[str]] = field(default_factory=dict)

    def notice(self, text: str, file: str = "") -> None:
        """Remember something the user should know, of one file or of all."""
        self._notices.setdefault(text, []).append(file)

    @property
    def notices(self) -> list[str]:
        """What the user should know; the same of many files is said once."""
        said = []
        for text, files in self._notices.items():
            named = [file for file in dict.fromkeys(files) if file]
            if not named:
                said.append(text)
            elif len(named) == 1:
                said.append(f"{named[0]}: {text}")
            else:
                said.append(f"{len(named):,} files, such as {named[0]}: {text}")
        return said

    def insert(
        self,
        source: Source,
        select: str,
        parameters: Mapping[str, Any],
        *,
        skipped_lines: int | None = None,
        rows_per_line: int = 1,
    ) -> None:
        """Append the readings of one source: a SELECT of the staging table's columns."""
        limit = f"LIMIT {self.limit}" if self.limit else ""
        with readable_errors(source.name):
            self.watch(
                lambda: self.connection.execute(
                    f"INSERT INTO staged BY NAME {select} {limit}", dict(parameters)
                ),
                self.progress,
            )
        if skipped_lines is None:
            skipped_lines = 0 if source.is_parquet else source.layout.skipped_lines
        for file in source.files:
            staged = self.files[file.number]
            staged.skipped_lines = skipped_lines
            staged.rows_per_line = rows_per_line
        self._take_malformed()

    def watch(self, work: Callable[[], Result], progress: Progress) -> Result:
        """Let DuckDB work while progress is told; whoever stops it interrupts DuckDB."""
        with ThreadPoolExecutor(max_workers=1) as background:
            future = background.submit(work)
            percent = 0.0
            try:
                while not future.done():
                    wait([future], timeout=_WATCH_SECONDS)
                    percent = max(percent, self.connection.query_progress())
                    progress(percent / 100)
            except BaseException:
                self.connection.interrupt()
                raise
            return future.result()

    def query(self, sql: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        return self.connection.execute(sql, dict(parameters or {})).fetchall()

    def discard_malformed(self) -> None:
        """Forget the malformed lines of the last scan."""
        self.connection.execute(
            "DROP TABLE IF EXISTS malformed; DROP TABLE IF EXISTS malformed_scans"
        )

    def _take_malformed(self) -> None:
        """Collect the lines that DuckDB could not divide into columns."""
        tables = {row[0] for row in self.query("SELECT table_name FROM duckdb_tables()")}
        if "malformed" not in tables:
            return
        rows = self.query(
            """SELECT file_path, line, any_value(csv_line)
            FROM malformed JOIN malformed_scans USING (scan_id, file_id)
            GROUP BY file_path, line ORDER BY file_path, line"""
        )
        self.discard_malformed()
        numbers = {str(each.file.path): number for number, each in enumerate(self.files)}
        for path, line, text in rows:
            staged = self.files[numbers[path]]
            staged.malformed_lines.append(line)
            self.malformed.append((staged.file.name, line, (text or "").strip()))


@contextmanager
def open_staging(directory: Path, *, threads: int | None = None) -> Iterator[Staging]:
    """Open an empty staging database in a directory that the caller removes."""
    import duckdb

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
        # Where nobody seems to read a file, DuckDB draws a bar of its own into standard output.
        connection.execute("SET enable_progress_bar = false")
        connection.execute(_SCHEMA)
        yield Staging(connection)


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Turn DuckDB's errors into one line that names the file."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        first_line = str(error).splitlines()[0]
        raise InputError(f"{name} cannot be read or sorted: {first_line}") from error


def text_scan(
    source: Source,
    *,
    delimiter: str | None = None,
    skipped_lines: int | None = None,
    columns: int | None = None,
) -> tuple[str, dict[str, Any]]:
    """SQL that scans a text table into VARCHAR columns ``c0``, ``c1`` …, and its parameters.

    Columns go by position, so no name that a user chose is ever part of the SQL. Lines with too
    few or too many cells are set aside in the table ``malformed``.
    """
    count = columns or len(source.columns)
    types = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(count))
    skip = source.layout.skipped_lines if skipped_lines is None else skipped_lines
    scan = f"""read_csv($path, columns = {{{types}}}, auto_detect = false, delim = $delimiter,
        quote = '"', escape = '"', header = false, skip = {skip}, compression = $compression,
        max_line_size = {MAXIMUM_LINE_BYTES}, ignore_errors = true, store_rejects = true,
        rejects_table = 'malformed', rejects_scan = 'malformed_scans', rejects_limit = 0)"""
    return _numbered(scan, source), {
        "path": [str(file.path) for file in source.files],
        "delimiter": delimiter or source.layout.delimiter,
        "compression": "gzip" if source.first.is_gzip else "none",
    }


def parquet_scan(source: Source) -> tuple[str, dict[str, Any]]:
    """SQL that scans Parquet files into columns ``c0``, ``c1`` …, and its parameters."""
    names = [f"c{position}" for position in range(len(source.columns))]
    scan = f"""(SELECT *, file_index FROM read_parquet($path))
        AS t({", ".join([*names, "file_index"])})"""
    return _numbered(scan, source), {"path": [str(file.path) for file in source.files]}


def _numbered(scan: str, source: Source) -> str:
    """Add the number of the file to a scan."""
    first = source.first.number
    if len(source.files) == 1:
        return f"(SELECT *, {first} AS file FROM {scan})"
    return f"(SELECT *, ({first} + file_index)::INTEGER AS file FROM {scan})"


def scan(source: Source) -> tuple[str, dict[str, Any]]:
    """SQL that scans a table with a header, whatever its container."""
    return parquet_scan(source) if source.is_parquet else text_scan(source)
