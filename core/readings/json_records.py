"""JSON: a list of records, one record per line, or an object that holds one list of records."""

import re
from pathlib import Path

import duckdb

from core.errors import InputError
from core.readings.bomb_guard import MEMORY_LIMIT, NOTHING_FETCHED
from core.readings.table_file import TableFile

_START = re.compile(rb"(\xef\xbb\xbf)?\s*(\{\s*\"|\[\s*\{)")
_AS_TEXT = {"JSON": " ->> '$'"}
_MAXIMUM_RECORD_BYTES = 64 << 20


def is_json(file: TableFile) -> bool:
    """Whether a text begins as a JSON object or a list of them does."""
    return _START.match(file.text_start) is not None


def write_records(file: TableFile, target: Path) -> None:
    """Write the records of a JSON file as Parquet, every value as text."""
    with duckdb.connect(
        config={"memory_limit": MEMORY_LIMIT, "threads": 1, **NOTHING_FETCHED}
    ) as connection:
        try:
            table = f"""read_json($path, format = 'auto', records = true, sample_size = 2000,
                compression = '{"gzip" if file.is_gzip else "none"}',
                maximum_object_size = {_MAXIMUM_RECORD_BYTES}, convert_strings_to_integers = false,
                dateformat = '%x', timestampformat = '%x', maximum_depth = 3)"""
            parameters = {"path": str(file.path)}
            columns = _describe(connection, f"SELECT * FROM {table}", parameters)
            lists = [name for name, kind in columns.items() if re.match(r"STRUCT\(.*\)\[\]", kind)]
            if len(lists) == 1:
                # What an interface answers: a list of records in an object that speaks of it.
                records = f"(SELECT unnest({_quoted(lists[0])}) AS record FROM {table})"
                table = f"(SELECT unnest(record) FROM {records})"
                columns = _describe(connection, f"SELECT * FROM {table}", parameters)
            flat = [name for name, kind in columns.items() if "(" not in kind and "[" not in kind]
            if len(flat) < 2:
                raise InputError(
                    f"{file.name} is JSON, but no list of flat records; write a list of objects "
                    "with a time and a value each, or a CSV file"
                )
            cells = ", ".join(
                f"{_quoted(name)}{_AS_TEXT.get(columns[name], '::VARCHAR')} AS {_quoted(name)}"
                for name in flat
            )
            connection.execute(
                f"COPY (SELECT {cells} FROM {table}) TO '{target}' (FORMAT parquet)", parameters
            )
        except duckdb.Error as error:
            first_line = str(error).splitlines()[0]
            raise InputError(
                f"{file.name} cannot be read as JSON ({first_line}); it may have been cut "
                "short: fetch it again"
            ) from error


def _describe(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: dict[str, str]
) -> dict[str, str]:
    rows = connection.execute(f"DESCRIBE {query}", parameters).fetchall()
    return {row[0]: row[1] for row in rows}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
