"""What is known of households beside their readings: dwelling, tariff, region and so on."""

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pandas as pd

from core.errors import InputError
from core.readings.bomb_guard import MEMORY_LIMIT, NOTHING_FETCHED
from core.readings.cells import MISSING_WORDS
from core.readings.columns import listed
from core.readings.dataset import ACCOUNT_COLUMNS
from core.readings.sources import Source
from core.readings.staging import readable_errors, scan
from core.readings.table_file import TableFile


def read_metadata(
    path: str | Path, households: Sequence[str], *, id_column: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Read a table of metadata, one row per household, in the order of the households given.

    The key is the column named, or the one that holds the most of the households' ids. Returns
    the columns, and what the user should know about households without a row.
    """
    source = _open(Path(path))
    source.first.check_lines()
    sql, parameters = scan(source)
    with (
        readable_errors(source.name),
        duckdb.connect(config={"memory_limit": MEMORY_LIMIT, **NOTHING_FETCHED}) as connection,
    ):
        columns = ", ".join(f"c{position}" for position in range(len(source.columns)))
        table = connection.execute(f"SELECT {columns} FROM {sql}", parameters).df()
    table.columns = pd.Index(source.columns)
    key = _find_key(table, source, households, id_column)
    ids = table[key].map(_plain_id)
    rows = table[ids.isin(set(households))]
    rows.index = pd.Index(ids[rows.index])
    if rows.index.has_duplicates:
        twice = rows.index[rows.index.duplicated()][0]
        raise InputError(f"{source.name} has several rows for household {twice}; keep one of them")
    metadata = rows.drop(columns=[key, *[name for name in source.columns if not name]])
    metadata = metadata.reindex(list(households)).reset_index(drop=True)
    metadata = metadata.apply(_typed)
    # Metadata stays apart from the columns that a dataset has of its own.
    metadata.columns = pd.Index(
        [f"{name} (metadata)" if name in ACCOUNT_COLUMNS else name for name in metadata.columns]
    )
    missing = [household for household in households if household not in rows.index]
    return metadata, [f"{source.name} has no row for {listed(missing)}"] if missing else []


def _open(path: Path) -> Source:
    if not path.is_file():
        raise InputError(f"{path} is no file; name a table of metadata, one row per household")
    return Source((TableFile(path, path.name),))


def _find_key(
    table: pd.DataFrame, source: Source, households: Sequence[str], named: str | None
) -> str:
    if named:
        if named not in source.columns:
            raise InputError(
                f"{source.name}, line 1: there is no column {named!r} of households; "
                f"the columns are {listed(source.columns)}"
            )
        return named
    wanted = set(households)
    matches = {name: len(wanted & set(table[name].map(_plain_id))) for name in source.columns}
    best = max(matches, key=matches.__getitem__)
    if matches[best] == 0:
        raise InputError(
            f"{source.name}: no column holds the household ids (such as {households[0]!r}); "
            "name that column"
        )
    return best


def _plain_id(cell: object) -> str:
    return re.sub(r"^(\d+)\.0+$", r"\1", str(cell).strip())


def _typed(column: pd.Series) -> pd.Series:
    """Turn a column of text into numbers where all of it is numbers; blanks are missing."""
    if not pd.api.types.is_string_dtype(column):
        return column
    text = column.str.strip()
    text = text.mask(text.str.lower().isin(MISSING_WORDS))
    numbers = pd.to_numeric(text, errors="coerce")
    if numbers.isna().equals(text.isna()) and numbers.notna().any():
        return numbers.astype("Int64") if (numbers.dropna() % 1 == 0).all() else numbers
    return text
