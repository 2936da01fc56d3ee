"""The files a user names: plain, gzipped or zipped text, and Parquet."""

import csv
import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import InputError
from core.readings.growth import MAXIMUM_RATIO, MAXIMUM_UNPACKED_BYTES, SMALL_BYTES, open_gzip
from core.readings.parquet_pages import columns_said, unpacked_bytes

_HEAD_BYTES = 1 << 18
_SAMPLE_ROWS = 2_000
_DELIMITERS = ",;\t|"

_PARQUET = b"PAR1"

# Whatever a file says of itself, DuckDB takes no more memory than that to read it.
MEMORY_LIMIT = "1100MB"
# DuckDB would fetch what it lacks from its makers at run time.
NOTHING_FETCHED: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

# A line of readings has kilobytes at most; a file without line ends must not fill the memory.
MAXIMUM_LINE_BYTES = 4 << 20

# Longer lines than MAXIMUM_LINE_BYTES are set aside, but not those beyond DuckDB's buffer of 16.
_LOST_LINE_BYTES = 8 * MAXIMUM_LINE_BYTES
_BLOCK_BYTES = 1 << 18

# A whole line is one cell for the wrong delimiter.
csv.field_size_limit(2 * MAXIMUM_LINE_BYTES)

# With more, a block of rows does not fit into the memory that an ingest may use.
MAXIMUM_COLUMNS = 20_000

# What Parquet files say of themselves at their end; thousands of columns take a few megabytes.
_MAXIMUM_FOOTER_BYTES = 16 << 20
# Run lengths pack a reading into less than a bit only where all of them are the same.
_MAXIMUM_ROWS_PER_BYTE = 50
_SMALL_ROWS = 1_000_000


@dataclass(frozen=True)
class Source:
    """One table of readings: a file, or one member of a zip archive already unpacked.

    ``name`` is what people call it, in messages and in the manifest.
    """

    path: Path
    name: str

    @cached_property
    def is_parquet(self) -> bool:
        """Whether the file says at its start that it is Parquet."""
        with self.path.open("rb") as file:
            return file.read(4) == _PARQUET

    @cached_property
    def is_gzip(self) -> bool:
        """Whether the file says at its start that it is gzipped."""
        with self.path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"

    @cached_property
    def head(self) -> str:
        """The first whole lines of a text file."""
        try:
            with self.open() as file:
                content = file.read(_HEAD_BYTES)
                if b"\n" not in content:
                    content += file.read(MAXIMUM_LINE_BYTES)
        except OSError as error:
            raise InputError(f"{self.name} cannot be read: {error}") from error
        if b"\0" in content:
            raise InputError(
                f"{self.name} is no text table (it holds binary data); name a CSV, text or "
                "Parquet file, plain, .gz or .zip"
            )
        if len(content) >= _HEAD_BYTES:
            content = content[: content.rfind(b"\n") + 1]
            if not content:
                raise InputError(
                    f"{self.name}, line 1 is longer than {MAXIMUM_LINE_BYTES >> 20} MB, which no "
                    "line of readings is; name a table with one reading or one time a line"
                )
        # Bytes that are not UTF-8 are met again, and rejected line by line, when it is parsed.
        text = content.decode("utf-8-sig", errors="replace")
        if not text.strip():  # of what Unicode takes for blanks, more than bytes do
            raise InputError(f"{self.name} is empty; name a file with readings")
        return text

    def open(self) -> BinaryIO:
        """Open the text, unpacked, from its start."""
        return open_gzip(self.path, self.name) if self.is_gzip else self.path.open("rb")

    def look_through(self, go_on: Callable[[], bool] = lambda: True) -> None:
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

    def _parse(self, text: str, delimiter: str) -> Iterator[list[str]]:
        """Yield the rows of a text, whatever ends its lines."""
        try:
            yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        except csv.Error as error:
            raise InputError(f"{self.name} cannot be read as a table: {error}") from error

    @cached_property
    def delimiter(self) -> str:
        """The separator that divides most lines of the head into the same number of cells."""
        lines = "\n".join([line for line in self.head.splitlines() if line.strip()][:100])

        def agreement(delimiter: str) -> tuple[int, int]:
            cells = [len(row) for row in self._parse(lines, delimiter)]
            return cells.count(cells[0]) if cells[0] > 1 else 0, cells[0]

        best = max(_DELIMITERS, key=agreement)
        if agreement(best)[0] == 0:
            raise InputError(
                f"{self.name}, line 1: only one column; readings need a household, a time and a "
                "value, separated by a comma, semicolon, tab or bar"
            )
        return best

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names in the header, stripped of blanks."""
        if self.is_parquet:
            return tuple(self.parquet_schema.names)
        header = next(self._parse(self.head, self.delimiter))
        names = tuple(name.strip() for name in header)
        self._check_columns(len(names))
        for name, count in Counter(names).items():
            if name and count > 1:
                raise InputError(
                    f"{self.name}, line 1: column {name!r} stands there twice; rename one"
                )
        return names

    @cached_property
    def rows(self) -> list[list[str]]:
        """The first rows below the header, as text; rows of another length are left out."""
        if self.is_parquet:
            return self._parquet_rows()
        reader = self._parse(self.head, self.delimiter)
        next(reader)
        return [row for row in islice(reader, _SAMPLE_ROWS) if len(row) == len(self.columns)]

    def _parquet_rows(self) -> list[list[str]]:
        # By DuckDB, since Arrow knows no limit: one long text in a dictionary may be all of them.
        try:
            with duckdb.connect(
                config={"memory_limit": MEMORY_LIMIT, "threads": 1, **NOTHING_FETCHED}
            ) as connection:
                table = connection.sql(
                    f"SELECT * FROM read_parquet($path) LIMIT {_SAMPLE_ROWS}",
                    params={"path": str(self.path)},
                ).to_arrow_table()
            columns = [column.to_pylist() for column in table.columns]
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"{self.name} has rows that take over {MEMORY_LIMIT}, which no readings do; write "
                "it anew with shorter texts"
            ) from error
        except (duckdb.Error, pa.ArrowException, ValueError, OverflowError) as error:
            raise self._damaged(error) from error
        texts = [["" if v is None else str(v) for v in column] for column in columns]
        return [list(row) for row in zip(*texts, strict=True)]

    def place(self, name: str) -> int:
        """Where in the header a column is, the first of that name."""
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in reversed(list(enumerate(self.columns)))}

    def column(self, name: str) -> list[str]:
        """Return the sample's non-empty cells of one column, stripped."""
        position = self.place(name)
        return [cell for row in self.rows if (cell := row[position].strip())]

    @cached_property
    def parquet_schema(self) -> pa.Schema:
        """The schema of a Parquet file."""
        self._check_footer()
        try:
            file = pq.ParquetFile(self.path)
            self._check_columns(len(file.schema_arrow.names))
            self._check_contents(file.metadata)
            return file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> InputError:
        return InputError(
            f"{self.name} is no whole Parquet file ({_first_line(error)}); it may have been "
            "cut short: fetch it again"
        )

    def _check_columns(self, count: int) -> None:
        if count > MAXIMUM_COLUMNS:
            raise InputError(
                f"{self.name} has {count:,} columns, at most {MAXIMUM_COLUMNS:,} can be read; "
                "divide it, or write one reading a row"
            )

    def _check_footer(self) -> None:
        """Refuse a Parquet file before its description of itself fills the memory."""
        with self.path.open("rb") as file:
            file.seek(max(0, file.seek(0, io.SEEK_END) - 8))
            length = int.from_bytes(file.read(4), "little")
            if file.read(4) != _PARQUET or length + 8 > file.tell():
                raise self._damaged(ValueError("its end is missing"))
            if length > _MAXIMUM_FOOTER_BYTES:
                raise InputError(
                    f"{self.name} describes itself in {length / 1e6:.0f} MB, which no table of "
                    "readings does; write it with fewer columns or larger row groups"
                )
            file.seek(-8 - length, io.SEEK_END)
            try:
                columns = columns_said(file)
            except ValueError as error:
                raise self._damaged(error) from error
        self._check_columns(columns)

    def _check_contents(self, metadata: pq.FileMetaData) -> None:
        """Refuse a Parquet file that grows as no readings do."""
        packed = self.path.stat().st_size
        try:
            unpacked = unpacked_bytes(self.path, metadata)
        except ValueError as error:
            raise self._damaged(error) from error
        if unpacked > MAXIMUM_RATIO * max(packed, SMALL_BYTES) or metadata.num_rows > max(
            _SMALL_ROWS, _MAXIMUM_ROWS_PER_BYTE * packed
        ):
            raise InputError(
                f"{self.name} unpacks to {metadata.num_rows:,} rows and {unpacked / 1e6:.0f} MB "
                f"from {packed / 1e6:.2f} MB, which no table of readings does; write it anew if "
                "it is sound"
            )


def find_sources(names: Iterable[str | Path], unpack_into: Path) -> Iterator[Source]:
    """Yield the tables behind the names given, unpacking zip archives as they come."""
    for number, name in enumerate(names):
        path = Path(name)
        _check_readable(path)
        if zipfile.is_zipfile(path):
            yield from _unpack(path, unpack_into)
        else:
            # A plain name in a plain place: DuckDB takes *, ? and [ in a path for patterns.
            link = unpack_into / f"source-{number}"
            link.symlink_to(path.resolve())
            yield Source(link, path.name)


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a directory; name the files in it, as {path}/*.csv")
    try:
        with path.open("rb") as file:
            first = file.read(1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name") from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; check its permissions"
        ) from None
    if not first:
        raise InputError(f"{path} is empty; name a file with readings")


def _unpack(path: Path, into: Path) -> Iterator[Source]:
    """Unpack the members of an archive one after the other, each under a name of ours."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if not members:
                raise InputError(f"{path} is an empty archive; name a file with readings")
            _check_archive(path, members)
            for member in members:
                name = f"{path.name}:{member.filename}"
                target = into / f"member-{len(list(into.iterdir()))}"
                with archive.open(member) as packed, target.open("wb") as unpacked:
                    while block := packed.read(1 << 20):
                        unpacked.write(block)
                _check_readable(target)
                yield Source(target, name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, OSError) as error:
        raise InputError(f"{path} cannot be unpacked: {error}") from error


def _check_archive(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive that grows as no readings do, as one or in one of its members.

    Members may share what they are packed in, and say that it is more than there is.
    """
    packed = path.stat().st_size
    sizes = [(path.name, sum(member.file_size for member in members), packed)]
    sizes += [
        (f"{path.name}:{member.filename}", member.file_size, min(member.compress_size, packed))
        for member in members
    ]
    for name, large, small in sizes:
        if large > min(MAXIMUM_RATIO * max(small, SMALL_BYTES), MAXIMUM_UNPACKED_BYTES):
            raise InputError(
                f"{name} unpacks to {large / 1e6:.0f} MB from {small / 1e6:.2f} MB, which no "
                "table of readings does; unpack it yourself if it is sound"
            )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
