"""The points of a run as a file, with the config that made it."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core import atomic
from core.errors import InputError
from core.runs import Run

FORMATS = (".parquet", ".csv")

# The key of the config in the metadata of a Parquet file.
METADATA_KEY = b"wattfold"

# A spreadsheet takes a cell that starts so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_table(run: Run, path: Path) -> None:
    """Write a run's table with what it takes to make the run again, see :func:`write_frame`."""
    write_frame(run.table(), path, describe(run))


def write_frame(table: pd.DataFrame, path: Path, description: dict[str, Any]) -> None:
    """Write a table, whole or not at all, and a description of where it comes from.

    Parquet carries the description in its metadata under ``wattfold``; CSV, which cannot, has a
    file ``NAME.csv.json`` beside it.
    """
    if path.suffix.lower() == ".parquet":
        arrow = pa.Table.from_pandas(table, preserve_index=False)
        metadata = {**(arrow.schema.metadata or {}), METADATA_KEY: json.dumps(description).encode()}
        with atomic.new_file(path) as temporary:
            pq.write_table(arrow.replace_schema_metadata(metadata), temporary, compression="zstd")
    else:
        with atomic.new_file(path) as temporary:
            defuse(table).to_csv(temporary, index=False)
        atomic.write_json(path.with_name(path.name + ".json"), description)


def destination(flag: str, text: str | None, suffixes: tuple[str, ...]) -> Path | None:
    """Read the name of a file to write; raise where it cannot be, before the work is done."""
    if text is None:
        return None
    path = Path(text)
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{flag} {text} must end in {', '.join(suffixes[:-1])} or {suffixes[-1]}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{flag} {text}: there is no directory {path.parent}; make it first")
    if path.is_dir():
        raise InputError(f"{flag} {text} is a directory; name a file")
    return path


def describe(run: Run) -> dict[str, Any]:
    """Return what it takes to make a run again."""
    return {
        "wattfold": version("wattfold"),
        "dataset": run.dataset_digest,
        "config": run.config.to_json(),
    }


def defuse(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before texts that a spreadsheet would run as a formula.

    Numbers stay what they are, also those that are written in a column of texts.
    """
    safe = table.rename(columns=_defuse_text)
    for place, (_, column) in enumerate(table.items()):
        if not pd.api.types.is_numeric_dtype(column.dtype) and not (
            pd.api.types.is_datetime64_any_dtype(column.dtype)
        ):
            texts = column.map(_defuse_text, na_action="ignore")
            safe.isetitem(place, texts)
    return safe


def _defuse_text(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
