"""From what a user names (files, folders, archives, workbooks) to tables that can be read."""

import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from core.errors import InputError
from core.readings.bomb_guard import (
    BROKEN_ARCHIVE,
    MAXIMUM_RATIO,
    MAXIMUM_UNPACKED_BYTES,
    SMALL_BYTES,
    Growth,
)
from core.readings.json_records import is_json, write_records
from core.readings.options import IngestOptions
from core.readings.table_file import TableFile
from core.readings.text_encodings import find_encoding, write_as_utf8
from core.readings.workbooks import is_workbook, write_sheets

# What readings are kept in; whatever else lies in a folder is no table.
_SUFFIXES = {
    ".csv", ".txt", ".tsv", ".dat", ".asc", ".gz", ".zip", ".parquet", ".pq", ".xlsx", ".xlsm",
    ".json", ".ndjson", ".jsonl", ".tar", ".tgz", ".prn",
}  # fmt: skip
_TAR_NAME = re.compile(r".*\.(tar(\.(gz|bz2|xz))?|tgz)$", re.IGNORECASE)
_ZIP = b"PK"
_PLAIN_PATH = re.compile(r"[\w/. +=@~,-]+")
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_MAXIMUM_FILES = 100_000


class Containers:
    """Opens what a user names, one after the other, into a folder of ours.

    ``skipped`` collects the names of files that are no tables.
    """

    def __init__(self, work: Path, options: IngestOptions) -> None:
        self._work = work
        self._options = options
        self._count = 0
        self.skipped: list[str] = []

    def open_all(self, names: Iterable[str | Path]) -> list[TableFile]:
        """Return every table behind the names, in order."""
        found = [file for name in names for file in self._open_named(Path(name))]
        if not found:
            raise InputError(
                f"there is no table of readings among {', '.join(self.skipped[:6]) or 'no files'}; "
                "name CSV, text, Excel or Parquet files"
            )
        return found

    def _open_named(self, path: Path) -> Iterator[TableFile]:
        if not path.is_dir():
            check_readable(path)
            yield from self._open(path, path.name)
            return
        for file in sorted(path.rglob("*"), key=_natural_order):
            relative = file.relative_to(path)
            if not file.is_file() or any(part.startswith(".") for part in relative.parts):
                continue
            name = f"{path.name}/{relative.as_posix()}"
            if not _is_table_name(file.name) or file.stat().st_size == 0:
                self.skipped.append(name)
            else:
                yield from self._open(file, name)

    def _open(self, path: Path, name: str) -> Iterator[TableFile]:
        """Yield the tables of one file, whatever it is packed in."""
        file = TableFile(path, name)
        if file.start.startswith(_OLD_EXCEL):
            raise InputError(
                f"{name} is an Excel workbook of the old kind, or one with a password; save it "
                "as .xlsx or CSV, without a password"
            )
        if _TAR_NAME.fullmatch(name):
            yield from self._open_tar(path, name)
        elif not file.start.startswith(_ZIP) or not zipfile.is_zipfile(path):
            yield self._plain(file)
        elif is_workbook(path):
            for table, sheet_name in write_sheets(path, name, self._work, self._options):
                yield self._numbered(table.rename(self._next_path()), sheet_name, path)
        else:
            yield from self._open_zip(path, name)

    def _plain(self, file: TableFile) -> TableFile:
        """Return a text or Parquet file; other encodings and JSON are rewritten."""
        if not file.is_parquet:
            if encoding := find_encoding(file):
                target = self._next_path()
                write_as_utf8(file, encoding, target)
                return self._numbered(target, file.name, file.path)
            if is_json(file):
                target = self._next_path()
                write_records(file, target)
                return self._numbered(target, file.name, file.path)
        path = file.path.absolute()
        if _PLAIN_PATH.fullmatch(str(path)) is None:
            # DuckDB takes *, ? and [ in a path for patterns.
            target = self._next_path()
            target.symlink_to(path)
            path = target
        return self._numbered(path, file.name, None)

    def _numbered(self, path: Path, name: str, origin: Path | None) -> TableFile:
        if self._count >= _MAXIMUM_FILES:
            raise InputError(f"there are over {_MAXIMUM_FILES:,} files; put some of them together")
        self._count += 1
        return TableFile(path, name, origin, self._count - 1)

    def _next_path(self) -> Path:
        return self._work / f"source-{self._count:06d}"

    def _open_zip(self, path: Path, name: str) -> Iterator[TableFile]:
        try:
            with zipfile.ZipFile(path) as archive:
                members = [member for member in archive.infolist() if not member.is_dir()]
                if not members:
                    raise InputError(f"{name} is an empty archive; name a file with readings")
                check_archive(path, name, members)
                tables = [each for each in members if self._is_table(each.filename, members, name)]
                for member in tables:
                    with archive.open(member) as packed:
                        yield from self._unpack(cast(BinaryIO, packed), f"{name}:{member.filename}")
        except BROKEN_ARCHIVE as error:
            raise InputError(f"{name} cannot be unpacked: {error}") from error

    def _open_tar(self, path: Path, name: str) -> Iterator[TableFile]:
        growth = Growth(name)
        try:
            with path.open("rb") as raw, tarfile.open(fileobj=raw) as archive:
                for member in archive:
                    if not member.isfile() or not self._is_table(member.name, None, name):
                        continue
                    packed = archive.extractfile(member)
                    if packed is not None:
                        yield from self._unpack(
                            cast(BinaryIO, packed),
                            f"{name}:{member.name}",
                            lambda size: growth.add(size, raw.tell()),
                        )
        except BROKEN_ARCHIVE as error:
            raise InputError(f"{name} cannot be unpacked: {error}") from error

    def _is_table(self, member: str, members: list[zipfile.ZipInfo] | None, archive: str) -> bool:
        """Whether a member of an archive may be a table; the only one always may."""
        parts = PurePosixPath(member).parts
        if any(part.startswith((".", "__MACOSX")) for part in parts):
            return False
        if _is_table_name(member) or (members is not None and len(members) == 1):
            return True
        self.skipped.append(f"{archive}:{member}")
        return False

    def _unpack(
        self, packed: BinaryIO, name: str, count: Callable[[int], None] = lambda size: None
    ) -> Iterator[TableFile]:
        target = self._work / f"member-{self._count:06d}"
        with target.open("wb") as unpacked:
            while block := packed.read(1 << 20):
                count(len(block))
                unpacked.write(block)
        if target.stat().st_size == 0:
            raise InputError(f"{name} is empty; name a file with readings")
        if _TAR_NAME.fullmatch(name) or (zipfile.is_zipfile(target) and not is_workbook(target)):
            raise InputError(f"{name} is an archive in an archive; unpack it yourself")
        yield from self._open(target, name)


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, cannot be read or is empty."""
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


def check_archive(path: Path, name: str, members: list[zipfile.ZipInfo]) -> None:
    """Refuse an archive that grows as no readings do, as one or in one of its members.

    Members may share what they are packed in, and say that it is more than there is.
    """
    packed = path.stat().st_size
    sizes = [(name, sum(member.file_size for member in members), packed)]
    sizes += [
        (f"{name}:{member.filename}", member.file_size, min(member.compress_size, packed))
        for member in members
    ]
    for each, large, small in sizes:
        if large > min(MAXIMUM_RATIO * max(small, SMALL_BYTES), MAXIMUM_UNPACKED_BYTES):
            raise InputError(
                f"{each} unpacks to {large / 1e6:.0f} MB from {small / 1e6:.2f} MB, which no "
                "table of readings does; unpack it yourself if it is sound"
            )


def _is_table_name(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() in _SUFFIXES and not re.match(r"(?i)readme|licen[cs]e", path.name)


def _natural_order(path: Path | str) -> list[tuple[int, int, str]]:
    """Sort ``h2`` before ``h10``."""
    parts = re.split(r"(\d+)", str(path))
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]
