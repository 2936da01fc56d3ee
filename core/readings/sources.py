"""The files a user names: plain, gzipped or zipped text, and Parquet."""

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from core.errors import InputError

_HEAD_BYTES = 1 << 18
_SAMPLE_ROWS = 2_000
_DELIMITERS = ",;\t|"

# A line of readings has kilobytes at most; a file without line ends must not fill the memory.
MAXIMUM_LINE_BYTES = 4 << 20

# Real archives of readings shrink tenfold or so; one that grows without end is an attack.
_MAXIMUM_ZIP_RATIO = 200


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
            return file.read(4) == b"PAR1"

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
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.name} cannot be read: {error}") from error
        if not content.strip():
            raise InputError(f"{self.name} is empty; name a file with readings")
        if b"\0" in content:
            raise InputError(
                f"{self.name} is no text table (it holds binary data); name a CSV, text or "
                "Parquet file, plain, .gz or .zip"
            )
        if len(content) == _HEAD_BYTES:
            content = content[: content.rfind(b"\n") + 1] or content
        # Bytes that are not UTF-8 are met again, and rejected line by line, when it is parsed.
        return content.decode("utf-8-sig", errors="replace")

    def open(self) -> BinaryIO:
        """Open the text, unpacked, from its start."""
        return cast(BinaryIO, gzip.open(self.path)) if self.is_gzip else self.path.open("rb")

    @cached_property
    def delimiter(self) -> str:
        """The separator that divides most lines of the head into the same number of cells."""
        lines = [line for line in self.head.splitlines() if line.strip()][:100]

        def agreement(delimiter: str) -> tuple[int, int]:
            cells = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
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
        header = next(csv.reader(io.StringIO(self.head), delimiter=self.delimiter))
        names = tuple(name.strip() for name in header)
        for name in names:
            if name and names.count(name) > 1:
                raise InputError(
                    f"{self.name}, line 1: column {name!r} stands there twice; rename one"
                )
        return names

    @cached_property
    def rows(self) -> list[list[str]]:
        """The first rows below the header, as text; rows of another length are left out."""
        if self.is_parquet:
            batches = pq.ParquetFile(self.path).iter_batches(batch_size=_SAMPLE_ROWS)
            table = pa.Table.from_batches(islice(batches, 1), self.parquet_schema)
            texts = [["" if v is None else str(v) for v in c.to_pylist()] for c in table.columns]
            return [list(row) for row in zip(*texts, strict=True)]
        reader = csv.reader(io.StringIO(self.head), delimiter=self.delimiter)
        next(reader)
        return [row for row in islice(reader, _SAMPLE_ROWS) if len(row) == len(self.columns)]

    def column(self, name: str) -> list[str]:
        """Return the sample's non-empty cells of one column, stripped."""
        position = self.columns.index(name)
        return [cell for row in self.rows if (cell := row[position].strip())]

    @cached_property
    def parquet_schema(self) -> pa.Schema:
        """The schema of a Parquet file."""
        try:
            return pq.read_schema(self.path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{self.name} is no whole Parquet file ({_first_line(error)}); it may have been "
                "cut short: fetch it again"
            ) from error


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
            for member in members:
                name = f"{path.name}:{member.filename}"
                if member.file_size > _MAXIMUM_ZIP_RATIO * max(member.compress_size, 1 << 16):
                    raise InputError(
                        f"{name} unpacks to {member.file_size / 1e6:.0f} MB from "
                        f"{member.compress_size / 1e6:.2f} MB, which no table of readings does; "
                        "unpack it yourself if it is sound"
                    )
                target = into / f"member-{len(list(into.iterdir()))}"
                with archive.open(member) as packed, target.open("wb") as unpacked:
                    while block := packed.read(1 << 20):
                        unpacked.write(block)
                _check_readable(target)
                yield Source(target, name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, OSError) as error:
        raise InputError(f"{path} cannot be unpacked: {error}") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
