"""A look at files before they are ingested: what they are taken for, and what is in doubt.

The import dialog shows it; every field that was found out is a field of ``IngestOptions`` that
can be said otherwise.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.progress import Progress, silent
from core.readings.conflicts import check_conflicts
from core.readings.decisions import Decisions, decide
from core.readings.health import Tally, health_report, households_table, judge_daily_kwh
from core.readings.ingestion import check_usable, clean_chunks, find_clock_changes
from core.readings.options import IngestOptions
from core.readings.placing import number_households
from core.readings.questions import Choice, UndecidedError
from core.readings.staged_tables import Tables, stage_all
from core.readings.staging import Staging, open_staging

# So many rows of each table are looked at; how dates and numbers are written is decided on all of
# them where the first ones do not tell.
_LOOKED_AT_ROWS = 100_000
_SHOWN_ROWS = 20
_SHOWN_HOUSEHOLDS = 50
_MOST_DOUBTS = 10


@dataclass(frozen=True)
class Column:
    """A column of the first table: what its cells are, and what it is taken for."""

    name: str
    content: str
    role: str


@dataclass(frozen=True)
class Doubt:
    """Something that only the user can decide; the first choice was taken to look further."""

    topic: str
    problem: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a few rows of files show.

    Attributes
    ----------
    files, skipped : tuple of str
        The tables, and the files that are none.
    format, format_title : str
        What the tables are recognised as.
    columns : tuple of Column
        Those of the first table; empty where a format has none.
    first_rows : tuple of tuple of str
        The first rows of the first table, cell by cell; whole lines where it has no columns.
    households : tuple of str
        The first of the households in the rows that were looked at; ``household_count`` is the
        number of all of them.
    decisions : dict
        ``interval_minutes``, ``unit``, ``stamp``, ``cumulative`` and for each of the last three
        how it was decided (``…_because``).
    median_daily_kwh : float or None
        Of the rows that were looked at.
    account : dict
        The health report of the rows that were looked at.
    doubts : tuple of Doubt
        What has to be decided before an ingest; empty where nothing is in doubt.
    options : IngestOptions
        Those given, and the first choice of every doubt.
    """

    files: tuple[str, ...]
    skipped: tuple[str, ...]
    format: str
    format_title: str
    columns: tuple[Column, ...]
    first_rows: tuple[tuple[str, ...], ...]
    households: tuple[str, ...]
    household_count: int
    decisions: dict[str, Any]
    median_daily_kwh: float | None
    account: dict[str, Any]
    doubts: tuple[Doubt, ...]
    options: IngestOptions


def inspect(
    sources: Sequence[str | Path],
    *,
    options: IngestOptions | None = None,
    folder: str | Path | None = None,
    progress: Progress = silent,
) -> Inspection:
    """Look at the first rows of files as an ingest would.

    Parameters
    ----------
    folder : path, optional
        Where to keep what is needed meanwhile; by default the system's temporary files.

    Raises
    ------
    InputError
        Where the files cannot be read at all. What can be decided by the user is no error but one
        of the ``doubts``.
    """
    options = options or IngestOptions()
    doubts: list[Doubt] = []
    while True:
        try:
            return _look(sources, options, tuple(doubts), folder, progress)
        except UndecidedError as error:
            if not error.choices or len(doubts) == _MOST_DOUBTS:
                raise
            doubts.append(Doubt(error.topic, error.problem, error.choices))
            options = replace(options, **error.choices[0].options)


def _look(
    sources: Sequence[str | Path],
    options: IngestOptions,
    doubts: tuple[Doubt, ...],
    folder: str | Path | None,
    progress: Progress,
) -> Inspection:
    with tempfile.TemporaryDirectory(dir=folder) as work, open_staging(Path(work)) as staging:
        staging.limit = _LOOKED_AT_ROWS
        tables, _ = stage_all(sources, Path(work), staging, options, progress)
        decisions = decide(staging, tables, options)
        account, daily, households = _account(staging, tables, decisions, options)
        first = tables.plans[0][0]
        roles = tables.plans[0][1].roles
        return Inspection(
            files=tuple(staged.file.name for staged in staging.files),
            skipped=tuple(tables.skipped),
            format=tables.format.name,
            format_title=tables.format.title,
            columns=tuple(Column(name, first.contents[name], role) for name, role in roles.items()),
            first_rows=tuple(map(tuple, first.rows[:_SHOWN_ROWS]))
            if roles
            else tuple((line,) for line in first.head.splitlines()[:_SHOWN_ROWS]),
            households=tuple(households[:_SHOWN_HOUSEHOLDS]),
            household_count=len(households),
            decisions=decisions.facts(),
            median_daily_kwh=daily,
            account=account,
            doubts=doubts,
            options=options,
        )


def _account(
    staging: Staging, tables: Tables, decisions: Decisions, options: IngestOptions
) -> tuple[dict[str, Any], float | None, tuple[str, ...]]:
    """Return the health report of what was staged, kWh a day, and the households."""
    households = number_households(staging)
    tally = Tally.of(len(households))
    changes = find_clock_changes(staging, options)
    for _ in clean_chunks(staging, decisions, options, changes, tally, silent):
        pass
    check_usable(staging, tally)
    placed = int((households["input"] - households["rejected"]).sum())
    check_conflicts(tables, tally, placed)
    interval = decisions.grid.interval_minutes
    table = households_table(households, tally, staging, interval, changes)
    daily = judge_daily_kwh(staging, tally, interval)
    report = health_report(table, tally, staging, tables.ignored_columns)
    return report, daily, tuple(table["household"])
