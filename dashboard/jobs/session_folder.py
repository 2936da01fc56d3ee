"""The folder of a session: all files that it writes, private and removed with it."""

import os
import secrets
import shutil
import tempfile
from pathlib import Path

from core.errors import InputError


def _root() -> Path:
    """The folder of all sessions of this user."""
    return Path(tempfile.gettempdir()) / f"wattfold-sessions-{os.getuid()}"


def remove_abandoned_folders() -> None:
    """Remove the folders of servers that no longer run, where the system tells who runs."""
    if not Path("/proc/self").exists():
        return
    for folder in _root().glob("*-*"):
        server = folder.name.partition("-")[0]
        if server.isdigit() and not Path(f"/proc/{server}").exists():
            shutil.rmtree(folder, ignore_errors=True)


class SessionFolder:
    """Made when the session first writes something; only this user can read it.

    Its name holds the id of the server's process, by which an abandoned folder is known, and a
    secret, by which no other session can find it.
    """

    def __init__(self) -> None:
        self._path: Path | None = None

    def new(self, purpose: str) -> Path:
        """Return an empty subfolder."""
        if self._path is None:
            root = _root()
            root.mkdir(mode=0o700, exist_ok=True)
            if root.stat().st_uid != os.getuid() or root.stat().st_mode & 0o077:
                raise InputError(f"{root} can be read by others; remove it, or set TMPDIR")
            self._path = root / f"{os.getpid()}-{secrets.token_hex(16)}"
            self._path.mkdir(mode=0o700)
        return Path(tempfile.mkdtemp(prefix=f"{purpose}-", dir=self._path))

    def remove(self) -> None:
        """Remove all of it."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            self._path = None
