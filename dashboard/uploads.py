"""Files that analysts bring: kept for their session only, and read in a bounded process."""

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.commands.accounts import dataset_accounts
from core.errors import InputError
from core.progress import Progress
from core.readings import ingest
from dashboard import fits
from dashboard.datasets import UPLOAD_MARK
from dashboard.jobs import Job, Limits

DEFAULT_MEGABYTES = 200
LIMITS = Limits(seconds=900.0, memory_mb=4_000.0)
SUFFIXES = (".csv", ".txt", ".gz", ".zip", ".parquet")


def maximum_bytes() -> int:
    """What an upload may have: WATTFOLD_UPLOAD_MB, or 200 MB; 0 forbids uploads."""
    text = os.environ.get("WATTFOLD_UPLOAD_MB") or str(DEFAULT_MEGABYTES)
    if not text.isascii() or not text.isdigit():
        raise InputError(f"WATTFOLD_UPLOAD_MB must be a whole number, got {text!r}")
    return int(text) * 10**6


def _root() -> Path:
    """Where the uploads of all sessions of this user are, each in a folder of its own."""
    return Path(tempfile.gettempdir()) / f"wattfold-uploads-{os.getuid()}"


def sweep() -> None:
    """Remove what servers that were killed have left, where the system tells who runs."""
    if not Path("/proc/self").exists():
        return
    for folder in _root().glob("*-*"):
        server = folder.name.partition("-")[0]
        if server.isdigit() and not Path(f"/proc/{server}").exists():
            shutil.rmtree(folder, ignore_errors=True)


class UploadFolder:
    """What one session has brought; gone when it is."""

    def __init__(self) -> None:
        self._path: Path | None = None

    def new(self) -> Path:
        """Return an empty folder that only this user can read, in place of an earlier one."""
        self.remove()
        root = _root()
        root.mkdir(mode=0o700, exist_ok=True)
        if root.stat().st_uid != os.getuid() or root.stat().st_mode & 0o077:
            raise InputError(f"{root} can be read by others; remove it, or set TMPDIR")
        self._path = root / f"{os.getpid()}-{secrets.token_hex(16)}"
        self._path.mkdir(mode=0o700)
        (self._path / UPLOAD_MARK).touch()
        return self._path

    def remove(self) -> None:
        """Remove all of it."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
            self._path = None


def suffix_of(name: str) -> str:
    """Return how a file ends that can be read, or say that it cannot."""
    suffix = Path(name.lower()).suffix
    if suffix not in SUFFIXES:
        raise InputError(f"a file that ends in one of {', '.join(SUFFIXES)} is needed")
    return suffix


def submit(session: str, file: Path) -> Job:
    """Have a file ingested into ``dataset`` beside it."""
    return fits.pool().submit(
        session, str(file), read_upload, (str(file), str(file.parent / "dataset")), limits=LIMITS
    )


def read_upload(argument: tuple[str, str], progress: Progress) -> dict[str, Any]:
    """Ingest a file and return its accounts."""
    file, to = argument
    try:
        return dataset_accounts(ingest([file], to, progress=progress))
    finally:
        # What was read is in the dataset; what could not be read is of no use.
        with suppress(OSError):
            Path(file).unlink()
