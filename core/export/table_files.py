"""Tables as files: CSV that a spreadsheet cannot run, or Parquet, with where they come from.

Texts that a spreadsheet would take for a formula, because they start with ``=``, ``+``, ``-``,
``@``, a tab or a line break, get an apostrophe before them, and so do texts that start with an
apostrophe, so that one apostrophe less is always the text as it was. Numbers stay what they are,
also those written in a column of texts. :func:`read_csv` takes the apostrophes off again.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core import atomic
from core.errors import InputError
from core.export.provenance import KEY

FORMATS = (".parquet", ".csv")

# The wide forms are what some spreadsheets read as the narrow ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_MARK = "'"


def write_frame(table: pd.DataFrame, path: Path, description: Mapping[str, Any]) -> None:
    """Write a table, whole or not at all, and a description of where it comes from.

    Parquet carries the description in its metadata under ``wattfold``; CSV, which cannot, has a
    file ``NAME.csv.json`` beside it.
    """
    if path.suffix.lower() == ".parquet":
        with atomic.new_file(path) as temporary:
            pq.write_table(_described(table, description), temporary, compression="zstd")
    else:
        with atomic.new_file(path) as temporary:
            _write_csv(table, temporary)
        atomic.write_json(path.with_name(path.name + ".json"), _with_kinds(table, description))


def write_zip(table: pd.DataFrame, path: Path, description: Mapping[str, Any]) -> None:
    """Write a CSV and the JSON beside it as one file ``NAME.zip``, whole or not at all."""
    name = f"{path.stem}.csv"
    told = json.dumps(_with_kinds(table, description), ensure_ascii=False, indent=1)
    with (
        atomic.new_file(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        with (
            archive.open(name, "w", force_zip64=True) as member,
            io.TextIOWrapper(member, encoding="utf-8", newline="") as text,
        ):
            _write_csv(table, text)
        archive.writestr(f"{name}.json", told + "\n")


def read_csv(path: Path) -> pd.DataFrame:
    """Read a CSV that was written here as the table that it was made of.

    An empty text comes back as a missing one.
    """
    beside = path.with_name(path.name + ".json")
    try:
        kinds = json.loads(beside.read_text(encoding="utf-8"))["columns"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{beside} does not tell of the columns of {path.name}") from error
    texts = [f"{_defuse_text(name)}" for name, kind in kinds.items() if kind == "text"]
    table = pd.read_csv(
        path,
        dtype=dict.fromkeys(texts, "str"),
        keep_default_na=False,
        na_values={_defuse_text(name): [""] for name in kinds},
    )
    table = table.rename(columns=_plain_text)
    for name, kind in kinds.items():
        if kind == "text":
            table[name] = table[name].map(_plain_text, na_action="ignore").astype("str")
        elif kind == "time":
            table[name] = pd.to_datetime(table[name])
    return table


def defuse(table: pd.DataFrame) -> pd.DataFrame:
    """Put an apostrophe before texts that a spreadsheet would run as a formula.

    Numbers stay what they are, also those that are written in a column of texts.
    """
    safe = table.rename(columns=_defuse_text)
    for place, (_, column) in enumerate(table.items()):
        if _kind(column) == "text":
            safe.isetitem(place, column.map(_defuse_text, na_action="ignore"))
    return safe


def _defuse_text(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith((*_FORMULA, _MARK)):
        return value
    try:
        float(value)
    except ValueError:
        return _MARK + value
    return value


def _plain_text(value: Any) -> Any:
    return value.removeprefix(_MARK) if isinstance(value, str) else value


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "truth"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "time"
    return "text"


def _with_kinds(table: pd.DataFrame, description: Mapping[str, Any]) -> dict[str, Any]:
    kinds = {str(name): _kind(column) for name, column in table.items()}
    return {**description, "columns": kinds}


def _write_csv(table: pd.DataFrame, to: Path | io.TextIOBase) -> None:
    defuse(table).to_csv(to, index=False, lineterminator="\n", encoding="utf-8")


def _described(table: pd.DataFrame, description: Mapping[str, Any]) -> pa.Table:
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    told = json.dumps(dict(description)).encode()
    return arrow.replace_schema_metadata({**(arrow.schema.metadata or {}), KEY.encode(): told})
