"""From files of any known format to a dataset directory.

    sources -> staged rows (parsed, each with its reason where it is rejected)
            -> sorted by household, time and place in the input
            -> duplicates collapsed, clock changes mended -> Parquet

Every reading of the input is accepted, collapsed or rejected, and counted once.
"""

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from core.errors import InputError
from core.progress import Progress, part, silent
from core.readings.cleaning import Readings, clean
from core.readings.clock import UNKNOWN, ClockChanges, clock_changes
from core.readings.dataset import (
    READINGS_SCHEMA,
    ROW_GROUP_SIZE,
    Dataset,
    Draft,
    check_replaceable,
    new_dataset,
)
from core.readings.formats import FORMATS, Format, recognise
from core.readings.health import find_examples
from core.readings.inspection import Inspection, inspecting
from core.readings.intervals import find_interval
from core.readings.metadata import read_metadata
from core.readings.options import IngestOptions
from core.readings.sources import Source, find_sources
from core.readings.staging import Staging, open_staging

_GRID_TOLERANCE_SECONDS = 60
_BATCH_ROWS = 8 * ROW_GROUP_SIZE


@dataclass
class Tally:
    """What became of the readings that were sorted, counted while they stream by."""

    accepted: np.ndarray
    distinct: np.ndarray
    first: np.ndarray
    last: np.ndarray
    conflicting: int = 0
    moved: int = 0
    repeated: int = 0

    @classmethod
    def of(cls, households: int) -> "Tally":
        """Return a tally at zero."""
        zeros = np.zeros(households, np.int64)
        return cls(zeros, zeros.copy(), zeros.copy(), zeros.copy())

    def add(self, kept: Readings) -> None:
        """Count the kept readings of whole households."""
        codes, starts, counts = np.unique(kept.household, return_index=True, return_counts=True)
        self.accepted[codes] = counts
        self.first[codes] = kept.time[starts]
        self.last[codes] = kept.time[starts + counts - 1]
        again = (kept.time[1:] == kept.time[:-1]) & (kept.household[1:] == kept.household[:-1])
        self.distinct[codes] = counts
        np.subtract.at(self.distinct, kept.household[1:][again], 1)


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
        Files of one format that make one dataset together; CSV or text, plain, gzipped or
        zipped, or Parquet.
    to : path
        The dataset directory to write. An older dataset there is replaced in one step.
    metadata : path, optional
        A table with one row a household.

    Returns
    -------
    Dataset
    """
    options = options or IngestOptions()
    if not sources:
        raise InputError("there is nothing to ingest; name at least one file")
    check_replaceable(Path(to))
    with new_dataset(to) as draft, tempfile.TemporaryDirectory(dir=draft.path, prefix=".") as work:
        with open_staging(Path(work), threads=threads) as staging:
            format, facts = _stage_all(
                sources, Path(work), staging, options, part(progress, 0, 0.4)
            )
            _write(draft, staging, format, options, metadata, metadata_id_column, progress)
        draft.facts |= {"sources": facts, "options": _said(options)}
    progress(1.0, "done")
    return Dataset.open(to)


def _said(options: IngestOptions) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    defaults = asdict(IngestOptions())
    return {key: value for key, value in asdict(options).items() if value != defaults[key]}


def _stage_all(
    names: Sequence[str | Path],
    work: Path,
    staging: Staging,
    options: IngestOptions,
    progress: Progress,
) -> tuple[Format, list[dict[str, Any]]]:
    """Stage every source, all of one format; return it and the facts of each source."""
    formats: dict[str, Source] = {}
    facts: list[tuple[dict[str, Any], Inspection]] = []
    with inspecting() as inspect:
        for number, source in enumerate(find_sources(names, work)):
            start, stop = (min((number + step) / len(names), 1.0) for step in (0, 1))
            part(progress, start, stop)(0.0, f"reading {source.name}")
            if not source.is_parquet:
                _ = source.head  # says what is wrong with a file that is no table
            format = FORMATS[options.format] if options.format != "auto" else recognise(source)
            formats.setdefault(format.name, source)
            if len(formats) > 1:
                (one, first), (other, second) = formats.items()
                raise InputError(
                    f"{first.name} is {one} and {second.name} is {other}; ingest them apart, or "
                    "say which format both are with --format"
                )
            inspection = inspect(source)
            staging.progress = inspection.alongside(part(progress, start, stop))
            format.stage(source, staging, options)
            fact = {"name": source.name, "bytes": source.path.stat().st_size}
            facts.append((fact, inspection))
        described = [{**fact, "sha256": inspection.digest()} for fact, inspection in facts]
    if staging.row_count() == 0:
        raise InputError(
            f"{', '.join(source['name'] for source in described)}: no readings below the header; "
            "name a file with readings"
        )
    return format, described


def _write(
    draft: Draft,
    staging: Staging,
    format: Format,
    options: IngestOptions,
    metadata: str | Path | None,
    metadata_id_column: str | None,
    progress: Progress,
) -> None:
    """Sort, clean and write what is staged, with its accounts."""
    progress(0.4, "finding the interval")
    if not staging.query("SELECT 1 FROM staged WHERE reason IS NULL LIMIT 1"):
        raise InputError(_nothing_usable(staging))
    interval, others = find_interval(staging, options)
    stamp = options.stamp or _stamp(staging, format)
    _mark_grid(staging, interval, others, shift=interval if stamp == "end" else 0)

    households = _number_households(staging)
    tally = Tally.of(len(households))
    changes = _changes(staging, options)
    accepted_total = staging.query("SELECT count(*) FROM placed WHERE reason IS NULL")[0][0]
    with draft.readings_writer() as writer, ThreadPoolExecutor(max_workers=1) as background:
        written: Future[None] | None = None
        done = 0
        for chunk in _sorted_chunks(staging, part(progress, 0.4, 0.7)):
            cleaned = clean(chunk, interval=interval * 60, changes=changes)
            tally.add(cleaned.kept)
            tally.conflicting += cleaned.conflicting
            tally.moved += cleaned.moved
            tally.repeated += cleaned.repeated
            if written:
                written.result()
            written = background.submit(
                writer.write_table, _as_table(cleaned.kept), row_group_size=ROW_GROUP_SIZE
            )
            done += len(chunk)
            progress(0.7 + 0.28 * done / max(accepted_total, 1), "writing")
        if written:
            written.result()
    if not tally.accepted.any():
        raise InputError(_nothing_usable(staging))

    table = _households_table(households, tally, staging, interval, changes)
    if metadata is not None:
        columns, notices = read_metadata(
            metadata, list(table["household"]), id_column=metadata_id_column
        )
        table = pd.concat([table, columns], axis="columns")
        for notice in notices:
            staging.notice(notice)
    draft.write_households(pa.Table.from_pandas(table, preserve_index=False))
    draft.write_health(_health(table, tally, staging))
    draft.facts |= {
        "interval_minutes": interval,
        "timezone": options.timezone,
        "source_format": format.name,
        "stamp": stamp,
    }


def _nothing_usable(staging: Staging) -> str:
    reasons = staging.query(
        "SELECT reason, count(*) FROM staged WHERE reason IS NOT NULL GROUP BY 1 ORDER BY 2 DESC"
    )
    told = ", ".join(f"{count} × {reason}" for reason, count in reasons) or "none could be read"
    files = ", ".join(file.source.name for file in staging.files[:3])
    return f"{files}: no usable reading ({told}); name the columns or the format of the file"


def _stamp(staging: Staging, format: Format) -> str:
    """Say which end of the interval times mark; 00:29:59 can only be the end."""
    share = staging.query(
        "SELECT avg((epoch(time)::BIGINT % 60 = 59)::INTEGER) FROM staged WHERE reason IS NULL"
    )[0][0]
    if share > 0.5 and format.stamp == "start":
        staging.notice("times such as 00:29:59 were taken for the end of their interval")
        return "end"
    return format.stamp


def _mark_grid(staging: Staging, interval: int, others: frozenset[str], shift: int) -> None:
    """Define the view ``placed``: staged rows on the grid, or rejected because they are off it."""
    seconds = interval * 60
    staging.connection.execute("CREATE TABLE other_interval (id VARCHAR)")
    if others:
        staging.connection.executemany(
            "INSERT INTO other_interval VALUES (?)", [[name] for name in sorted(others)]
        )
    other = "WHEN id IN (SELECT id FROM other_interval) THEN 'other interval'" if others else ""
    staging.connection.execute(f"""
        CREATE VIEW placed AS
        SELECT row, id, kwh, line, raw, grid_second - {60 * shift} AS second,
            CASE WHEN reason IS NOT NULL THEN reason
                {other}
                WHEN abs(second - grid_second) > {_GRID_TOLERANCE_SECONDS}
                    THEN 'time off the grid'::reason
            END AS reason, time
        FROM (SELECT *, (second + {seconds // 2}) // {seconds} * {seconds} AS grid_second
            FROM (SELECT rowid AS row, *, epoch(time)::BIGINT AS second FROM staged))
    """)


def _number_households(staging: Staging) -> pd.DataFrame:
    """Number the households in the order of their ids; count what was rejected of each."""
    staging.connection.execute("""
        CREATE TABLE households AS
        SELECT id, (row_number() OVER (ORDER BY id) - 1)::INTEGER AS code
        FROM (SELECT DISTINCT id FROM staged WHERE id IS NOT NULL)
    """)
    return staging.connection.execute("""
        SELECT h.id AS household, count(*) AS input, count(p.reason) AS rejected
        FROM placed AS p JOIN households AS h USING (id) GROUP BY h.id, h.code ORDER BY h.code
    """).df()


def _changes(staging: Staging, options: IngestOptions) -> ClockChanges:
    if options.timezone is None:
        return UNKNOWN
    first, last = staging.query("SELECT min(time), max(time) FROM staged WHERE reason IS NULL")[0]
    return clock_changes(options.timezone, first.year, last.year)


def _sorted_chunks(staging: Staging, progress: Progress) -> Iterator[Readings]:
    """Yield the usable readings, sorted, in chunks of whole households."""
    progress(0.0, "sorting")
    relation = staging.connection.sql("""
        SELECT code, second, kwh FROM placed JOIN households USING (id)
        WHERE reason IS NULL ORDER BY code, second, row
    """)
    reader = staging.watch(lambda: relation.to_arrow_reader(_BATCH_ROWS), progress)
    first = staging.watch(lambda: next(reader, None), progress)
    waiting: list[Readings] = []
    for batch in chain([first] if first else [], reader):
        arrays = Readings(*(column.to_numpy(zero_copy_only=False) for column in batch.columns))
        # The last household of a batch may go on in the next one.
        end = int(np.searchsorted(arrays.household, arrays.household[-1]))
        if end > 0:
            yield _join([*waiting, arrays.take(slice(0, end))])
            waiting = []
        waiting.append(arrays.take(slice(end, None)))
    if waiting:
        yield _join(waiting)


def _join(parts: list[Readings]) -> Readings:
    return Readings(
        np.concatenate([readings.household for readings in parts]),
        np.concatenate([readings.time for readings in parts]),
        np.concatenate([readings.kwh for readings in parts]),
    )


def _as_table(readings: Readings) -> pa.Table:
    return pa.Table.from_arrays(
        [
            pa.array(readings.household),
            pa.array(readings.time * 1_000_000).cast(pa.timestamp("us")),
            pa.array(readings.kwh),
        ],
        schema=READINGS_SCHEMA,
    )


def _households_table(
    households: pd.DataFrame, tally: Tally, staging: Staging, interval: int, changes: ClockChanges
) -> pd.DataFrame:
    """Return one row a household, with its accounts."""
    present = tally.accepted > 0
    begin, end = tally.first[present].min(), tally.last[present].max()
    skipped = changes.skipped[(changes.skipped >= begin) & (changes.skipped <= end)]
    expected = (end - begin) // (interval * 60) + 1 - len(skipped) * (3600 // (interval * 60))
    time = {
        name: pd.Series(seconds.astype("datetime64[s]").astype("datetime64[us]")).where(present)
        for name, seconds in (("first", tally.first), ("last", tally.last))
    }
    table = households.assign(
        accepted=tally.accepted,
        collapsed=households["input"] - households["rejected"] - tally.accepted,
        missing_share=np.clip(1 - tally.distinct / expected, 0, 1),
        **time,
    )
    if not present.all():
        names = ", ".join(households["household"][~present][:6])
        staging.notice(f"households without a usable reading: {names}")
    columns = ["household", "input", "accepted", "collapsed", "rejected", "first", "last"]
    return table[[*columns, "missing_share"]]


def _health(table: pd.DataFrame, tally: Tally, staging: Staging) -> dict[str, Any]:
    """Return the accounts of the whole input."""
    by_reason = dict(
        staging.query(
            """SELECT reason::VARCHAR, count(*) FROM placed WHERE reason IS NOT NULL
            GROUP BY 1 ORDER BY 2 DESC, 1"""
        )
    )
    if staging.malformed:
        by_reason["malformed line"] = len(staging.malformed)
    total = staging.row_count() + len(staging.malformed)
    return {
        "input": total,
        "accepted": int(table["accepted"].sum()),
        "collapsed": int(table["collapsed"].sum()),
        "rejected": sum(by_reason.values()),
        "rejected_by_reason": by_reason,
        "without_household": total - int(table["input"].sum()),
        "conflicting_duplicates": tally.conflicting,
        "moved_out_of_the_hour_before": tally.moved,
        "second_readings_of_a_repeated_hour": tally.repeated,
        "examples": find_examples(staging),
        "notices": staging.notices,
    }
