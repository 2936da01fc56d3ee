"""Where a command writes its tables, and the points of a run as one."""

from pathlib import Path
from typing import Any

import pandas as pd

from core.errors import InputError
from core.export import Provenance
from core.export.table_files import FORMATS, write_frame
from core.runs import Run

__all__ = ["FORMATS", "destination", "json_rows", "write_frame", "write_table"]


def write_table(run: Run, path: Path) -> None:
    """Write a run's table with what it takes to make the run again."""
    write_frame(run.table(), path, Provenance.of(run).to_json())


def json_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON has them: what is not there is null."""
    rows = table.astype(object).where(table.notna(), None)
    return [dict(row) for row in rows.to_dict("records")]


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
