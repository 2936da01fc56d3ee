"""From files of any known format to a dataset directory.

    sources -> staged rows (parsed, each with its reason where it is rejected)
            -> what the values are: interval, unit, register or demand
            -> sorted by household, time and place in the input
            -> duplicates collapsed, clock changes mended -> Parquet

Every reading of the input is accepted, collapsed or rejected, and counted once.
"""

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa

from core.errors import InputError
from core.progress import Progress, part, silent
from core.readings.cleaning import Readings, clean
from core.readings.clock import UNKNOWN, ClockChanges, clock_changes
from core.readings.conflicts import check_conflicts
from core.readings.dataset import (
    READINGS_SCHEMA,
    ROW_GROUP_SIZE,
    Dataset,
    Draft,
    check_replaceable,
    new_dataset,
)
from core.readings.decisions import Decisions, decide, nothing_usable
from core.readings.health import (
    Tally,
    health_report,
    households_table,
    judge_daily_kwh,
)
from core.readings.metadata import read_metadata
from core.readings.options import IngestOptions
from core.readings.placing import number_households, sorted_chunks
from core.readings.registers import difference
from core.readings.staged_tables import Tables, stage_all
from core.readings.staging import Staging, open_staging


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
    total = int((households["input"] - households["rejected"]).sum())
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
    daily = judge_daily_kwh(staging, tally, interval)
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
        raise InputError(nothing_usable(staging))
