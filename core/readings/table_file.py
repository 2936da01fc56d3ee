"""One file that holds a table: plain or gzipped text in UTF-8, or Parquet."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from core.errors import InputError
from core.readings.bomb_guard import open_gzip

HEAD_BYTES = 1 << 18
_START_BYTES = 1 << 12

# A line of readings has kilobytes at most; a file without line ends must not fill the memory.
MAXIMUM_LINE_BYTES = 4 << 20

# Longer lines than MAXIMUM_LINE_BYTES are set aside, but not those beyond DuckDB's buffer of 16.
_LOST_LINE_BYTES = 8 * MAXIMUM_LINE_BYTES
_BLOCK_BYTES = 1 << 18

_PARQUET = b"PAR1"


@dataclass(frozen=True)
class TableFile:
    """A file to read.

    Attributes
    ----------
    path : Path
        Where the table is, under a name of ours where the user's might confuse DuckDB.
    name : str
        What people call it, in messages and in the manifest.
    origin : Path, optional
        The file that it was made of, where it is another one: a workbook, a text in UTF-16.
    number : int
        Its place among the files of an ingest.
    """

    path: Path
    name: str
    origin: Path | None = None
    number: int = 0

    @property
    def original(self) -> Path:
        """The file as the user has it."""
        return self.origin or self.path

    @cached_property
    def start(self) -> bytes:
        """The first bytes, as they are in the file."""
        with self.path.open("rb") as file:
            return file.read(_START_BYTES)

    @property
    def text_start(self) -> bytes:
        """The first bytes of the text, unpacked."""
        if not self.is_gzip:
            return self.start
        with self.open() as file:
            return file.read(_START_BYTES)

    @property
    def is_parquet(self) -> bool:
        """Whether the file says at its start that it is Parquet."""
        return self.start.startswith(_PARQUET)

    @property
    def is_gzip(self) -> bool:
        """Whether the file says at its start that it is gzipped."""
        return self.start.startswith(b"\x1f\x8b")

    def open(self) -> BinaryIO:
        """Open the text, unpacked, from its start."""
        return open_gzip(self.path, self.name) if self.is_gzip else self.path.open("rb")

    @cached_property
    def head(self) -> str:
        """The first whole lines of a text."""
        return self.first_lines(HEAD_BYTES)

    def first_lines(self, size: int) -> str:
        """Return whole lines from the start of a text, about ``size`` bytes of them."""
        try:
            if size <= len(self.start) and not self.is_gzip and b"\n" in self.start[:size]:
                content = self.start[:size]  # of thousands of files, none is opened again
            else:
                with self.open() as file:
                    content = file.read(size)
                    if b"\n" not in content:
                        content += file.read(MAXIMUM_LINE_BYTES)
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error}") from error
        if b"\0" in content:
            raise InputError(
                f"{self.name} is no text table (it holds binary data); name a CSV, text, Excel "
                "or Parquet file, plain, .gz or .zip"
            )
        if len(content) >= size:
            content = content[: content.rfind(b"\n") + 1]
            if not content:
                raise InputError(
                    f"{self.name}, line 1 is longer than {MAXIMUM_LINE_BYTES >> 20} MB, which no "
                    "line of readings is; name a table with one reading or one time per line"
                )
        # Bytes that are not UTF-8 are met again, and rejected line by line, when it is parsed.
        text = content.decode("utf-8-sig", errors="replace")
        if not text.strip():  # of what Unicode takes for blanks, more than bytes do
            raise InputError(f"{self.name} is empty; name a file with readings")
        return text

    def check_lines(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Refuse a text that grows as none does, or has a line that DuckDB would pass over.

        Ends early when ``go_on()`` says no.
        """
        if self.is_parquet:
            return
        with self.open() as file:
            without_end = 0
            while go_on() and (block := file.read(_BLOCK_BYTES)):
                last = block.rfind(b"\n")
                without_end = without_end + len(block) if last < 0 else len(block) - last - 1
                if without_end > _LOST_LINE_BYTES:
                    raise InputError(
                        f"{self.name} has a line of over {_LOST_LINE_BYTES >> 20} MB, which no "
                        "line of readings is; it may be damaged: fetch it again"
                    )
                if last >= 0 and not self.is_gzip:
                    # Half of a line that is too long covers the next place that is looked at.
                    file.seek(_LOST_LINE_BYTES // 2, io.SEEK_CUR)
