"""Parquet files of readings: refused where they would fill the memory, then described."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InputError
from core.readings.bomb_guard import MAXIMUM_RATIO, MEMORY_LIMIT, NOTHING_FETCHED, SMALL_BYTES
from core.readings.parquet_precheck import columns_said, unpacked_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# With more, a block of rows does not fit into the memory that an ingest may use.
MAXIMUM_COLUMNS = 20_000

# What Parquet files say of themselves at their end; thousands of columns take a few megabytes.
_MAXIMUM_FOOTER_BYTES = 16 << 20
# Run lengths pack a reading into less than a bit only where all of them are the same.
_MAXIMUM_ROWS_PER_BYTE = 50
_SMALL_ROWS = 1_000_000


def check_column_count(count: int, name: str) -> None:
    """Refuse a table with more columns than can be read."""
    if count > MAXIMUM_COLUMNS:
        raise InputError(
            f"{name} has {count:,} columns, at most {MAXIMUM_COLUMNS:,} can be read; "
            "divide it, or write one reading per row"
        )


def read_schema(path: Path, name: str) -> "pa.Schema":
    """Return the schema of a Parquet file that is sound."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _check_footer(path, name)
    try:
        file = pq.ParquetFile(path)
        check_column_count(len(file.schema_arrow.names), name)
        _check_contents(path, name, file.metadata)
        return file.schema_arrow
    except (pa.ArrowException, OSError) as error:
        raise _damaged(name, error) from error


def read_first_rows(path: Path, name: str, count: int) -> list[list[str]]:
    """Return the first rows of a Parquet file as text."""
    import duckdb
    import pyarrow as pa

    # By DuckDB, since Arrow knows no limit: one long text in a dictionary may be all of them.
    try:
        with duckdb.connect(
            config={"memory_limit": MEMORY_LIMIT, "threads": 1, **NOTHING_FETCHED}
        ) as connection:
            table = connection.sql(
                f"SELECT * FROM read_parquet($path) LIMIT {count}", params={"path": str(path)}
            ).to_arrow_table()
        columns = [column.to_pylist() for column in table.columns]
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{name} has rows that take over {MEMORY_LIMIT}, which no readings do; write it anew "
            "with shorter texts"
        ) from error
    except (duckdb.Error, pa.ArrowException, ValueError, OverflowError) as error:
        raise _damaged(name, error) from error
    texts = [["" if v is None else str(v) for v in column] for column in columns]
    return [list(row) for row in zip(*texts, strict=True)]


def _damaged(name: str, error: Exception) -> InputError:
    first_line = str(error).splitlines()[0].rstrip(".")
    return InputError(
        f"{name} is no whole Parquet file ({first_line}); it may have been cut short: fetch it "
        "again"
    )


def _check_footer(path: Path, name: str) -> None:
    """Refuse a Parquet file before its description of itself fills the memory."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, io.SEEK_END) - 8))
        length = int.from_bytes(file.read(4), "little")
        if file.read(4) != b"PAR1" or length + 8 > file.tell():
            raise _damaged(name, ValueError("its end is missing"))
        if length > _MAXIMUM_FOOTER_BYTES:
            raise InputError(
                f"{name} describes itself in {length / 1e6:.0f} MB, which no table of readings "
                "does; write it with fewer columns or larger row groups"
            )
        file.seek(-8 - length, io.SEEK_END)
        try:
            columns = columns_said(file)
        except ValueError as error:
            raise _damaged(name, error) from error
    check_column_count(columns, name)


def _check_contents(path: Path, name: str, metadata: "pq.FileMetaData") -> None:
    """Refuse a Parquet file that grows as no readings do."""
    packed = path.stat().st_size
    try:
        unpacked = unpacked_bytes(path, metadata)
    except ValueError as error:
        raise _damaged(name, error) from error
    if unpacked > MAXIMUM_RATIO * max(packed, SMALL_BYTES) or metadata.num_rows > max(
        _SMALL_ROWS, _MAXIMUM_ROWS_PER_BYTE * packed
    ):
        raise InputError(
            f"{name} unpacks to {metadata.num_rows:,} rows and {unpacked / 1e6:.0f} MB from "
            f"{packed / 1e6:.2f} MB, which no table of readings does; write it anew if it is sound"
        )
