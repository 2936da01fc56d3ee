"""Texts that are not in UTF-8: UTF-16 as Excel and Windows write it, and Windows-1252."""

import codecs
import io
import shutil
from pathlib import Path

from core.errors import InputError
from core.readings.table_file import TableFile

_HEADER_LINES = 5


def find_encoding(file: TableFile) -> str | None:
    """Return the encoding that a text has to be read by; None where it is UTF-8.

    Lines further down that are not UTF-8 are damaged and rejected one by one; a header that is
    not says that the whole file is in another encoding.
    """
    start = file.text_start
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for encoding, place in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros, others = start[place::2], start[1 - place :: 2]
        if len(zeros) > 8 and zeros.count(0) > 0.9 * len(zeros) and others.count(0) == 0:
            return encoding
    try:
        b"\n".join(start.split(b"\n")[:-1][:_HEADER_LINES]).decode("utf-8")
    except UnicodeDecodeError:
        return None if b"\0" in start else "cp1252"
    return None


def write_as_utf8(file: TableFile, encoding: str, target: Path) -> None:
    """Write a text again in UTF-8."""
    errors = "replace" if encoding == "cp1252" else "strict"
    with file.open() as packed, target.open("w", encoding="utf-8", newline="") as text:
        decoded = io.TextIOWrapper(packed, encoding=encoding, errors=errors, newline="")
        try:
            shutil.copyfileobj(decoded, text, 1 << 20)
        except UnicodeError as error:
            raise InputError(
                f"{file.name} begins as a text in UTF-16 and goes on otherwise ({error}); save it "
                "as CSV in UTF-8"
            ) from error
