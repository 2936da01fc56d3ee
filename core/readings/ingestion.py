"""From files of any known format to a dataset directory.

    sources -> staged rows (parsed, each with its reason where it is rejected)
            -> what the values are: interval, unit, register or demand
            -> sorted by household, time and place in the input
            -> duplicates collapsed, clock changes mended -> Parquet

Every reading of the input is accepted, collapsed or rejected, and counted once.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from core.errors import InputError
from core.progress import Progress, part, silent
from core.readings.cleaning import Readings, clean
from core.readings.clock import UNKNOWN, ClockChanges, clock_changes, time_zone
from core.readings.containers import Containers
from core.readings.dataset import (
    READINGS_SCHEMA,
    ROW_GROUP_SIZE,
    Dataset,
    Draft,
    check_replaceable,
    file_digest,
    new_dataset,
)
from core.readings.file_check import FileCheck, checking_files
from core.readings.formats import FORMATS, recognise
from core.readings.formats.base import Format, Plan
from core.readings.health import (
    Tally,
    health_report,
    households_table,
    plausibility_notice,
)
from core.readings.intervals import Grid, find_grid
from core.readings.measure import Measure, find_measure
from core.readings.metadata import read_metadata
from core.readings.options import IngestOptions
from core.readings.placing import number_households, place, sorted_chunks, strip_ids
from core.readings.questions import Choice, UndecidedError
from core.readings.registers import difference
from core.readings.sources import Source, group_alike, household_names
from core.readings.staging import StagedFile, Staging, open_staging

# Where so many readings contradict another one of the same household and time, the time or the
# household is not what it was taken for. Of several files, one may be a newer version of another.
_CONFLICTING_SHARE = {"one file": 0.2, "several files": 0.5}


_MOST_KINDS = 8


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


@dataclass(frozen=True)
class Decisions:
    """What was found out about the readings of all tables together."""

    grid: Grid
    measure: Measure
    stamp: str
    stamp_because: str

    def facts(self) -> dict[str, Any]:
        """Return what the manifest keeps."""
        return {
            "interval_minutes": self.grid.interval_minutes,
            "stamp": self.stamp,
            "stamp_because": self.stamp_because,
            "unit": self.measure.unit,
            "unit_because": self.measure.unit_because,
            "cumulative": self.measure.cumulative,
            "cumulative_because": self.measure.cumulative_because,
        }


def ingest(
    sources: Sequence[str | Path],
    to: str | Path,
    *,
    options: IngestOptions | None = None,
    metadata: str | Path | None = None,
    metadata_id_column: str | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> Dataset:
    """Read files of meter readings into a dataset directory.

    Parameters
    ----------
    sources : sequence of paths
        Files, folders and archives that make one dataset together; CSV or text, plain, gzipped or
        zipped, Excel, JSON or Parquet.
    to : path
        The dataset directory to write. An older dataset there is replaced in one step.
    metadata : path, optional
        A table with one row per household.

    Returns
    -------
    Dataset

    Raises
    ------
    UndecidedError
        Where the files can be read in several ways; it names the options that decide.
    """
    options = options or IngestOptions()
    if not sources:
        raise InputError("there is nothing to ingest; name at least one file")
    check_replaceable(Path(to))
    with new_dataset(to) as draft, working_folder(draft.path) as work:
        with open_staging(work, threads=threads) as staging:
            tables, facts = stage_all(sources, work, staging, options, part(progress, 0, 0.4))
            _write(draft, staging, tables, options, metadata, metadata_id_column, progress)
        draft.facts |= {"sources": facts, "options": options.said()}
    progress(1.0, "done")
    return Dataset.open(to)


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """Yield a folder for what only an ingest needs, where the dataset is going to be."""
    with tempfile.TemporaryDirectory(dir=beside, prefix=".") as folder:
        yield Path(folder)


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


def decide(
    staging: Staging,
    tables: Tables,
    options: IngestOptions,
    before: Mapping[str, Any] | None = None,
) -> Decisions:
    """Find out what all readings have in common, and put them onto the grid.

    ``before`` is the manifest of the dataset that they are appended to.
    """
    strip_ids(staging)
    if not staging.query("SELECT 1 FROM staged WHERE reason IS NULL LIMIT 1"):
        raise InputError(_nothing_usable(staging))
    grid = find_grid(staging, options)
    stated = [(source.name, plan.unit) for source, plan in tables.plans]
    measure = find_measure(staging, grid, stated, options, before)
    stamp, because = _find_stamp(staging, tables, options, grid, measure, before or {})
    place(staging, grid, measure, options, stamp=stamp)
    return Decisions(grid, measure, stamp, because)


def find_clock_changes(staging: Staging, options: IngestOptions) -> ClockChanges:
    """Return the clock changes of the years that the readings are from."""
    if options.timezone is None:
        return UNKNOWN
    first, last = staging.query("SELECT min(time), max(time) FROM staged WHERE reason IS NULL")[0]
    return clock_changes(options.timezone, first.year, last.year)


def clean_chunks(
    staging: Staging,
    decisions: Decisions,
    options: IngestOptions,
    changes: ClockChanges,
    tally: Tally,
    progress: Progress,
) -> Iterator[Readings]:
    """Yield what is kept of the placed readings, whole households at a time, and count it."""
    interval = 60 * decisions.grid.interval_minutes
    cumulative = decisions.measure.cumulative
    largest = options.maximum_kw * decisions.grid.interval_minutes / 60
    for chunk in sorted_chunks(staging, progress, with_rows=cumulative):
        cleaned = clean(chunk, interval=interval, changes=changes)
        tally.add_cleaned(cleaned)
        kept = cleaned.kept
        if cumulative:
            differences = difference(kept, interval=interval, changes=changes)
            for reason, rows in differences.rejected.items():
                tally.reject(reason, rows)
            beyond = differences.kept.kwh > largest
            if beyond.any():
                tally.reject("beyond the physical bound", differences.kept.take(beyond))
            kept = differences.kept.take(~beyond)
        tally.add(kept)
        yield kept


def _write(
    draft: Draft,
    staging: Staging,
    tables: Tables,
    options: IngestOptions,
    metadata: str | Path | None,
    metadata_id_column: str | None,
    progress: Progress,
) -> None:
    """Sort, clean and write what is staged, with its accounts."""
    progress(0.4, "finding the interval")
    decisions = decide(staging, tables, options)
    interval = decisions.grid.interval_minutes
    households = number_households(staging)
    tally = Tally.of(len(households))
    changes = find_clock_changes(staging, options)
    total = staging.query("SELECT count(*) FROM placed WHERE reason IS NULL")[0][0]
    chunks = clean_chunks(staging, decisions, options, changes, tally, part(progress, 0.4, 0.7))
    write_readings(draft, chunks, total, part(progress, 0.7, 0.98))
    check_usable(staging, tally)
    check_conflicts(tables, tally, total)

    table = households_table(households, tally, staging, interval, changes)
    if metadata is not None:
        columns, notices = read_metadata(
            metadata, list(table["household"]), id_column=metadata_id_column
        )
        table = pd.concat([table, columns], axis="columns")
        for notice in notices:
            staging.notice(notice)
    daily = tally.median_daily_kwh(interval)
    if daily is not None and (doubt := plausibility_notice(daily, interval)):
        staging.notice(doubt)
    draft.write_households(pa.Table.from_pandas(table, preserve_index=False))
    draft.write_health(health_report(table, tally, staging, tables.ignored_columns))
    draft.facts |= {
        **decisions.facts(),
        "median_daily_kwh": daily,
        "timezone": options.timezone,
        "source_format": tables.format.name,
    }


def write_readings(
    draft: Draft, chunks: Iterator[Readings], total: int, progress: Progress
) -> None:
    """Write chunks of readings while the next one is made."""
    with draft.readings_writer() as writer, ThreadPoolExecutor(max_workers=1) as background:
        written: Future[None] | None = None
        done = 0
        for chunk in chunks:
            if written:
                written.result()
            written = background.submit(
                writer.write_table, _as_table(chunk), row_group_size=ROW_GROUP_SIZE
            )
            done += len(chunk)
            progress(min(done / max(total, 1), 1.0), "writing")
        if written:
            written.result()


def _as_table(readings: Readings) -> pa.Table:
    return pa.Table.from_arrays(
        [
            pa.array(readings.household),
            pa.array(readings.time * 1_000_000).cast(pa.timestamp("us")),
            pa.array(readings.kwh),
        ],
        schema=READINGS_SCHEMA,
    )


def check_usable(staging: Staging, tally: Tally) -> None:
    """Refuse an input of which nothing is left."""
    if not tally.accepted.any():
        raise InputError(_nothing_usable(staging))


def _nothing_usable(staging: Staging) -> str:
    reasons = staging.query(
        "SELECT reason, count(*) FROM staged WHERE reason IS NOT NULL GROUP BY 1 ORDER BY 2 DESC"
    )
    told = ", ".join(f"{count} × {reason}" for reason, count in reasons) or "none could be read"
    files = ", ".join(staged.file.name for staged in staging.files[:3])
    return f"{files}: no usable reading ({told}); name the columns or the format of the file"


def check_conflicts(tables: Tables, tally: Tally, total: int) -> None:
    """Refuse readings most of which contradict another one of the same household and time."""
    files = sum(len(source.files) for source, _ in tables.plans)
    share = _CONFLICTING_SHARE["one file" if files == 1 else "several files"]
    if tally.conflicting <= share * total:
        return
    source, plan = tables.plans[0]
    time = [name for name, role in plan.roles.items() if role == "time"]
    id = [name for name, role in plan.roles.items() if role == "household"]
    problem = (
        f"{source.name}: {tally.conflicting:,} of {total:,} readings have the household and the "
        f"time of another one and differ from it; the time is not in {', '.join(time) or 'a row'} "
        f"alone, or the household not in {', '.join(id) or 'the name of the file'}"
    )
    if plan.rows_per_line == 1 and (choices := _telling_apart(source, plan, time, id)):
        raise UndecidedError("id_column" if not id else "time_columns", problem, choices)
    if kinds := _kinds_of_rows(source, plan, [*time, *id]):
        raise InputError(f"{problem}; {kinds}")
    raise InputError(f"{problem}; name a file that tells its readings apart")


def _telling_apart(source: Source, plan: Plan, time: list[str], id: list[str]) -> list[Choice]:
    """Return the columns that may be the household or the period of the day."""
    places = [source.place(name) for name in [*time, *id]]
    choices = []
    for name, role in plan.roles.items():
        if role in ("time", "household", "value") or not name:
            continue
        keys = {tuple(row[place] for place in [*places, source.place(name)]) for row in source.rows}
        if len(keys) < 0.9 * len(source.rows):
            continue
        if len(time) == 1 and source.contents[name] in ("number", "clock"):
            choices.append(Choice(f"{name} is the time of day", {"time_columns": (time[0], name)}))
        if not id:
            choices.append(Choice(f"{name} is the household", {"id_column": name}))
    return choices


def _kinds_of_rows(source: Source, plan: Plan, keys: list[str]) -> str:
    """Say which column of a few words tells rows of one household and time apart."""
    places = [source.place(name) for name in keys]
    for name, role in plan.roles.items():
        if role in ("time", "household", "value") or source.contents[name] != "text":
            continue
        words = list(dict.fromkeys(source.column(name)))
        distinct = {tuple(row[p] for p in [*places, source.place(name)]) for row in source.rows}
        if 1 < len(words) <= _MOST_KINDS and len(distinct) > 0.9 * len(source.rows):
            return (
                f"rows differ in {name!r} ({', '.join(words)}): keep those of one of them, and "
                "name a file for each"
            )
    return ""


def _find_stamp(
    staging: Staging,
    tables: Tables,
    options: IngestOptions,
    grid: Grid,
    measure: Measure,
    before: Mapping[str, Any],
) -> tuple[str, str]:
    """Say which end of the interval times mark, and how that is known."""
    if options.stamp:
        return options.stamp, "said by the user"
    if measure.cumulative:
        # The register was read at that moment; its difference is made of the time after it.
        return "start", "a register is read at a moment"
    if said := [plan for _, plan in tables.plans if plan.stamp]:
        if said[0].stamp != tables.format.stamp:
            staging.notice(
                f"times were taken for the {said[0].stamp} of their interval: "
                f"{said[0].stamp_because}"
            )
        return str(said[0].stamp), said[0].stamp_because
    if "stamp" in before:
        return str(before["stamp"]), "the dataset"
    share = staging.query(
        "SELECT avg((epoch(time)::BIGINT % 60 = 59)::INTEGER) FROM staged WHERE reason IS NULL"
    )[0][0]
    if share > 0.5 and tables.format.stamp == "start":
        staging.notice("times such as 00:29:59 were taken for the end of their interval")
        return "end", "times such as 00:29:59 can only be the end"
    if tables.format.name in ("long", "wide") and _days_end_at_midnight(staging, grid):
        staging.notice(
            "every record begins one interval after midnight and ends at a midnight: check whether "
            "its times mark the end of their intervals"
        )
    return tables.format.stamp, "the format"


def _days_end_at_midnight(staging: Staging, grid: Grid) -> bool:
    """Whether whole days seem to have been written under the ends of their intervals."""
    found: bool = staging.query(
        """SELECT bool_and(first % 86400 = $seconds AND last % 86400 = 0) FROM (
            SELECT min(epoch(time)::BIGINT) AS first, max(epoch(time)::BIGINT) AS last
            FROM staged WHERE reason IS NULL GROUP BY id)""",
        {"seconds": 60 * grid.interval_minutes},
    )[0][0]
    return found
