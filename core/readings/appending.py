"""More readings for a dataset: a new week, a new household, corrected values.

The dataset is written anew beside the old one and exchanged for it in one step. A reading that is
there already changes nothing; one with another value replaces what was there.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from filelock import FileLock, Timeout

from core.errors import InputError
from core.progress import Progress, part, silent
from core.readings.cleaning import Readings
from core.readings.dataset import ACCOUNT_COLUMNS, Dataset, Draft, new_dataset
from core.readings.decisions import Decisions, decide
from core.readings.health import Tally, health_report, households_table
from core.readings.ingestion import (
    check_usable,
    clean_chunks,
    find_clock_changes,
    working_folder,
    write_readings,
)
from core.readings.merging import MergeCounts, merge, stored_readings
from core.readings.options import IngestOptions
from core.readings.placing import number_households
from core.readings.questions import Choice, UndecidedError
from core.readings.staged_tables import stage_all
from core.readings.staging import Staging, open_staging

_EXAMPLES = 3
_WAIT_SECONDS = 0.2
# So many readings of a household show their interval.
_JUDGED_FROM = 12


@dataclass(frozen=True)
class Appended:
    """A dataset, and what became of the readings that were to be appended.

    ``input`` = ``added`` + ``corrected`` + ``collapsed`` + ``rejected``; ``collapsed`` were in the
    dataset already, or twice in the input.
    """

    dataset: Dataset
    input: int
    added: int
    corrected: int
    collapsed: int
    rejected: int
    new_households: int
    skipped: tuple[str, ...]


class _NothingNewError(Exception):
    """Ends the writing of a dataset that would be the same."""

    def __init__(self, appended: Appended) -> None:
        super().__init__()
        self.appended = appended


def append(
    dataset: str | Path,
    sources: Sequence[str | Path],
    *,
    options: IngestOptions | None = None,
    progress: Progress = silent,
) -> Appended:
    """Add readings to a dataset directory, under the rules of its ingest.

    Parameters
    ----------
    sources : sequence of paths
        As for ``ingest``. Files that are part of the dataset already are skipped.
    options : IngestOptions, optional
        What differs from the options that the dataset was made with.

    Returns
    -------
    Appended
        Unchanged where there is nothing new.
    """
    if not sources:
        raise InputError("there is nothing to append; name at least one file")
    path = Path(dataset).absolute()
    with _locked(path, progress):
        old = Dataset.open(path)
        said = options or IngestOptions()
        try:
            with (
                new_dataset(path) as draft,
                working_folder(draft.path) as work,
                open_staging(work) as staging,
            ):
                done = _append(draft, staging, work, old, sources, said, progress)
        except _NothingNewError as end:
            done = end.appended
        progress(1.0, "done")
        return replace(done, dataset=Dataset.open(path))


@contextmanager
def _locked(path: Path, progress: Progress) -> Iterator[None]:
    """Let one process at a time change a dataset; a later one waits, and may be stopped.

    The lock lies beside the directory, which is exchanged for another one.
    """
    Dataset.open(path)
    lock = FileLock(path.with_name(f".{path.name}.lock"), thread_local=False)
    while True:
        try:
            lock.acquire(timeout=_WAIT_SECONDS, poll_interval=_WAIT_SECONDS)
            break
        except Timeout:
            progress(0.0, "waiting for another append")
    try:
        yield
    finally:
        with suppress(OSError):
            Path(lock.lock_file).unlink()
        lock.release()


def _append(
    draft: Draft,
    staging: Staging,
    work: Path,
    old: Dataset,
    sources: Sequence[str | Path],
    said: IngestOptions,
    progress: Progress,
) -> Appended:
    options = _merged(old.manifest.get("options", {}), said)
    known = frozenset(source["sha256"] for source in old.manifest.get("sources", ()))
    tables, facts = stage_all(sources, work, staging, options, part(progress, 0, 0.4), known=known)
    skipped = tuple(fact["name"] for fact in facts if fact["sha256"] in known)
    if not tables.plans:
        raise _NothingNewError(Appended(old, 0, 0, 0, 0, 0, 0, skipped))
    options = _with_interval(old, staging, options)
    decisions = decide(staging, tables, options, old.manifest)
    _check_same(old, staging, decisions, said)

    new_households = number_households(staging)
    ids, codes, new_codes = _number_all(old, new_households)
    changes = find_clock_changes(staging, options)
    new_tally, tally, counts = Tally.of(len(new_households)), Tally.of(len(ids)), MergeCounts()
    cleaned = clean_chunks(
        staging, decisions, options, changes, new_tally, part(progress, 0.4, 0.6)
    )
    fresh = (Readings(new_codes[c.household], c.time, c.kwh) for c in cleaned if len(c))
    merged = merge(stored_readings(old, codes), fresh, counts)
    total = old.readings_file.metadata.num_rows
    write_readings(draft, _counted(merged, tally), total, part(progress, 0.6, 0.98))
    check_usable(staging, new_tally)

    interval = decisions.grid.interval_minutes
    added = households_table(new_households, new_tally, staging, interval, changes)
    report = health_report(added, new_tally, staging, tables.ignored_columns)
    done = Appended(
        old,
        report["input"],
        counts.added,
        counts.corrected,
        report["input"] - report["rejected"] - counts.added - counts.corrected,
        report["rejected"],
        len(ids) - len(old.households),
        skipped,
    )
    if not counts.added and not counts.corrected:
        raise _NothingNewError(done)
    table = _households(old, added, ids, tally, staging, interval, changes)
    draft.write_households(pa.Table.from_pandas(table, preserve_index=False))
    draft.write_health(_health(old.health, report, table, counts))
    unchanged = {"format", "schema", "written_by", "digest", "files"}
    draft.facts |= {key: value for key, value in old.manifest.items() if key not in unchanged}
    draft.facts["median_daily_kwh"] = tally.median_daily_kwh(interval)
    draft.facts["sources"] = [
        *old.manifest.get("sources", ()),
        *(fact for fact in facts if fact["sha256"] not in known),
    ]
    return done


def _counted(chunks: Iterator[Readings], tally: Tally) -> Iterator[Readings]:
    for chunk in chunks:
        tally.add(chunk)
        yield chunk


def _merged(before: Mapping[str, Any], said: IngestOptions) -> IngestOptions:
    """Return the options of the dataset's ingest with what is said now."""
    known = {each.name for each in fields(IngestOptions)}
    kept = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in before.items()
        if name in known
    }
    return IngestOptions(**{**kept, **said.said()})


def _with_interval(old: Dataset, staging: Staging, options: IngestOptions) -> IngestOptions:
    """Take the interval from the dataset where the new readings are too few to show theirs."""
    most = staging.query(
        """SELECT max(n) FROM (SELECT count(*) AS n FROM staged WHERE reason IS NULL GROUP BY id)"""
    )[0][0]
    if most is not None and most < _JUDGED_FROM:
        return replace(options, interval_minutes=old.interval_minutes)
    return options


def _check_same(old: Dataset, staging: Staging, decisions: Decisions, said: IngestOptions) -> None:
    """Refuse readings of another interval, unit or kind than those of the dataset."""
    name = staging.files[0].file.name
    minutes = decisions.grid.interval_minutes
    if minutes != old.interval_minutes:
        raise InputError(
            f"{name} is read every {minutes} minutes and the dataset every "
            f"{old.interval_minutes}; append readings of the same interval"
        )
    before, now = old.manifest.get("unit", "kWh"), decisions.measure.unit
    if before != now and said.energy_unit is None:
        raise UndecidedError(
            "energy_unit",
            f"{name} is in {now} ({decisions.measure.unit_because}) and the dataset was made of "
            f"{before}",
            [
                Choice(f"the new readings are {unit}", {"energy_unit": unit})
                for unit in (now, before)
            ],
        )
    registers = old.manifest.get("cumulative", False)
    if registers != decisions.measure.cumulative and said.cumulative is None:
        kind = {True: "a running register", False: "demand by interval"}
        raise UndecidedError(
            "cumulative",
            f"{name} looks like {kind[decisions.measure.cumulative]} and the dataset was made of "
            f"{kind[registers]}",
            [Choice(f"it is {kind[answer]}", {"cumulative": answer}) for answer in (True, False)],
        )


def _number_all(old: Dataset, new: pd.DataFrame) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Number old and new households in the order of their ids; return ids and both codes."""
    before, now = old.households["household"].tolist(), new["household"].tolist()
    # In the order in which DuckDB sorts text: by its bytes.
    ids = sorted({*before, *now}, key=lambda name: name.encode())
    place = {name: code for code, name in enumerate(ids)}
    codes = [np.array([place[name] for name in names], np.int32) for names in (before, now)]
    return ids, codes[0], codes[1]


def _households(
    old: Dataset,
    added: pd.DataFrame,
    ids: list[str],
    tally: Tally,
    staging: Staging,
    interval: int,
    changes: Any,
) -> pd.DataFrame:
    """Return one row per household, with the accounts of both and the metadata of the old."""
    before = old.households.set_index("household").reindex(ids)
    now = added.set_index("household").reindex(ids)
    counts = pd.DataFrame(
        {
            "household": ids,
            **{
                name: (before[name].fillna(0) + now[name].fillna(0)).astype("int64").to_numpy()
                for name in ("input", "rejected")
            },
        }
    )
    table = households_table(counts, tally, staging, interval, changes)
    metadata = before.drop(columns=[name for name in ACCOUNT_COLUMNS if name in before])
    return pd.concat([table, metadata.reset_index(drop=True)], axis="columns")


def _health(
    before: Mapping[str, Any], report: Mapping[str, Any], table: pd.DataFrame, counts: MergeCounts
) -> dict[str, Any]:
    """Return the accounts of old and new input together."""
    reasons = {**before["rejected_by_reason"]}
    for reason, count in report["rejected_by_reason"].items():
        reasons[reason] = reasons.get(reason, 0) + count
    examples = {
        reason: [*before["examples"].get(reason, ()), *report["examples"].get(reason, ())][
            :_EXAMPLES
        ]
        for reason in reasons
    }
    cells = {**before.get("ignored", {}).get("cells", {})}
    for reason, count in report["ignored"]["cells"].items():
        cells[reason] = cells.get(reason, 0) + count
    columns = {**before.get("ignored", {}).get("columns", {}), **report["ignored"]["columns"]}
    sums = (
        "input",
        "rejected",
        "without_household",
        "conflicting_duplicates",
        "moved_out_of_the_hour_before",
        "second_readings_of_a_repeated_hour",
    )
    return {
        **before,
        **{key: before.get(key, 0) + report[key] for key in sums},
        "accepted": int(table["accepted"].sum()),
        "collapsed": int(table["collapsed"].sum()),
        "corrected": before.get("corrected", 0) + counts.corrected,
        "rejected_by_reason": reasons,
        "ignored": {"cells": cells, "columns": columns},
        "examples": examples,
        "notices": list(dict.fromkeys([*before["notices"], *report["notices"]])),
    }
