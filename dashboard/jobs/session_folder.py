"""The folder of a session: all files that it writes, private, bounded and removed with it.

    wattfold-sessions-<user>/    of all servers of this user
      <server>/                  of one server, with a lock that is free once the server is gone
        <session>/               of one session
          upload-…/, export-…/   for one purpose each

Names hold a secret, by which no other session can find a folder.
"""

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import InputError

# Beside uploads: what is computed from them, restored files and exports.
_OTHER_BYTES = 2 * 10**9
_FULL_SESSIONS = 4

_LOCK = ".lock"

# Where a process that was ended still wrote while its folder was removed.
_left: set[Path] = set()


def session_bytes() -> int:
    """A session with more gets no further folder: an upload, one that replaces it, a dataset."""
    from dashboard.jobs.uploads import maximum_bytes

    return 3 * maximum_bytes() + _OTHER_BYTES


def all_bytes() -> int:
    """With more in all, no session gets a further folder."""
    return _FULL_SESSIONS * session_bytes()


def _root() -> Path:
    """The folder of all servers of this user."""
    root = Path(tempfile.gettempdir()) / f"wattfold-sessions-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.lstat()
    if root.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise InputError(f"{root} can be read by others; remove it, or set TMPDIR")
    return root


@cache
def _lock_of_server(root: Path) -> FileLock:
    """Make the folder of this server, and hold its lock until the process ends."""
    folder = root / secrets.token_hex(16)
    folder.mkdir(mode=0o700)
    lock = FileLock(folder / _LOCK, mode=0o600, thread_local=False)
    lock.acquire(timeout=0)
    return lock


def remove_abandoned_folders() -> None:
    """Remove the folders of servers that are gone; those of servers that run are locked."""
    for lock_file in _root().glob(f"*/{_LOCK}"):
        with suppress(Timeout, OSError), FileLock(lock_file, timeout=0):
            shutil.rmtree(lock_file.parent, ignore_errors=True)


class SessionFolder:
    """Made when the session first writes something; only this user can read it."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._is_closed = False

    def new(self, purpose: str) -> Path:
        """Return an empty subfolder, or say that there is no room or that the session is over."""
        if self._is_closed:
            raise InputError("the session has ended; reload the page")
        _remove(*_left)
        root = _root()
        if self._path is None:
            self._path = Path(_lock_of_server(root).lock_file).parent / secrets.token_hex(16)
            self._path.mkdir(mode=0o700)
        if _size(self._path) > (limit := session_bytes()):
            raise InputError(
                f"the files of this page take more than {limit / 1e9:.0f} GB; reload it to start "
                "afresh"
            )
        if _size(root) > (limit := all_bytes()):
            raise InputError(
                f"the files of all pages take more than {limit / 1e9:.0f} GB; try again when "
                "others have closed theirs"
            )
        return Path(tempfile.mkdtemp(prefix=f"{purpose}-", dir=self._path))

    def remove(self) -> None:
        """Remove all of it; nothing more can be written."""
        self._is_closed = True
        path, self._path = self._path, None
        _remove(*_left, *([path] if path else []))


def _remove(*paths: Path) -> None:
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)
        _left.discard(path)
        if path.exists():
            _left.add(path)


def _size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # removed meanwhile
                total += os.lstat(os.path.join(path, name)).st_size  # noqa: PTH118 (many files)
    return total
