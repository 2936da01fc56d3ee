"""The dataset directory: what `ingest` and `demo` write and every later stage reads.

    readings.parquet    household (int32, a row number of households.parquet), time, kwh;
                        sorted by household and time
    households.parquet  one row a household: its id, its accounts, its metadata
    health.json         what was rejected and why, with examples
    manifest.json       what belongs to the dataset, with checksums; written last

Times are local wall-clock times and mark the start of the interval.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from core import atomic
from core.errors import InputError
from core.summary import Summarized

SCHEMA = 1
READINGS = "readings.parquet"
HOUSEHOLDS = "households.parquet"
HEALTH = "health.json"
MANIFEST = "manifest.json"

# A household of a year and a half has 25,000 half-hours. Groups of four such households make one
# household cheap to fetch and the whole file cheap to scan.
ROW_GROUP_SIZE = 122_880

READINGS_SCHEMA = pa.schema(
    [("household", pa.int32()), ("time", pa.timestamp("us")), ("kwh", pa.float64())]
)

# The columns of households.parquet that are ours; every other one is metadata.
ACCOUNT_COLUMNS = (
    "household",
    "input",
    "accepted",
    "collapsed",
    "rejected",
    "first",
    "last",
    "missing_share",
)


class DatasetError(InputError):
    """A dataset directory is absent, incomplete or damaged."""


class DatasetChangedError(DatasetError):
    """A dataset directory is not what it was when it was opened."""


@dataclass(frozen=True, repr=False)
class Dataset(Summarized):
    """A dataset directory, opened and found complete."""

    path: Path
    manifest: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> "Dataset":
        """Open a dataset directory, checking it against its manifest."""
        path = Path(path)
        dataset = cls(path, _read_manifest(path))
        dataset._identity  # noqa: B018 (as it is now)
        for name, entry in dataset.manifest["files"].items():
            file = path / name
            if not file.is_file():
                raise DatasetError(f"{file} is missing; run wattfold ingest again")
            if file.stat().st_size != entry["bytes"]:
                raise DatasetError(
                    f"{file} has {file.stat().st_size} bytes where the manifest says "
                    f"{entry['bytes']}; it was changed or cut short: run wattfold ingest again"
                )
        dataset.check_unchanged()  # while its files were looked at
        return dataset

    def is_unchanged(self) -> bool:
        """Whether the files are those of when it was opened; not moved, replaced or written to."""
        return self._identity == _identity_of(self.path, self.manifest) != ()

    def check_unchanged(self) -> None:
        """Raise if files were moved, replaced or written to since the dataset was opened.

        Who reads a file calls this after it was opened, or after all of it was read.
        """
        if not self.is_unchanged():
            raise DatasetChangedError(
                f"{self.path} was replaced, changed or removed after it was opened; open it again"
            )

    @cached_property
    def _identity(self) -> tuple[tuple[int, ...], ...]:
        return _identity_of(self.path, self.manifest)

    def verify(self) -> None:
        """Read every file and compare it with its checksum."""
        for name, entry in self.manifest["files"].items():
            if file_digest(self.path / name) != entry["sha256"]:
                raise DatasetError(
                    f"{self.path / name} does not match its checksum; run wattfold ingest again"
                )

    @property
    def digest(self) -> str:
        """A digest of the readings and households, the identity of the dataset."""
        return str(self.manifest["digest"])

    @property
    def interval_minutes(self) -> int:
        """Minutes from one reading to the next."""
        return int(self.manifest["interval_minutes"])

    @property
    def slots_per_week(self) -> int:
        """336 for half-hourly readings."""
        return 7 * 24 * 60 // self.interval_minutes

    @cached_property
    def households(self) -> pd.DataFrame:
        """One row a household; the row number is its code in the readings."""
        return self._open_parquet(HOUSEHOLDS).read().to_pandas()

    @property
    def first_and_last_day(self) -> tuple[date, date]:
        """The local days of the first and of the last reading."""
        return self.households["first"].min().date(), self.households["last"].max().date()

    @property
    def metadata(self) -> pd.DataFrame:
        """The columns of ``households`` that came from a metadata table."""
        return self.households.drop(columns=list(ACCOUNT_COLUMNS))

    def with_metadata(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table of households with their metadata; a name that it has is told apart."""
        metadata = self.metadata.set_axis(self.households["household"])
        metadata = metadata.rename(columns={name: f"{name} (metadata)" for name in table.columns})
        return table.join(metadata, on="household")

    @cached_property
    def health(self) -> dict[str, Any]:
        """The health report."""
        return dict(json.loads((self.path / HEALTH).read_text(encoding="utf-8")))

    @property
    def readings_file(self) -> pq.ParquetFile:
        """The readings, open for streaming; a new handle each time, for use in threads."""
        return self._open_parquet(READINGS, metadata=self._readings_metadata)

    @cached_property
    def _readings_metadata(self) -> pq.FileMetaData:
        """Parsed once: with thousands of households it takes longer than reading one of them."""
        return self._open_parquet(READINGS).metadata

    def code(self, household: str) -> int:
        """Return the row number of a household, or say which ones look like it."""
        try:
            return self._codes[household]
        except KeyError:
            raise InputError(unknown_household(household, self._codes)) from None

    def readings(self, household: str) -> pd.DataFrame:
        """Return one household's readings: ``time`` and ``kwh``, in order of time."""
        code = self.code(household)
        first, last = self.code_range
        groups = np.flatnonzero((first <= code) & (code <= last)).tolist()
        table = self.readings_file.read_row_groups(groups, use_threads=False)
        codes = table["household"].to_numpy()
        start, stop = np.searchsorted(codes, [code, code + 1])
        return table.slice(start, stop - start).select(["time", "kwh"]).to_pandas()

    def calendar(self, household: str, *, interactive: bool = False) -> Any:
        """Draw a household's calendar: every day a column, every time of day a row.

        Parameters
        ----------
        household : str
        interactive : bool
            Whether to return a HoloViews object to zoom and hover over, rather than a Matplotlib
            figure.
        """
        from core import plot_calendar

        return plot_calendar(self, household, interactive=interactive)

    def summary(self) -> dict[str, Any]:
        """Return where it is, how much it holds, and from when to when."""
        try:
            first, last = self.first_and_last_day
        except DatasetError as error:  # it is told nevertheless, as by a debugger
            return {"path": self.path, "problem": error}
        return {
            "path": self.path,
            "households": f"{len(self.households):,}",
            "readings": f"{int(self.households['accepted'].sum()):,}",
            "every": f"{self.interval_minutes} minutes",
            "from": first,
            "to": last,
            "metadata": ", ".join(map(str, self.metadata.columns)) or "none",
        }

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.households["household"])}

    @cached_property
    def code_range(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and last household code of every row group."""
        metadata = self._readings_metadata
        statistics = [
            metadata.row_group(group).column(0).statistics
            for group in range(metadata.num_row_groups)
        ]
        return np.array([s.min for s in statistics]), np.array([s.max for s in statistics])

    def _open_parquet(self, name: str, metadata: pq.FileMetaData | None = None) -> pq.ParquetFile:
        try:
            file = pq.ParquetFile(self.path / name, metadata=metadata)
            self.check_unchanged()
            return file
        except (pa.ArrowException, OSError) as error:
            self.check_unchanged()
            raise DatasetError(
                f"{self.path / name} cannot be read ({error}); run wattfold ingest again"
            ) from error


def _identity_of(path: Path, manifest: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
    """What tells the files of a dataset from others of the same names; empty if one is missing."""
    try:
        found = [(path / name).stat() for name in (MANIFEST, *sorted(manifest["files"]))]
    except OSError:
        return ()
    return tuple((each.st_dev, each.st_ino, each.st_size, each.st_mtime_ns) for each in found)


def _read_manifest(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise DatasetError(f"there is no dataset at {path}; make one with wattfold ingest")
    if not path.is_dir():
        raise DatasetError(f"{path} is a file; make a dataset of it with wattfold ingest {path}")
    file = path / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        complete = {"schema", "digest", "interval_minutes", "files"} <= manifest.keys()
    except FileNotFoundError:
        raise DatasetError(
            f"{path} is no dataset: it has no {MANIFEST}; make one with wattfold ingest"
        ) from None
    except (OSError, ValueError, AttributeError) as error:
        raise DatasetError(f"{file} cannot be read ({error}); run wattfold ingest again") from error
    if not complete or not _is_sound(manifest):
        raise DatasetError(f"{file} is incomplete; run wattfold ingest again")
    if manifest["schema"] != SCHEMA:
        raise DatasetError(
            f"{file} has schema {manifest['schema']}, this version reads {SCHEMA}; "
            "run wattfold ingest again"
        )
    return dict(manifest)


def _is_sound(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest says what it must, of files in its own directory."""
    files, minutes = manifest["files"], manifest["interval_minutes"]
    return (
        isinstance(minutes, int)
        and 0 < minutes <= 1440
        and isinstance(files, dict)
        and {READINGS, HOUSEHOLDS, HEALTH} <= files.keys()
        and all(re.fullmatch(r"[\w-][\w.-]{0,99}", name) for name in files)
        and all(
            isinstance(entry, dict)
            and isinstance(entry.get("bytes"), int)
            and isinstance(entry.get("sha256"), str)
            for entry in files.values()
        )
    )


def unknown_household(household: str, known: Mapping[str, int]) -> str:
    """Say that a household is unknown and name the ones a person may have meant."""
    near = get_close_matches(household[:100], known, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"there are {len(known)} others"
    return f"there is no household {household!r:.100} in the dataset; {hint}"


def file_digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Draft:
    """A dataset in the making: a directory to fill, and facts to put into the manifest.

    ``facts`` must come to hold ``interval_minutes``; ``sources``, ``timezone`` and ``options``
    tell where the readings come from.
    """

    path: Path
    facts: dict[str, Any]

    def readings_writer(self) -> pq.ParquetWriter:
        """Open the readings for writing; rows must come sorted by household and time."""
        # A dictionary of times would be two thirds of the file; their differences are next to
        # nothing, and quicker to write and to scan.
        return pq.ParquetWriter(
            self.path / READINGS,
            READINGS_SCHEMA,
            compression="zstd",
            use_dictionary=["household", "kwh"],
            column_encoding={"time": "DELTA_BINARY_PACKED"},
        )

    def write_households(self, households: pa.Table) -> None:
        """Write one row a household; the row number is its code in the readings."""
        pq.write_table(households, self.path / HOUSEHOLDS, compression="zstd")

    def write_health(self, report: Mapping[str, Any]) -> None:
        """Write the health report."""
        atomic.write_json(self.path / HEALTH, report)


@contextmanager
def new_dataset(path: str | Path) -> Iterator[Draft]:
    """Yield a draft to fill; it becomes the dataset at ``path`` when the block ends.

    An older dataset at ``path`` is replaced in one step; anything else there is left alone and
    refused. An error in the block leaves everything as it was.
    """
    path = Path(path)
    check_replaceable(path)
    with atomic.new_directory(path) as staging:
        draft = Draft(staging, {})
        yield draft
        _write_manifest(draft)


def _write_manifest(draft: Draft) -> None:
    files = {
        file.name: {"bytes": file.stat().st_size, "sha256": file_digest(file)}
        for file in sorted(draft.path.iterdir())
        if not file.name.startswith(".")
    }
    identity = [SCHEMA, draft.facts["interval_minutes"]]
    identity += [files[name]["sha256"] for name in (READINGS, HOUSEHOLDS)]
    manifest = {
        "format": "wattfold dataset",
        "schema": SCHEMA,
        "written_by": f"wattfold {version('wattfold')}",
        "digest": hashlib.sha256(json.dumps(identity).encode()).hexdigest(),
        **draft.facts,
        "files": files,
    }
    atomic.write_json(draft.path / MANIFEST, manifest)


def check_replaceable(path: Path) -> None:
    """Refuse to write a dataset over something that is not one."""
    if path.is_dir():
        foreign = any(path.iterdir()) and not (path / MANIFEST).is_file()
    else:
        foreign = path.exists()
    if foreign:
        raise InputError(f"{path} exists and is no dataset; choose another place to write to")
