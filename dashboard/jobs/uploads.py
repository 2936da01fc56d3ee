"""Files that analysts bring: kept in the session's folder, and read in a bounded process."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.progress import Progress
from core.readings import ingest
from core.readings.accounts import dataset_accounts
from dashboard.jobs._job import Limits
from dashboard.jobs.session_pool import FollowedJob, SessionPool

DEFAULT_MEGABYTES = 200
LIMITS = Limits(seconds=900.0, memory_mb=4_000.0)
SUFFIXES = (".csv", ".txt", ".gz", ".zip", ".parquet")


def maximum_bytes() -> int:
    """The size limit of an upload: WATTFOLD_UPLOAD_MB, or 200 MB; 0 forbids uploads."""
    text = os.environ.get("WATTFOLD_UPLOAD_MB") or str(DEFAULT_MEGABYTES)
    if not text.isascii() or not text.isdigit():
        raise InputError(f"WATTFOLD_UPLOAD_MB must be a whole number, got {text!r}")
    return int(text) * 10**6


def suffix_of(name: str) -> str:
    """Return the suffix of a file name, or say that such a file cannot be read."""
    suffix = Path(name.lower()).suffix
    if suffix not in SUFFIXES:
        raise InputError(f"a file that ends in one of {', '.join(SUFFIXES)} is needed")
    return suffix


def submit(pool: SessionPool, file: Path) -> FollowedJob:
    """Have a file ingested into ``dataset`` beside it; the result is the accounts."""
    return pool.submit(
        str(file), ingest_upload, (str(file), str(file.parent / "dataset")), limits=LIMITS
    )


def ingest_upload(argument: tuple[str, str], progress: Progress) -> dict[str, Any]:
    """Ingest a file, remove it, and return the accounts of the dataset."""
    file, to = argument
    try:
        return dataset_accounts(ingest([file], to, progress=progress))
    finally:
        # What was read is in the dataset; what could not be read is of no use.
        with suppress(OSError):
            Path(file).unlink()
