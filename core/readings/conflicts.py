"""Readings that contradict each other: the time or the household is not what it was taken for."""

from core.errors import InputError
from core.readings.formats.base import Plan
from core.readings.health import Tally
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source
from core.readings.staged_tables import Tables

# So many contradict another one of the same household and time by chance or by a correction; of
# several files, one may be a newer version of another.
_CONFLICTING_SHARE = {"one file": 0.2, "several files": 0.5}
_MOST_KINDS = 8


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
