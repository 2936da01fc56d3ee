"""Excel workbooks: the sheet that holds readings becomes a text table, row for row.

openpyxl reads row by row in bounded memory, and with defusedxml it refuses entities. (A reader
that loads a sheet as one block, as calamine does, takes the whole memory for two cells that are
far apart: dimastbk/python-calamine#130.)
"""

import csv
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.readings.bomb_guard import BROKEN_ARCHIVE, MAXIMUM_RATIO, SMALL_BYTES
from core.readings.cells import cell_content
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError

_WORKBOOK = "xl/workbook.xml"
_JUDGED_ROWS = 60
# Excel knows no longer text, and no more rows.
_MAXIMUM_TEXT = 32_767
_MAXIMUM_ROWS = 1_048_576
_MAXIMUM_EMPTY_ROWS = 10_000
# What a workbook says of its cells' looks and names is small.
_MAXIMUM_PART_BYTES = {"xl/sharedStrings.xml": 256 << 20, "xl/worksheets/": 4 << 30}
_MAXIMUM_OTHER_BYTES = 64 << 20


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is an Excel workbook; one whose list is damaged is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except BROKEN_ARCHIVE:
        return False


def write_sheets(
    path: Path, name: str, folder: Path, options: IngestOptions
) -> Iterator[tuple[Path, str]]:
    """Write the sheets that hold readings as text tables; yield each with its name."""
    _check_parts(path, name)
    with _open(path, name) as workbook:
        sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
        chosen = _choose(sheets, name, options)
        for sheet in chosen:
            target = folder / "sheet.csv"
            _write(sheet, name, target, limit=MAXIMUM_RATIO * max(path.stat().st_size, SMALL_BYTES))
            yield target, f"{name}:{sheet.title}" if len(chosen) > 1 else name


@contextmanager
def _open(path: Path, name: str) -> Iterator[Any]:
    from openpyxl import load_workbook

    try:
        workbook = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            yield workbook
        finally:
            workbook.close()
    except (InputError, MemoryError):
        raise
    except Exception as error:
        # openpyxl lets through whatever a damaged part makes its parsers raise.
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"{name} cannot be read as an Excel workbook ({reason}); save it anew, or as CSV"
        ) from error


def _check_parts(path: Path, name: str) -> None:
    """Refuse a workbook whose parts unpack to more than any workbook of readings has."""
    with zipfile.ZipFile(path) as archive:
        packed = path.stat().st_size
        for part in archive.infolist():
            sizes = [size for start, size in _MAXIMUM_PART_BYTES.items()
                     if part.filename.startswith(start)]  # fmt: skip
            limit = sizes[0] if sizes else _MAXIMUM_OTHER_BYTES
            ratio = MAXIMUM_RATIO * max(min(part.compress_size, packed), SMALL_BYTES)
            if part.file_size > min(limit, ratio):
                raise InputError(
                    f"{name}:{part.filename} unpacks to {part.file_size / 1e6:.0f} MB from "
                    f"{part.compress_size / 1e6:.2f} MB, which no workbook of readings does; save "
                    "it as CSV if it is sound"
                )


def _choose(sheets: Sequence[Any], name: str, options: IngestOptions) -> list[Any]:
    """Return the sheets that the user named, or the only one that holds readings."""
    titles = [sheet.title for sheet in sheets]
    if options.sheets:
        for wanted in options.sheets:
            if wanted not in titles:
                raise UndecidedError(
                    "sheets",
                    f"{name} has no sheet {wanted!r}; it has {', '.join(titles[:10])}",
                    [Choice(title, {"sheets": (title,)}) for title in titles],
                )
        return [sheet for sheet in sheets if sheet.title in options.sheets]
    tables = [sheet for sheet in sheets if _holds_readings(sheet)]
    if len(tables) == 1 or len(sheets) == 1:
        return tables or list(sheets)
    if not tables:
        raise InputError(
            f"{name}: none of its sheets ({', '.join(titles[:10])}) has times and numbers; name a "
            "workbook with readings"
        )
    choices = [Choice(sheet.title, {"sheets": (sheet.title,)}) for sheet in tables]
    everything = tuple(sheet.title for sheet in tables)
    raise UndecidedError(
        "sheets",
        f"{name}: the readings may be in the sheets {', '.join(everything[:10])}",
        [*choices, Choice("all of them", {"sheets": everything})],
    )


def _holds_readings(sheet: Any) -> bool:
    """Whether a sheet has several rows with a time and a number each."""
    rows = [[cell_content(_text(cell)) for cell in row] for row in islice(_rows(sheet), 200)]
    fitting = sum(
        "number" in row and bool({"date", "datetime", "clock"} & set(row)) for row in rows
    )
    return fitting >= 5


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    # What the sheet says of its own size may be wrong, and is not needed.
    sheet.reset_dimensions()
    yield from sheet.iter_rows(values_only=True, max_row=_MAXIMUM_ROWS)


def _write(sheet: Any, name: str, target: Path, limit: int) -> None:
    """Write a sheet as CSV, one line per row."""
    empty = width = size = 0
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in _rows(sheet):
            cells = [_text(cell) for cell in row]
            while cells and not cells[-1]:
                cells.pop()
            empty = 0 if cells else empty + 1
            if empty > _MAXIMUM_EMPTY_ROWS:
                break
            width = max(width, len(cells))
            if cells and width > 1:
                # Empty cells at the end of a row are not kept in a workbook.
                cells += [""] * (width - len(cells))
            size += len(cells) + sum(map(len, cells))
            if size > limit:
                raise InputError(
                    f"{name}:{sheet.title} unpacks to over {limit / 1e6:.0f} MB, which no sheet of "
                    "readings does; save it as CSV if it is sound"
                )
            writer.writerow(cells)


def _text(value: Any) -> str:
    """Return a cell as text: times in ISO format, numbers in full, nothing as nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, datetime):
        # Excel keeps times as fractions of a day, a little off the second.
        rounded = (value + timedelta(milliseconds=500)).replace(microsecond=0)
        return rounded.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        rounded = datetime.combine(date(2000, 1, 1), value) + timedelta(milliseconds=500)
        return f"{rounded:%H:%M:%S}"
    if isinstance(value, timedelta):
        minutes = round(value.total_seconds() / 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return re.sub(r"\s+", " ", str(value)[:_MAXIMUM_TEXT]).strip()
