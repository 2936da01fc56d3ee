"""What all readings of the staged tables have in common: interval, unit, which end times mark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import InputError
from core.readings.intervals import Grid, find_grid
from core.readings.measure import Measure, find_measure
from core.readings.options import IngestOptions
from core.readings.placing import place, strip_ids
from core.readings.staged_tables import Tables
from core.readings.staging import Staging


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
        raise InputError(nothing_usable(staging))
    grid = find_grid(staging, options)
    stated = [(source.name, plan.unit) for source, plan in tables.plans]
    measure = find_measure(staging, grid, stated, options, before)
    stamp, because = _find_stamp(staging, tables, options, grid, measure, before or {})
    place(staging, grid, measure, options, stamp=stamp)
    return Decisions(grid, measure, stamp, because)


def nothing_usable(staging: Staging) -> str:
    """Say why nothing of the input is left."""
    reasons = staging.query(
        "SELECT reason, count(*) FROM staged WHERE reason IS NOT NULL GROUP BY 1 ORDER BY 2 DESC"
    )
    told = ", ".join(f"{count} × {reason}" for reason, count in reasons) or "none could be read"
    files = ", ".join(staged.file.name for staged in staging.files[:3])
    return f"{files}: no usable reading ({told}); name the columns or the format of the file"


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
    if tables.format.stamp == "start" and _days_end_at_midnight(staging, grid):
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
