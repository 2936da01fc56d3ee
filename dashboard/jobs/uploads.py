"""Files that analysts bring: kept in the session's folder, and read in a bounded process.

The folder of an upload has ``files``, as they were received, and ``dataset``, made of them.
"""

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.progress import Progress
from core.readings import Doubt, IngestOptions, Inspection, UndecidedError, ingest, inspect
from core.readings.accounts import dataset_accounts
from dashboard.jobs._job import Limits
from dashboard.jobs.session_pool import FollowedJob, SessionPool

FILES, DATASET = "files", "dataset"
DEFAULT_MEGABYTES = 2_000
LIMITS = Limits(seconds=1800.0, memory_mb=4_000.0)
SUFFIXES = (
    ".csv", ".txt", ".tsv", ".dat", ".gz", ".zip", ".tar", ".tgz", ".xlsx", ".xlsm", ".json",
    ".jsonl", ".ndjson", ".parquet", ".pq",
)  # fmt: skip


def maximum_bytes() -> int:
    """The size limit of an upload: WATTFOLD_UPLOAD_MB, or 2,000 MB; 0 forbids uploads."""
    text = os.environ.get("WATTFOLD_UPLOAD_MB") or str(DEFAULT_MEGABYTES)
    if not text.isascii() or not text.isdigit():
        raise InputError(f"WATTFOLD_UPLOAD_MB must be a whole number, got {text!r}")
    return int(text) * 10**6


@dataclass(frozen=True)
class Look:
    """What files are taken for; without ``inspection``, ``problem`` says why it cannot be told."""

    inspection: Inspection | None = None
    problem: str = ""


@dataclass(frozen=True)
class Import:
    """The accounts of a dataset; or what has to be decided before there can be one."""

    accounts: dict[str, Any] | None = None
    doubt: Doubt | None = None


def submit_look(pool: SessionPool, folder: Path, options: IngestOptions) -> FollowedJob:
    """Have the files of an upload looked at; the result is a :class:`Look`."""
    return pool.submit(
        ("look", str(folder), options), look, (str(folder), asdict(options)), limits=LIMITS
    )


def submit_import(pool: SessionPool, folder: Path, options: IngestOptions) -> FollowedJob:
    """Have the files of an upload ingested; the result is an :class:`Import`."""
    return pool.submit(
        ("import", str(folder), options), import_files, (str(folder), asdict(options)),
        limits=LIMITS,
    )  # fmt: skip


def look(argument: tuple[str, dict[str, Any]], progress: Progress) -> Look:
    """Look at the first rows of files, as an ingest would."""
    folder, options = Path(argument[0]), IngestOptions(**argument[1])
    try:
        found = inspect(_sources(folder), options=options, folder=folder, progress=progress)
    except UndecidedError as error:
        return Look(problem=_without_path(error.problem, folder))
    except InputError as error:
        return Look(problem=_without_path(str(error), folder))
    return Look(found)


def import_files(argument: tuple[str, dict[str, Any]], progress: Progress) -> Import:
    """Make a dataset of files; they stay until it is opened, should something have to be mended."""
    folder, options = Path(argument[0]), IngestOptions(**argument[1])
    try:
        dataset = ingest(_sources(folder), folder / DATASET, options=options, progress=progress)
    except UndecidedError as error:
        problem = _without_path(error.problem, folder)
        if not error.choices:
            raise InputError(problem) from error
        return Import(doubt=Doubt(error.topic, problem, error.choices))
    except InputError as error:
        raise InputError(_without_path(str(error), folder)) from error
    return Import(dataset_accounts(dataset))


def remove_files(folder: Path) -> None:
    """Remove what was received: the dataset holds what was read of it."""
    shutil.rmtree(folder / FILES, ignore_errors=True)


def _sources(folder: Path) -> list[Path]:
    return sorted((folder / FILES).iterdir())


def _without_path(text: str, folder: Path) -> str:
    """Name files as the analyst does, without where they are on the server."""
    return text.replace(f"{folder / FILES}/", "").replace(str(folder), "the upload")
