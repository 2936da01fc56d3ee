"""What Parquet files say of themselves, read before a library believes it.

How many columns there are stands at the beginning of the description at a file's end; Arrow takes
thirty times the length of that to read all of it. What the pages unpack to is in the description,
too, but nothing holds it to that: Arrow and DuckDB make room for what the header of each page
says. Both are structures of Thrift's compact protocol. The second and third field of a page's
header are its bytes, unpacked and packed.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_UNPACKED, _PACKED = 2, 3
# A thousand million readings have some hundred thousand.
_MAXIMUM_PAGES = 1_000_000

# Types of Thrift's compact protocol; integers of all lengths are 4 to 6.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 0, 1, 2, 3, 7, 8, 12
_INTEGERS, _LISTS = (4, 5, 6), (9, 10)
# A header has structures of statistics in structures of pages.
_MAXIMUM_DEPTH = 4


def columns_said(footer: BinaryIO) -> int:
    """Return how many columns, at most, the description of a file that begins here lists."""
    version, number, schema, count = (_byte(footer) for _ in range(4))
    if (version, schema & 15) != (0x15, 9) or number & 0x80 or count & 15 != _STRUCT:
        raise ValueError("it is not described as Parquet files are")
    # One is the root, and 15 or more are told by another number.
    return (_unsigned(footer) if count >> 4 == 15 else count >> 4) - 1


def unpacked_bytes(path: Path, metadata: "pq.FileMetaData") -> int:
    """Add up what all pages say that they unpack to; ValueError where they make no sense."""
    total = pages = packed = 0
    with path.open("rb") as file:
        for start, stop in _chunks(metadata):
            packed += stop - start
            # Columns may not share their pages, nor be nothing but headers.
            if packed > path.stat().st_size:
                raise ValueError("its columns are longer than the file")
            file.seek(start)
            while file.tell() < stop:
                sizes = _read_structure(file)
                if min(sizes.get(_UNPACKED, -1), sizes.get(_PACKED, -1)) < 0:
                    raise ValueError("a page does not say how long it is")
                total += sizes[_UNPACKED]
                file.seek(sizes[_PACKED], io.SEEK_CUR)
                pages += 1
                if pages > _MAXIMUM_PAGES:
                    raise ValueError(f"it has over {_MAXIMUM_PAGES:,} pages")
    return total


def _chunks(metadata: "pq.FileMetaData") -> Iterator[tuple[int, int]]:
    """Yield where the pages of each column in each row group begin and end."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for number in range(row_group.num_columns):
            column = row_group.column(number)
            start = column.data_page_offset
            if column.has_dictionary_page:
                start = min(start, column.dictionary_page_offset or start)
            yield start, start + column.total_compressed_size


def _read_structure(file: BinaryIO, depth: int = 0) -> dict[int, int]:
    """Read a structure to its end; return its whole numbers by the number of their field."""
    if depth > _MAXIMUM_DEPTH:
        raise ValueError("the header of a page has no end")
    numbers: dict[int, int] = {}
    field = 0
    while (first := _byte(file)) != _STOP:
        step, kind = first >> 4, first & 15
        field = field + step if step else _signed(file)
        if kind in _INTEGERS:
            numbers[field] = _signed(file)
        else:
            _pass_over(file, kind, depth)
    return numbers


def _pass_over(file: BinaryIO, kind: int, depth: int) -> None:
    if kind == _STRUCT:
        _read_structure(file, depth + 1)
    elif kind == _BINARY:
        file.seek(_unsigned(file), io.SEEK_CUR)
    elif kind in (_BYTE, _DOUBLE):
        file.seek(1 if kind == _BYTE else 8, io.SEEK_CUR)
    elif kind in _LISTS or kind not in (_TRUE, _FALSE):
        raise ValueError("the header of a page has what no such header has")


def _byte(file: BinaryIO) -> int:
    read = file.read(1)
    if not read:
        raise ValueError("a page goes on behind the end of the file")
    return read[0]


def _unsigned(file: BinaryIO) -> int:
    value = shift = 0
    while (byte := _byte(file)) & 0x80:
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > 63:
            raise ValueError("a number in the header of a page has no end")
    return value | byte << shift


def _signed(file: BinaryIO) -> int:
    value = _unsigned(file)
    return (value >> 1) ^ -(value & 1)
