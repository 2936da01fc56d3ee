"""The accounts: what became of every reading, by household and by reason, with examples."""

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from core.readings.cleaning import Cleaned, Readings
from core.readings.clock import ClockChanges
from core.readings.energy_units import PLAUSIBLE_DAILY_KWH, UNITS, is_plausible
from core.readings.staging import FILE_SHIFT, IGNORED, StagedFile, Staging

_EXAMPLES = 3

# Where a reason rejects more than that, it is said; some are what the user asked for.
_SAID_SHARE = 0.02
_EXPECTED = {"other register", "not residential", "other interval", "half-hour 49 or 50"}
_HINTS = {"negative value": "; allow negative readings to keep net export"}

# Finding a line means reading the file up to it; past so many lines it is counted instead.
_LINES_READ = 5_000_000


@dataclass
class Tally:
    """What became of the readings that were sorted, counted while they stream by."""

    accepted: np.ndarray
    distinct: np.ndarray
    first: np.ndarray
    last: np.ndarray
    kwh: np.ndarray
    rejected: dict[str, np.ndarray] = field(default_factory=dict)
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    conflicting: int = 0
    moved: int = 0
    repeated: int = 0

    @classmethod
    def of(cls, households: int) -> "Tally":
        """Return a tally at zero."""
        zeros = np.zeros(households, np.int64)
        return cls(zeros, zeros.copy(), zeros.copy(), zeros.copy(), np.zeros(households))

    def add(self, kept: Readings) -> None:
        """Count the kept readings of whole households."""
        codes, starts, counts = np.unique(kept.household, return_index=True, return_counts=True)
        if not len(codes):
            return
        self.accepted[codes] = counts
        self.first[codes] = kept.time[starts]
        self.last[codes] = kept.time[starts + counts - 1]
        self.kwh[codes] = np.add.reduceat(kept.kwh, starts)
        again = (kept.time[1:] == kept.time[:-1]) & (kept.household[1:] == kept.household[:-1])
        self.distinct[codes] = counts
        np.subtract.at(self.distinct, kept.household[1:][again], 1)

    def add_cleaned(self, cleaned: Cleaned) -> None:
        """Count what cleaning found."""
        self.conflicting += cleaned.conflicting
        self.moved += cleaned.moved
        self.repeated += cleaned.repeated

    def reject(self, reason: str, readings: Readings) -> None:
        """Count readings that are rejected after sorting."""
        counts = self.rejected.setdefault(reason, np.zeros(len(self.accepted), np.int64))
        np.add.at(counts, readings.household, 1)
        examples = self.examples.setdefault(reason, [])
        for place in range(min(len(readings), _EXAMPLES - len(examples))):
            row = 0 if readings.row is None else int(readings.row[place])
            time = np.datetime64(int(readings.time[place]), "s")
            examples.append((row, f"{str(time).replace('T', ' ')}, {readings.kwh[place]:g}"))

    def median_daily_kwh(self, interval_minutes: int) -> float | None:
        """Return what the median household uses a day; None where nobody has a day's readings."""
        per_day = 1440 // interval_minutes
        enough = self.accepted >= per_day
        if not enough.any():
            return None
        return float(np.median(self.kwh[enough] / self.accepted[enough]) * per_day)


def households_table(
    households: pd.DataFrame, tally: Tally, staging: Staging, interval: int, changes: ClockChanges
) -> pd.DataFrame:
    """Return one row per household, with its accounts."""
    present = tally.accepted > 0
    rejected = households["rejected"] + sum(tally.rejected.values())
    table = households.assign(
        accepted=tally.accepted,
        rejected=rejected,
        collapsed=households["input"] - rejected - tally.accepted,
        missing_share=missing_share(tally, interval, changes),
        first=_as_time(tally.first, present),
        last=_as_time(tally.last, present),
    )
    if not present.all():
        names = ", ".join(households["household"][~present][:6])
        staging.notice(f"households without a usable reading: {names}")
    columns = ["household", "input", "accepted", "collapsed", "rejected", "first", "last"]
    return table[[*columns, "missing_share"]]


def missing_share(tally: Tally, interval: int, changes: ClockChanges) -> np.ndarray:
    """Return the share of intervals of the whole record that each household lacks."""
    present = tally.accepted > 0
    begin, end = tally.first[present].min(), tally.last[present].max()
    skipped = changes.skipped[(changes.skipped >= begin) & (changes.skipped <= end)]
    expected = (end - begin) // (interval * 60) + 1 - len(skipped) * (3600 // (interval * 60))
    return np.clip(1 - tally.distinct / expected, 0, 1)


def _as_time(seconds: np.ndarray, present: np.ndarray) -> pd.Series:
    times = pd.Series(seconds.astype("datetime64[s]").astype("datetime64[us]"))
    return times.where(present)


def health_report(
    table: pd.DataFrame, tally: Tally, staging: Staging, ignored_columns: dict[str, str]
) -> dict[str, Any]:
    """Return the accounts of the whole input."""
    counted = staging.query(
        """SELECT reason::VARCHAR, count(*) FROM placed WHERE reason IS NOT NULL
        GROUP BY 1 ORDER BY 2 DESC, 1"""
    )
    by_reason = {reason: count for reason, count in counted if reason not in IGNORED}
    for reason, counts in tally.rejected.items():
        by_reason[reason] = by_reason.get(reason, 0) + int(counts.sum())
    if staging.malformed:
        by_reason["malformed line"] = len(staging.malformed)
    ignored = {reason: count for reason, count in counted if reason in IGNORED}
    examples = _find_examples(staging, tally, some_left_out=bool(counted))
    staged = staging.query("SELECT count(*) FROM staged")[0][0]
    total = staged - sum(ignored.values()) + len(staging.malformed)
    for reason, count in by_reason.items():
        if reason not in _EXPECTED and count > _SAID_SHARE * total:
            text = examples[reason][0]["text"]
            hint = _HINTS.get(reason, "")
            staging.notice(f"{count:,} of {total:,} were rejected: {reason}, as in {text!r}{hint}")
    return {
        "input": total,
        "accepted": int(table["accepted"].sum()),
        "collapsed": int(table["collapsed"].sum()),
        "rejected": sum(by_reason.values()),
        "rejected_by_reason": by_reason,
        "ignored": {"cells": ignored, "columns": ignored_columns},
        "without_household": total - int(table["input"].sum()),
        "conflicting_duplicates": tally.conflicting,
        "moved_out_of_the_hour_before": tally.moved,
        "second_readings_of_a_repeated_hour": tally.repeated,
        "examples": examples,
        "notices": staging.notices,
    }


def judge_daily_kwh(staging: Staging, tally: Tally, interval_minutes: int) -> float | None:
    """Return what the median household uses a day; say so where no home uses that."""
    daily_kwh = tally.median_daily_kwh(interval_minutes)
    if daily_kwh is None or is_plausible(daily_kwh):
        return daily_kwh
    low, high = PLAUSIBLE_DAILY_KWH
    fitting = [
        name
        for name, unit in UNITS.items()
        if name != "kWh" and is_plausible(unit.daily_kwh(daily_kwh, interval_minutes))
    ]
    hint = f"; are the values {' or '.join(fitting)}?" if fitting else ""
    staging.notice(
        f"the median household uses {daily_kwh:,.3g} kWh a day, homes use {low:g} to {high:g}{hint}"
    )
    return daily_kwh


def _find_examples(
    staging: Staging, tally: Tally, *, some_left_out: bool
) -> dict[str, list[dict[str, Any]]]:
    """Return, for every reason, the first readings it met: file, line and text."""
    rows = []
    if some_left_out:
        rows = staging.query(
            f"""SELECT reason::VARCHAR, row, file, line,
                coalesce(raw, concat_ws(', ', id, time, kwh))
            FROM placed WHERE reason IS NOT NULL
            QUALIFY row_number() OVER (PARTITION BY reason ORDER BY row) <= {_EXAMPLES}
            ORDER BY reason, row"""
        )
    for reason, found in tally.examples.items():
        for row, text in found:
            where = staging.query(
                "SELECT file, line, id FROM staged WHERE rowid = $row", {"row": _rowid(row)}
            )[0]
            rows.append((reason, row, *where[:2], f"{where[2]}, {text}"))
    examples: dict[str, list[dict[str, Any]]] = {}
    starts: dict[int, int] = {}
    for reason, row, number, line, text in rows:
        file = staging.files[number]
        if line is None:
            if number not in starts:
                query = "SELECT min(rowid) FROM staged WHERE file = $file"
                starts[number] = staging.query(query, {"file": number})[0][0]
            line = _line(file, _rowid(row) - starts[number])
        examples.setdefault(reason, []).append({"file": file.file.name, "line": line, "text": text})
    if staging.malformed:
        examples["malformed line"] = [
            {"file": name, "line": line, "text": text[:200]}
            for name, line, text in staging.malformed[:_EXAMPLES]
        ]
    return examples


def _rowid(row: int) -> int:
    """Return the row of the staging table, without the number of the file."""
    return row & ((1 << FILE_SHIFT) - 1)


def _line(file: StagedFile, row: int) -> int:
    """Return the line of a file's row, counting lines that are blank or were set aside."""
    place = row // file.rows_per_line
    if file.file.is_parquet:
        return place + 1
    if place > _LINES_READ:
        return place + 1 + file.skipped_lines + len(file.malformed_lines)
    malformed = set(file.malformed_lines)
    with file.file.open() as lines:
        used = (
            number
            for number, line in enumerate(lines, start=1)
            if number > file.skipped_lines and number not in malformed and not line.isspace()
        )
        return next(islice(used, place, None), place + 1)
