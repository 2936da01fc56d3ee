"""Results kept on disk, each under the digest of exactly what it was made from.

An entry is a directory ``<stage>/<digest>``: arrays as ``.npy``, tables as Parquet, and
``entry.json`` with the facts and a checksum of every file. Entries appear whole by a rename and
never change. One that cannot be read, or does not match its checksums, is removed and counts as
absent. Reading marks an entry as used; when the whole grows beyond its limit, those that were
not used for longest go. Several processes may use one store at once; one of them computes an entry
while the others that want it wait.
"""

import hashlib
import io
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from core import atomic
from core.array_files import load_array
from core.errors import InputError

DEFAULT_LIMIT = 2 * 10**9

_FACTS = "entry.json"
_LOCK = ".lock"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}

# A writer that is stopped, not dead, keeps its lock; others give up on keeping their results.
_LOCK_SECONDS = 30.0
_POLL_SECONDS = 0.02
# From one look whether another process has finished an entry to the next.
_WAIT_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class StageResult:
    """A stage's result: arrays, tables, and facts that JSON can hold."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredResult:
    """An entry as it lies on the disk."""

    path: Path
    bytes: int
    used: float


def make_digest(inputs: Mapping[str, Any]) -> str:
    """Return the digest of what a result is made from; the order of names does not matter."""
    text = json.dumps(inputs, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_size(text: str) -> int:
    """Read a size such as ``500 MB``, ``2GB`` or a number of bytes."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise InputError(f"cannot read {text!r} as a size; write it as 500MB, 2GB or bytes")
    return int(float(match[1]) * 1000 ** _POWERS[match[2].lower()])


class Store:
    """Results of stages in a directory.

    Parameters
    ----------
    path : Path
        Made when the first result is kept.
    limit_bytes : int
        What all entries together may take.
    """

    def __init__(self, path: str | Path, *, limit_bytes: int = DEFAULT_LIMIT) -> None:
        self.path = Path(path)
        self.limit_bytes = limit_bytes

    @classmethod
    def default(cls) -> Self:
        """The store that commands use: ``WATTFOLD_CACHE``, or the user's cache directory.

        ``WATTFOLD_CACHE_SIZE`` sets its limit.
        """
        path = os.environ.get("WATTFOLD_CACHE")
        if not path:
            from platformdirs import user_cache_path

            path = str(user_cache_path("wattfold"))
        limit = os.environ.get("WATTFOLD_CACHE_SIZE")
        return cls(path, limit_bytes=read_size(limit) if limit else DEFAULT_LIMIT)

    def get(self, stage: str, digest: str) -> StageResult | None:
        """Return an entry, or None if it is absent or damaged; a damaged one is removed."""
        path = self.path / stage / digest
        if not path.is_dir():
            return None
        try:
            entry = read_result(path)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, pa.ArrowException):
            self._remove(path)
            return None
        with suppress(OSError):  # evicted since, or not ours to touch
            os.utime(path)
        return entry

    def has(self, stage: str, digest: str) -> bool:
        """Whether an entry is there; its content is not checked before :meth:`get` reads it."""
        return (self.path / stage / digest / _FACTS).is_file()

    def names(self, stage: str) -> list[str]:
        """Return the digests of all entries of a stage."""
        return [path.name for path in (self.path / stage).glob("[!.]*")]

    def remove(self, stage: str, digest: str) -> None:
        """Remove an entry, if it is there."""
        self._remove(self.path / stage / digest)

    def put(self, stage: str, digest: str, entry: StageResult) -> None:
        """Keep an entry and evict others if need be; the first one of a digest stays.

        One that would take more than the limit by itself is not kept.

        Raises
        ------
        OSError
            If the disk does not take it. The store is then as it was.
        """
        path = self.path / stage / digest
        if sum(array.nbytes for array in entry.arrays.values()) > self.limit_bytes:
            return
        with self._writing():
            if self.has(stage, digest):
                return
            with atomic.new_directory(path) as staging:
                write_result(staging, entry)
            self._evict(last=path)

    @contextmanager
    def computing(
        self, stage: str, digest: str, *, waiting: Callable[[], None] = lambda: None
    ) -> Iterator[None]:
        """Be the only process, and thread, that computes an entry; wait while another one is.

        Look for the entry again inside: another process may have stored it. The system frees the
        lock of a process that dies. Where no lock can be had, as on a disk that is read-only or
        full, work is done twice rather than not at all.

        Parameters
        ----------
        waiting : callable
            Called again and again while another computes; may raise to stop waiting.
        """
        path = self.path / stage / f".{digest}.lock"
        lock = FileLock(path, thread_local=False)
        held = False
        with suppress(OSError):
            atomic.make_folder(self.path)
            path.parent.mkdir(exist_ok=True)
        while not held:
            try:
                lock.acquire(timeout=_WAIT_SECONDS, poll_interval=_POLL_SECONDS)
                held = True
            except Timeout:
                waiting()
            except OSError:
                break
        try:
            yield
        finally:
            if held:
                _remove_lock(path)
                lock.release()

    def entries(self) -> list[StoredResult]:
        """Return all entries, those not used for longest first."""
        found = []
        for path in self.path.glob("*/[!.]*"):
            with suppress(FileNotFoundError):
                found.append(StoredResult(path, _size(path), path.stat().st_mtime))
        return sorted(found, key=lambda stored: stored.used)

    def clear(self) -> list[StoredResult]:
        """Remove all entries and return them."""
        with self._writing():
            removed = self.entries()
            for stored in removed:
                self._remove(stored.path)
            self._sweep()
        return removed

    def sweep(self) -> None:
        """Remove what killed processes left behind, as at the start of a server."""
        if self.path.is_dir():
            with self._writing():
                self._sweep()

    def _evict(self, last: Path) -> None:
        stored = self.entries()
        total = sum(each.bytes for each in stored)
        for each in sorted(stored, key=lambda each: (each.path == last, each.used)):
            if total <= self.limit_bytes:
                break
            self._remove(each.path)
            total -= each.bytes
        self._sweep()

    def _remove(self, path: Path) -> None:
        """Remove an entry; nobody sees half of it."""
        retired = path.with_name(f".{path.name}.partial-{secrets.token_hex(4)}")
        with suppress(OSError):
            path.rename(retired)
            shutil.rmtree(retired, ignore_errors=True)

    def _sweep(self) -> None:
        """Remove what killed processes left behind; only while holding the lock."""
        for leftover in self.path.glob("*/.*.partial-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for path in self.path.glob("*/.*.lock"):
            # One that is held, or was removed by another, stays as it is.
            with suppress(OSError), FileLock(path, timeout=0):
                _remove_lock(path)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only writer; the system frees the lock of a process that dies."""
        atomic.make_folder(self.path)
        lock = FileLock(self.path / _LOCK, thread_local=False)
        try:
            lock.acquire(timeout=_LOCK_SECONDS, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise TimeoutError(0, "another process is writing", str(self.path)) from error
        try:
            yield
        finally:
            lock.release()


def _remove_lock(path: Path) -> None:
    """Remove a lock file that this process holds; a process that waits for it makes a new one."""
    with suppress(OSError):
        path.unlink()


def _size(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.iterdir())


def write_result(directory: Path, entry: StageResult) -> None:
    """Write an entry into an empty directory, with a checksum of every file."""
    checksums = {}
    for name, array in entry.arrays.items():
        np.save(directory / f"{name}.npy", array, allow_pickle=False)
    for name, table in entry.tables.items():
        pq.write_table(
            pa.Table.from_pandas(table, preserve_index=False),
            directory / f"{name}.parquet",
            compression="zstd",
        )
    for file in sorted(directory.glob("[!.]*")):
        with file.open("rb") as stream:
            checksums[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    facts = json.dumps(entry.facts, ensure_ascii=False, allow_nan=False)
    content = {
        "files": checksums,
        "facts": facts,
        "sha256": hashlib.sha256(facts.encode()).hexdigest(),
    }
    (directory / _FACTS).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def read_result(path: Path) -> StageResult:
    """Read an entry; raises where anything is not as written."""
    with _opening_in(path) as open_file:
        return _read_files(open_file)


def _read_files(open_file: Callable[[str], io.BufferedReader]) -> StageResult:
    with open_file(_FACTS) as file:
        content = json.load(file)
    if hashlib.sha256(content["facts"].encode()).hexdigest() != content["sha256"]:
        raise ValueError("the facts do not match their checksum")
    arrays, tables = {}, {}
    for name, checksum in content["files"].items():
        stem, _, kind = name.rpartition(".")
        with open_file(name) as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                raise ValueError(f"{name} does not match its checksum")
            file.seek(0)
            if kind == "npy":
                arrays[stem] = load_array(file)
                arrays[stem].flags.writeable = False
            else:
                tables[stem] = pq.read_table(io.BytesIO(file.read())).to_pandas()
    return StageResult(arrays, tables, json.loads(content["facts"]))


@contextmanager
def _opening_in(path: Path) -> Iterator[Callable[[str], io.BufferedReader]]:
    """Yield a function that opens files of a directory by name.

    They are opened through the directory itself where the system can do that: whatever is renamed
    meanwhile, they are of one entry. Elsewhere their checksums tell if they are not.
    """
    if os.open not in os.supports_dir_fd:
        yield lambda name: (path / name).open("rb")
        return
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield lambda name: os.fdopen(os.open(name, os.O_RDONLY, dir_fd=directory), "rb")
    finally:
        os.close(directory)
