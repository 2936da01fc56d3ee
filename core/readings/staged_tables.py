"""The sources of a dataset, recognised and staged: all of one format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.progress import Progress, part
from core.readings.clock import time_zone
from core.readings.containers import Containers
from core.readings.dataset import file_digest
from core.readings.file_check import FileCheck, checking_files
from core.readings.formats import FORMATS, recognise
from core.readings.formats.base import Format, Plan
from core.readings.options import IngestOptions
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source, group_alike, household_names
from core.readings.staging import StagedFile, Staging


@dataclass(frozen=True)
class Tables:
    """The tables that were staged: their format, how each one is read, what was skipped."""

    format: Format
    plans: list[tuple[Source, Plan]]
    skipped: list[str]

    @property
    def ignored_columns(self) -> dict[str, str]:
        """Return the columns that are no readings, and why."""
        return {
            name: role.removeprefix("ignored: ")
            for _, plan in self.plans
            for name, role in plan.roles.items()
            if role.startswith("ignored") and name
        }


def stage_all(
    names: Sequence[str | Path],
    work: Path,
    staging: Staging,
    options: IngestOptions,
    progress: Progress,
    *,
    known: frozenset[str] = frozenset(),
) -> tuple[Tables, list[dict[str, Any]]]:
    """Stage every source, all of one format; return them and the facts of each file.

    Files whose digest is ``known`` are left out; where all of them are, there are no plans.
    """
    if options.timezone is not None:
        time_zone(options.timezone)
    containers = Containers(work, options)
    progress(0.0, f"reading {Path(names[0]).name}")
    files = containers.open_all(names)
    staging.files = [StagedFile(file) for file in files]
    staging.households = household_names([file.name for file in files])
    if containers.skipped:
        staging.notice(
            f"{len(containers.skipped)} files are no tables and were left out, such as "
            f"{containers.skipped[0]}"
        )
    plans: list[tuple[Source, Plan]] = []
    formats: dict[str, tuple[Format, Source]] = {}
    checks: list[FileCheck] = []
    left_out = [file for file in files if known and file_digest(file.original) in known]
    sources = list(group_alike(file for file in files if file not in left_out))
    with checking_files() as check:
        for source, (start, stop) in zip(sources, _shares(sources), strict=True):
            reading = part(progress, start, stop)
            reading(0.0, f"reading {source.first.name}")
            if not source.is_parquet:
                _ = source.head  # says what is wrong with a file that is no table
            format = recognise(source, options)
            formats.setdefault(format.name, (format, source))
            _check_one_format(formats)
            if staging.limit is None:
                checks.append(check(source.files))
                staging.progress = checks[-1].alongside(reading)
            plan = format.plan(source, staging, options)
            plans.append((source, plan))
            staging.insert(
                source,
                plan.select,
                plan.parameters,
                skipped_lines=plan.skipped_lines,
                rows_per_line=plan.rows_per_line,
            )
        digests = {file.number: digest for each in checks for file, digest in each.digests()}
    facts = [
        {
            "name": file.name,
            "bytes": file.original.stat().st_size,
            "sha256": digests.get(file.number) or file_digest(file.original),
        }
        for file in (files if staging.limit is None else ())
    ]
    if not sources:
        return Tables(FORMATS["long"], [], containers.skipped), facts
    if not staging.query("SELECT 1 FROM staged LIMIT 1"):
        raise InputError(
            f"{', '.join(file.name for file in files[:6])}: no readings below the header; name a "
            "file with readings"
        )
    return Tables(format, plans, containers.skipped), facts


def _shares(sources: Sequence[Source]) -> Iterator[tuple[float, float]]:
    """Yield the part of the whole that each source is, by its number of files."""
    total = sum(len(source.files) for source in sources)
    ends = [0]
    for source in sources:
        ends.append(ends[-1] + len(source.files))
    return ((start / total, stop / total) for start, stop in pairwise(ends))


def _check_one_format(formats: dict[str, tuple[Format, Source]]) -> None:
    if len(formats) > 1:
        (one, (_, first)), (other, (_, second)) = formats.items()
        raise UndecidedError(
            "format",
            f"{first.name} looks like {one} and {second.name} like {other}; files of two formats "
            "are two datasets, unless both are of one",
            [Choice(f"both are {name}", {"format": name}) for name in (one, other)],
        )
