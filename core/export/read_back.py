"""Back from a file to the run that it shows.

The file may come from anybody. Nothing in it is run or rendered, no more of it is looked at than
a description can take, and what is found is checked as any other config is.
"""

import html
import io
import json
import mmap
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from core.errors import InputError
from core.export.provenance import KEY, MAX_BYTES, Provenance
from core.runs.config import RunConfig

KINDS = (".png", ".svg", ".pdf", ".html", ".parquet", ".json", ".zip")

_Bytes = bytes | mmap.mmap

_PNG = b"\x89PNG\r\n\x1a\n"
_PARQUET = b"PAR1"
# Comes before the drawing in SVG, and the head of a page comes before all else.
_HEAD = 1 << 16
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def read_config(source: bytes | str | Path) -> RunConfig:
    """Return the config of the run that an exported file shows, see :func:`read_provenance`."""
    return read_provenance(source).config


def read_provenance(source: bytes | str | Path) -> Provenance:
    """Return where an exported file comes from.

    Parameters
    ----------
    source : bytes or path
        A figure (PNG, SVG, PDF), an interactive map or a report (HTML), a table (Parquet), the
        JSON beside a CSV, or a ZIP that holds such a JSON.

    Raises
    ------
    InputError
        If there is no description of a run in it, or one that cannot be used.
    """
    if isinstance(source, bytes):
        return _read(source)
    path = Path(source)
    if path.suffix.lower() == ".csv":
        path = path.with_name(path.name + ".json")
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return _read(b"")
            # Mapped, not read: a description is a small part of a large file.
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _read(content)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _read(content: _Bytes) -> Provenance:
    description = _find(content)
    if len(description) > MAX_BYTES:
        raise InputError(
            f"the file's description has {len(description):,} bytes; at most {MAX_BYTES:,}"
        )
    try:
        told = json.loads(description)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"the file's description cannot be read ({error}); choose a file as Wattfold wrote it"
        ) from None
    return Provenance.from_json(told)


def _find(content: _Bytes) -> bytes | str:
    """The description in a file, as JSON."""
    start = content[:_HEAD]
    found: bytes | str | None
    if start.startswith(_PNG):
        found = _in_png(content)
    elif start.startswith(b"%PDF-"):
        found = _in_pdf(content)
    elif start.startswith(_PARQUET):
        found = _in_parquet(content)
    elif start.startswith(b"PK\x03\x04"):
        found = _in_zip(content)
    elif start.lstrip()[:1] == b"{":
        found = content[: MAX_BYTES + 1]
    elif b"<svg" in start:
        found = _in_svg(content)
    elif b"<html" in start.lower():
        found = _in_html(content)
    else:
        raise InputError(
            "this is no file that Wattfold writes; choose one that ends in "
            f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
        )
    if found is None:
        raise InputError(
            "there is no description of a run in this file; choose one that Wattfold has written "
            "and no other program has changed"
        )
    return found


def _between(content: _Bytes, opening: bytes, closing: bytes) -> bytes | None:
    first = content.find(opening)
    if first < 0:
        return None
    first += len(opening)
    last = content.find(closing, first, first + MAX_BYTES)
    return None if last < 0 else content[first:last]


def _in_svg(content: _Bytes) -> str | None:
    found = _between(content, b"<dc:description>", b"</dc:description>")
    return None if found is None else html.unescape(found.decode("utf-8", "replace"))


def _in_html(content: _Bytes) -> bytes | None:
    return _between(content, f'<script type="application/json" id="{KEY}">'.encode(), b"</script>")


def _in_png(content: _Bytes) -> bytes | None:
    for kind, chunk in _png_chunks(content):
        keyword, _, rest = chunk.partition(b"\0")
        if keyword != b"Description":
            continue
        if kind == b"tEXt":
            return rest.decode("latin-1").encode()
        if kind == b"iTXt" and len(rest) > 2:
            is_packed, text = rest[0], rest[2:].split(b"\0", 2)[-1]
            return _unpack(text) if is_packed else text
    return None


def _png_chunks(content: _Bytes) -> Iterator[tuple[bytes, bytes]]:
    """Chunks of text; the others are stepped over."""
    place, end = len(_PNG), len(content)
    while place + 8 <= end:
        size, kind = struct.unpack(">I4s", content[place : place + 8])
        if kind in (b"tEXt", b"iTXt") and size <= MAX_BYTES:
            yield kind, content[place + 8 : place + 8 + size]
        if kind == b"IEND":
            return
        place += 12 + size


def _unpack(packed: bytes) -> bytes | None:
    unpacking = zlib.decompressobj()
    try:
        return unpacking.decompress(packed, MAX_BYTES + 1)
    except zlib.error:
        return None


def _in_pdf(content: _Bytes) -> bytes | str | None:
    """The keywords: a text in parentheses, in which some characters are escaped."""
    first = content.find(b"/Keywords (")
    if first < 0:
        return None
    text, place, depth = bytearray(), first + len(b"/Keywords ("), 1
    # Escapes at most double a text, and two bytes may stand for a character.
    given = content[place : place + 4 * MAX_BYTES]
    for piece in re.finditer(rb"\\(\d{1,3}|\r\n|.)|([()])|([^\\()]+)", given, re.DOTALL):
        escaped, parenthesis, plain = piece.groups()
        if plain is not None:
            text += plain
        elif parenthesis is not None:
            depth += 1 if parenthesis == b"(" else -1
            if depth == 0:
                break
            text += parenthesis
        elif escaped.isdigit():
            text.append(int(escaped, 8) & 0xFF if not set(escaped) & set(b"89") else 0x3F)
        elif escaped not in (b"\n", b"\r", b"\r\n"):  # a line that goes on
            text += _ESCAPES.get(escaped, escaped)
    else:
        return None
    return text.decode("utf-16", "replace") if text[:2] == b"\xfe\xff" else bytes(text)


def _in_parquet(content: _Bytes) -> bytes | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = struct.unpack("<I", content[-8:-4])[0] if len(content) > 12 else 0
    if content[-4:] != _PARQUET or size > 4 * MAX_BYTES:
        return None
    try:
        metadata = pq.read_metadata(pa.BufferReader(pa.py_buffer(content))).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return None
    found: bytes | None = metadata.get(KEY.encode())
    return found


def _in_zip(content: _Bytes) -> bytes | None:
    try:
        with zipfile.ZipFile(io.BytesIO(content[:])) as archive:
            for member in archive.infolist()[:100]:
                if member.filename.endswith(".csv.json"):
                    with archive.open(member) as file:
                        # The size that a member claims is its own word.
                        return file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError):
        return None
    return None
