"""Packed texts that grow as no readings do: refused as they are unpacked, wherever that begins."""

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, cast

from core.errors import InputError

# Real tables of readings shrink tenfold or so; one that grows without end is an attack.
MAXIMUM_RATIO = 200
SMALL_BYTES = 1 << 16
# The largest trials have some gigabytes of text; a disk has an end.
MAXIMUM_UNPACKED_BYTES = 1 << 37

# Whatever a file says of itself, DuckDB takes no more memory than that to read it.
MEMORY_LIMIT = "1100MB"
# DuckDB would fetch what it lacks from its makers at run time.
NOTHING_FETCHED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

# What Python's readers of archives raise on a damaged one.
BROKEN_ARCHIVE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, UnicodeDecodeError,
    RuntimeError, EOFError, OSError,
)  # fmt: skip

# So much of a packed text tells how it grows: one that begins as readings do may go on otherwise.
_STRETCH_BYTES = 1 << 24
_BUFFER_BYTES = 1 << 20


class Growth:
    """Compares what was unpacked with what it was unpacked from, stretch by stretch."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._unpacked = 0
        self._stretch_start = (0, 0)

    def add(self, unpacked: int, packed_so_far: int) -> None:
        """Count bytes that were unpacked; refuse them if no text grows like that."""
        self._unpacked += unpacked
        if self._unpacked > MAXIMUM_UNPACKED_BYTES:
            raise InputError(
                f"{self._name} unpacks to over {MAXIMUM_UNPACKED_BYTES / 1e9:.0f} GB; divide it, "
                "or unpack it yourself"
            )
        before, packed_before = self._stretch_start
        large, small = self._unpacked - before, packed_so_far - packed_before
        if large < _STRETCH_BYTES:
            return
        if large > MAXIMUM_RATIO * max(small, SMALL_BYTES):
            raise InputError(
                f"{self._name} unpacks to {large / 1e6:.0f} MB from {small / 1e6:.2f} MB, after "
                f"its first {before / 1e6:.0f} MB, which no table of readings does; unpack it "
                "yourself if it is sound"
            )
        self._stretch_start = self._unpacked, packed_so_far


class _UnpackedText(io.RawIOBase):
    """The text of a gzipped file, read no further than it grows as text does."""

    def __init__(self, path: Path, name: str) -> None:
        self._packed = path.open("rb")
        self._text = gzip.GzipFile(fileobj=self._packed)
        self._name = name
        self._growth = Growth(name)

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or say that the text grows as none does."""
        try:
            count = self._text.readinto(buffer)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self._name} cannot be unpacked: {error}") from error
        self._growth.add(count, self._packed.tell())
        return count

    def close(self) -> None:
        """Close the file, too."""
        self._packed.close()
        super().close()


def open_gzip(path: Path, name: str) -> BinaryIO:
    """Open a gzipped text; reading it raises InputError where it grows as no text does."""
    return cast(BinaryIO, io.BufferedReader(_UnpackedText(path, name), _BUFFER_BYTES))
