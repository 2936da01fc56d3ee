"""Files and directories that are there whole or not at all.

New content is written beside its destination, flushed to the disk and renamed into place, so a
crash at any moment leaves the old state or the new one. A writer holds a lock file beside what it
writes. The lock dies with the process, so the next writer knows what a killed one left behind, and
removes it.

Readings say when people are at home: what is written is for this user alone, unless
``WATTFOLD_SHARED`` is set or it replaces something that others may read.
"""

import ctypes
import errno
import json
import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_LOCK = ".lock"
_WINDOWS = os.name == "nt"


def flush(path: Path) -> None:
    """Force a file's or a directory's own content to the disk."""
    if _WINDOWS and path.is_dir():
        return  # whose entries Windows writes by itself
    descriptor = os.open(path, os.O_RDWR if _WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_private(path: Path) -> bool:
    """Whether what takes the place of ``path``, or is put into it, is for this user alone."""
    if os.environ.get("WATTFOLD_SHARED"):
        return False
    try:
        return not path.stat().st_mode & 0o077
    except OSError:
        return True


def make_folder(path: Path) -> None:
    """Make a folder, if it is not there, for this user alone."""
    path.mkdir(mode=0o700 if is_private(path) else 0o777, parents=True, exist_ok=True)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to; it becomes ``path`` when the block ends without an error."""
    sweep(path)
    private = is_private(path)
    with _partial(path, private=private) as temporary:
        os.close(os.open(temporary, os.O_CREAT | os.O_WRONLY, 0o600 if private else 0o666))
        try:
            yield temporary
            flush(temporary)
            temporary.replace(path)
            flush(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file atomically; the same content gives the same bytes."""
    with new_file(path) as temporary:
        temporary.write_text(
            json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
            encoding="utf-8",
        )


@contextmanager
def new_directory(path: Path, *, part_of: Path | None = None) -> Iterator[Path]:
    """Yield an empty directory to fill; it becomes ``path`` when the block ends without an error.

    A directory that is already at ``path`` is exchanged for the new one in one step and then
    removed. The caller decides whether it may be. Who may read ``part_of`` may read it.
    """
    path = path.absolute()
    private = is_private(part_of or path)
    path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    sweep(path)
    with _partial(path, private=private) as staging:
        staging.mkdir(mode=0o700 if private else 0o777)
        try:
            yield staging
            for entry in sorted(staging.rglob("*"), reverse=True):
                if private:
                    entry.chmod(0o700 if entry.is_dir() else 0o600)
                flush(entry)
            flush(staging)
            _move_into_place(staging, path)
            flush(path.parent)
        finally:
            shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _partial(path: Path, *, private: bool) -> Iterator[Path]:
    """Yield a name beside ``path`` that no other process uses, and hold its lock."""
    from filelock import FileLock

    partial = path.with_name(f".{path.name}.partial-{secrets.token_hex(4)}")
    lock = FileLock(_lock_of(partial), mode=0o600 if private else 0o666, thread_local=False)
    with lock:
        try:
            yield partial
        finally:
            _remove_lock(partial)


def _lock_of(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}{_LOCK}")


def _remove_lock(partial: Path) -> None:
    with suppress(OSError):  # Windows does not remove what is open
        _lock_of(partial).unlink()


def sweep(path: Path) -> None:
    """Remove what killed writers of ``path`` left beside it."""
    _sweep(path.parent, _escape(path.name))


def sweep_folder(folder: Path) -> None:
    """Remove what killed writers of whatever is in a folder left there."""
    _sweep(folder, "*")


def _sweep(folder: Path, name: str) -> None:
    from filelock import FileLock, Timeout

    found = {
        path.with_name(path.name.removesuffix(_LOCK)) for path in folder.glob(f".{name}.partial-*")
    }
    for leftover in found:
        # Of a writer that lives, the lock is held; in a folder that is not ours, it cannot be had.
        with suppress(Timeout, OSError), FileLock(_lock_of(leftover), timeout=0):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)
            _remove_lock(leftover)


def _escape(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _move_into_place(staging: Path, path: Path) -> None:
    if not path.exists():
        staging.rename(path)
    elif not _exchange(staging, path):
        # Where the system cannot exchange two names, there is an instant without either.
        retired = path.with_name(f".{path.name}.partial-{secrets.token_hex(4)}")
        path.rename(retired)
        staging.rename(path)
        shutil.rmtree(retired, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two names in one step (Linux renameat2); False where the system has no such call."""
    if not sys.platform.startswith("linux"):
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "renameat2"):
        return False
    if library.renameat2(here, os.fsencode(first), here, os.fsencode(second), swap) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(code, os.strerror(code), str(second))
