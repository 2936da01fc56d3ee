"""A table of readings as it lies in one file, or in many files that are laid out alike."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from core.readings.cells import Content, column_content
from core.readings.layout import Layout, find_layout, parse
from core.readings.parquet_tables import check_column_count, read_first_rows, read_schema
from core.readings.table_file import MAXIMUM_LINE_BYTES, TableFile

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE_ROWS = 2_000
# Of many files that are laid out alike, so many are looked into.
_SAMPLED_FILES = 12
_SIGNATURE_BYTES = 4_096
_SIGNATURE_LINES = 4

# Columns in which 20240131 is a date.
_TIME_NAME = re.compile(r"time|date|datum|\b(day|tag|jour|fecha|dia)\b", re.IGNORECASE)

# A whole line is one cell for the wrong delimiter.
csv.field_size_limit(2 * MAXIMUM_LINE_BYTES)


@dataclass(frozen=True)
class Source:
    """One table: the files that hold it, one after the other, all with the same columns."""

    files: tuple[TableFile, ...]

    @property
    def first(self) -> TableFile:
        """The file that the table is recognised by."""
        return self.files[0]

    @property
    def name(self) -> str:
        """What people call it."""
        more = f" and {len(self.files) - 1:,} files like it" if len(self.files) > 1 else ""
        return self.first.name + more

    @property
    def is_parquet(self) -> bool:
        """Whether the files are Parquet."""
        return self.first.is_parquet

    @property
    def head(self) -> str:
        """The first whole lines of a text."""
        return self.first.head

    @cached_property
    def layout(self) -> Layout:
        """Where in a text the table is."""
        return find_layout(self.head, self.name)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names in the header, stripped of blanks."""
        names = tuple(self.parquet_schema.names) if self.is_parquet else self.layout.columns
        check_column_count(len(names), self.name)
        return names

    @cached_property
    def rows(self) -> list[list[str]]:
        """The first rows below the header, as text; rows of another length are left out."""
        step = max(1, len(self.files) // _SAMPLED_FILES)
        chosen = self.files[::step]
        count = _SAMPLE_ROWS // len(chosen)
        return [row for file in chosen for row in self._first_rows(file, count)]

    def _first_rows(self, file: TableFile, count: int) -> list[list[str]]:
        if file.is_parquet:
            return read_first_rows(file.path, file.name, count)
        rows = islice(parse(file.head, self.layout, file.name), count)
        return [row for row in rows if len(row) == len(self.columns)]

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
    def contents(self) -> dict[str, Content]:
        """What every column holds, judging by its first cells."""
        return {
            name: column_content(
                self.column(name)[:200], named_as_time=_TIME_NAME.search(name) is not None
            )
            for name in self.columns
        }

    def unit_below(self, name: str) -> str:
        """Return what a row of units below the header says of a column."""
        units = () if self.is_parquet else self.layout.units
        place = self.place(name)
        return units[place] if place < len(units) else ""

    @cached_property
    def parquet_schema(self) -> "pa.Schema":
        """The schema of Parquet files."""
        for file in self.files[1:]:
            read_schema(file.path, file.name)
        return read_schema(self.first.path, self.first.name)


def group_alike(files: Iterable[TableFile]) -> Iterator[Source]:
    """Put neighbouring files with the same header and the same kind of rows into one table."""
    for _, alike in groupby(files, key=_signature):
        yield Source(tuple(alike))


def _signature(file: TableFile) -> object:
    """Return what files have in common that can be read in one go."""
    if file.is_parquet:
        return "parquet", str(read_schema(file.path, file.name))
    lines = file.first_lines(_SIGNATURE_BYTES).splitlines()[:_SIGNATURE_LINES]
    # Digits differ from file to file, and the way in which numbers and times are written does not.
    rows = [re.sub(r"\d+", "9", line) for line in lines[1:]]
    return file.is_gzip, lines[0], tuple(rows)


def household_names(names: Sequence[str]) -> list[str]:
    """Return the household of each file: its name, or its folder's where the file is a date.

    A date at the end of the name is left out where several files differ in nothing else.
    """
    found = []
    for name in names:
        path = PurePath(name.rpartition(":")[2])
        stem = path.name.partition(".")[0]
        if _DATE_NAME.fullmatch(stem) and path.parent.name:
            stem = path.parent.name
        found.append(stem)
    bare = [_DATE_SUFFIX.sub("", name) or name for name in found]
    shared = {name for name, count in Counter(bare).items() if count > 1}
    return [short if short in shared else name for name, short in zip(found, bare, strict=True)]


_DATE_NAME = re.compile(r"(19|20)\d\d([-_]?(0[1-9]|1[0-2])([-_]?\d\d)?)?")
_DATE_SUFFIX = re.compile(r"[-_. ](19|20)\d\d([-_]?(0[1-9]|1[0-2])([-_]?\d\d)?)?$")
