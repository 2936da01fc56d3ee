"""What the import dialog shows of files, and what becomes of the changes that an analyst makes.

Plain dictionaries for the form in the browser, and back: no widgets here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import available_timezones

from core.errors import InputError
from core.readings import Doubt, IngestOptions, Inspection
from core.readings.clock import time_zone
from core.readings.energy_units import is_plausible
from core.readings.formats import FORMATS
from core.readings.intervals import check_interval
from core.readings.options import ENERGY_UNITS

_SHOWN_COLUMNS = 24
_SHOWN_ROWS = 6
_OFFERED_COLUMNS = 300
_AUTOMATIC = "auto"
_FILE_NAME = "file"
_ROLES = {"time": "time", "household": "household", "value": "reading"}
_STAMPS = {"start": "Start of the interval", "end": "End of the interval"}
_REGISTER = {"no": "Demand of each interval", "yes": "A register that only rises"}
_FLOWS = {"import": "Import: what is used", "export": "Export: what is fed in"}
_DECIMALS = {".": "Point: 1.5", ",": "Comma: 1,5"}
_INTERVALS = (5, 10, 15, 30, 60)

# Answers that no field shows: they are listed, and can be taken back.
_ANSWERS = {
    "sheets": "Sheets",
    "add_columns": "Added up with",
    "ignore_columns": "Left out",
}
# How people write a way of writing times, and what it is called in programs.
_TIME_SIGNS = {
    "YYYY": "%Y", "YY": "%y", "MMM": "%b", "DD": "%d", "HH": "%H", "hh": "%I", "SS": "%S",
    "AM": "%p",
}  # fmt: skip


def zones() -> list[str]:
    """Return the time zones that the form suggests."""
    return sorted(name for name in available_timezones() if "/" in name)


def review(inspection: Inspection | None, options: IngestOptions, problem: str) -> dict[str, Any]:
    """Return what the form shows.

    Parameters
    ----------
    inspection : Inspection, optional
        None where the files cannot be read as they are.
    options : IngestOptions
        What the analyst said so far.
    problem : str
        Why they cannot be read; empty otherwise.
    """
    shown: dict[str, Any] = {
        "problem": problem,
        "questions": [],
        "answers": [
            [name, f"{title}: {_said(options, name)}"]
            for name, title in _ANSWERS.items()
            if getattr(options, name)
        ],
        "fields": _fields(inspection, options),
    }
    if inspection is not None:
        shown |= {
            "summary": _summary(inspection),
            "questions": [question(doubt) for doubt in inspection.doubts],
            "preview": _preview(inspection, options),
            "account": _account(inspection),
            "plausibility": _plausibility(inspection.median_daily_kwh),
        }
    return shown


def imported(accounts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the form shows of a dataset that is made."""
    unit = "running register" if accounts["cumulative"] else "demand"
    minutes, stamp = accounts["interval_minutes"], accounts["stamp"]
    return {
        "summary": f"Imported: {accounts['households']:,} households, every {minutes} minutes from "
        f"{accounts['first'][:10]} to {accounts['last'][:10]} · {unit} in {accounts['unit']} · "
        f"times mark the {stamp}",
        "problem": "",
        "questions": [],
        "answers": [],
        "fields": [],
        "account": account_view(accounts, f"Of {accounts['readings']:,} readings"),
        "plausibility": _plausibility(accounts["median_daily_kwh"]),
    }


def _said(options: IngestOptions, name: str) -> str:
    value = getattr(options, name)
    return value if isinstance(value, str) else ", ".join(value)


def question(doubt: Doubt) -> dict[str, Any]:
    """Return what is in doubt, and the answers to choose from."""
    return {
        "problem": doubt.problem,
        "choices": [choice.label for choice in doubt.choices[:50]],
    }


def _summary(found: Inspection) -> str:
    count = found.household_count
    files = "" if len(found.files) == 1 else f"{len(found.files):,} files · "
    skipped = f" · {len(found.skipped):,} other files left out" if found.skipped else ""
    minutes = found.decisions["interval_minutes"]
    return (
        f"{files}{found.format_title} · {count:,} household{'' if count == 1 else 's'} in the rows "
        f"looked at · every {minutes} minutes{skipped}"
    )


def _preview(found: Inspection, options: IngestOptions) -> dict[str, Any]:
    columns = found.columns[:_SHOWN_COLUMNS]
    rows = [[cell[:60] for cell in row[: len(columns) or 1]] for row in found.first_rows]
    return {
        "names": [column.name for column in columns],
        "roles": [_ROLES.get(column.role, column.role) for column in columns],
        "can_leave_out": [
            column.name in options.ignore_columns or column.role == "household"
            for column in columns
        ]
        if found.format == "wide"
        else [],
        "left_out": [column.name in options.ignore_columns for column in columns],
        "rows": rows[:_SHOWN_ROWS],
        "more": max(0, len(found.columns) - len(columns)),
    }


def _account(found: Inspection) -> dict[str, Any]:
    return account_view(found.account, f"Of the {found.account['input']:,} readings looked at")


def account_view(account: Mapping[str, Any], title: str) -> dict[str, Any]:
    """Return what became of readings, by reason, with the first example of each."""
    reasons = []
    for reason, count in account["rejected_by_reason"].items():
        example = next(iter(account["examples"].get(reason, ())), None)
        where = f"{example['file']}, line {example['line']}: {example['text']}" if example else ""
        reasons.append([f"{count:,} × {reason}", where[:160]])
    ignored = account.get("ignored", {"cells": {}, "columns": {}})
    notes = [*account["notices"]]
    if ignored["columns"]:
        columns = ignored["columns"].items()
        names = [name if why == "other" else f"{name} ({why})" for name, why in columns]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        notes.append(f"Not readings: {', '.join(names[:6])}{more}")
    notes += [f"Not readings: {count:,} × {what}" for what, count in ignored["cells"].items()]
    return {
        "title": title,
        "accepted": account["accepted"],
        "collapsed": account["collapsed"],
        "rejected": account["rejected"],
        "reasons": reasons,
        "notes": notes,
    }


def _plausibility(daily: float | None) -> dict[str, Any]:
    if daily is None:
        return {"text": "Too few readings to say what a household uses in a day.", "fine": True}
    text = f"The median household uses {daily:,.3g} kWh a day."
    if is_plausible(daily):
        return {"text": text, "fine": True}
    return {"text": f"{text} Homes use 0.5 to 200: check the unit.", "fine": False}


def _choice(
    name: str, label: str, value: str, found: str, options: Sequence[tuple[str, str]], help: str
) -> dict[str, Any]:
    automatic = f"Automatic: {found}" if found and value == _AUTOMATIC else "Automatic"
    return {
        "name": name,
        "label": label,
        "kind": "select",
        "value": value,
        "options": [[_AUTOMATIC, automatic], *map(list, options)],
        "help": help,
    }


def _fields(found: Inspection | None, options: IngestOptions) -> list[dict[str, Any]]:
    return [
        _choice(
            "format", "Format", options.format, found.format_title if found else "",
            [(name, each.title) for name, each in FORMATS.items()],
            "How readings are laid out in the file",
        ),
        *_column_fields(found, options),
        _choice(
            "energy_unit", "Unit", options.energy_unit or _AUTOMATIC, _found_unit(found),
            [(unit, unit) for unit in ENERGY_UNITS],
            "Power is turned into energy by the interval",
        ),
        _choice(
            "cumulative", "Values are",
            {None: _AUTOMATIC, True: "yes", False: "no"}[options.cumulative],
            _because(found, "cumulative", lambda v: _REGISTER["yes" if v else "no"]),
            list(_REGISTER.items()), "Of a register, demand is the difference from one to the next",
        ),
        _choice(
            "stamp", "A time marks the", options.stamp or _AUTOMATIC,
            _because(found, "stamp", _STAMPS.__getitem__), list(_STAMPS.items()),
            "Half an hour's error shifts every slot of the week",
        ),
        {
            "name": "timezone", "label": "Time zone", "kind": "zone",
            "value": options.timezone or "", "placeholder": "Not known",
            "help": "Where the meters are, such as Europe/Dublin: gives the days on which clocks "
            "change",
        },
        {
            "name": "time_format", "label": "Times are written as", "kind": "text",
            "value": time_words(options.time_format), "placeholder": "Automatic",
            "help": "Such as DD/MM/YYYY HH:MM; MMM is Jan, Feb …, hh with AM is a clock of 12 "
            "hours",
        },
        _choice(
            "interval_minutes", "Interval",
            str(options.interval_minutes) if options.interval_minutes else _AUTOMATIC,
            f"{found.decisions['interval_minutes']} minutes" if found else "",
            [(str(minutes), f"{minutes} minutes") for minutes in _INTERVALS],
            "Households with another interval are then left out",
        ),
        _choice(
            "decimal", "Decimal mark", options.decimal or _AUTOMATIC, "", list(_DECIMALS.items()),
            "What separates the whole from the fraction",
        ),
        {
            "name": "flow", "label": "Direction", "kind": "select", "value": options.flow,
            "options": [list(each) for each in _FLOWS.items()],
            "help": "What to read where energy flows both ways",
        },
        {
            "name": "maximum_kw", "label": "Largest power, kW", "kind": "text",
            "value": f"{options.maximum_kw:g}",
            "help": "Readings that need more on average are rejected",
        },
        {
            "name": "allow_negative", "label": "Keep negative readings (net export)",
            "kind": "check", "value": options.allow_negative, "help": "",
        },
    ]  # fmt: skip


def time_pattern(words: str) -> str:
    """Return ``%d/%m/%Y %H:%M`` for ``DD/MM/YYYY HH:MM``: the second MM is minutes."""
    pattern, hours = "", False
    for part in re.split(rf"({'|'.join([*_TIME_SIGNS, 'MM'])})", words):
        hours = hours or part in ("HH", "hh")
        pattern += _TIME_SIGNS.get(part) or part.replace("MM", "%M" if hours else "%m")
    return pattern


def time_words(pattern: str | None) -> str:
    """Return ``DD/MM/YYYY HH:MM`` for ``%d/%m/%Y %H:%M``."""
    known = {sign: words for words, sign in _TIME_SIGNS.items()} | {"%m": "MM", "%M": "MM"}
    return re.sub(r"%[a-zA-Z]", lambda found: known.get(found[0], found[0]), pattern or "")


def _because(found: Inspection | None, name: str, words: Any) -> str:
    if found is None:
        return ""
    return f"{words(found.decisions[name])} ({found.decisions[f'{name}_because']})"


def _found_unit(found: Inspection | None) -> str:
    return _because(found, "unit", str)


def _column_fields(found: Inspection | None, options: IngestOptions) -> list[dict[str, Any]]:
    """Return the fields that say which column is what, where columns have names."""
    if found is None or not found.columns or len(found.columns) > _OFFERED_COLUMNS:
        return []
    names = [column.name for column in found.columns]
    offered = [(f"c{place}", name) for place, name in enumerate(names) if name]

    def taken(role: str) -> str:
        return ", ".join(column.name for column in found.columns if column.role == role)

    def place(name: str | None) -> str:
        return f"c{names.index(name)}" if name in names else _AUTOMATIC

    times = options.time_columns
    household = _FILE_NAME if options.household_from_file else place(options.id_column)
    is_wide = found.format == "wide"
    households = "one per column" if is_wide else taken("household") or "the file's name"
    made = [
        _choice("id_column", "Household", household, households,
                [(_FILE_NAME, "Each file is one household"), *offered],
                "The column that names the household"),
        _choice("time", "Time", place(times[0] if times else None), taken("time"), offered,
                "The column of times, or of dates"),
        _choice("clock", "Time of day", place(times[1] if len(times) > 1 else None), "", offered,
                "Where the date is in a column of its own: the clock, or the number of the period"),
    ]  # fmt: skip
    if found.format not in ("wide", "days", "across"):
        made.append(
            _choice("value_column", "Reading", place(options.value_column), taken("value"),
                    offered, "The column of readings")
        )  # fmt: skip
    return made


def change(
    options: IngestOptions, name: str, value: Any, found: Inspection | None
) -> IngestOptions:
    """Return the options after a change in the form; raise what is wrong with it.

    ``name`` and ``value`` come from the browser and may be anything.
    """
    if name == "allow_negative":
        return replace(options, allow_negative=value is True)
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError("this field takes a text")
    automatic = value == _AUTOMATIC
    match name:
        case "format":
            return replace(options, format="auto" if automatic else FORMATS[value].name)
        case "id_column" | "time" | "clock" | "value_column":
            return _change_column(options, name, value, found)
        case "energy_unit":
            return replace(options, energy_unit=None if automatic else _one_of(value, ENERGY_UNITS))
        case "cumulative":
            chosen = None if automatic else _one_of(value, _REGISTER) == "yes"
            return replace(options, cumulative=chosen)
        case "stamp":
            return replace(options, stamp=None if automatic else _one_of(value, _STAMPS))  # type: ignore[arg-type] # one of them
        case "decimal":
            return replace(options, decimal=None if automatic else _one_of(value, _DECIMALS))  # type: ignore[arg-type] # one of them
        case "flow":
            return replace(options, flow=_one_of(value, _FLOWS))  # type: ignore[arg-type] # one of them
        case "timezone":
            if value.strip():
                time_zone(value.strip())
            return replace(options, timezone=value.strip() or None)
        case "time_format":
            return replace(options, time_format=time_pattern(value.strip()) or None)
        case "interval_minutes":
            minutes = None if automatic else int(_number(value))
            if minutes is not None:
                check_interval(minutes)
            return replace(options, interval_minutes=minutes)
        case "maximum_kw":
            return replace(options, maximum_kw=_number(value))
    raise InputError("there is no such field")


def _one_of(value: str, known: Sequence[str] | Mapping[str, str]) -> str:
    if value not in known:
        raise InputError(f"{value!r} is none of {', '.join(known)}")
    return value


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise InputError(f"{text!r} is no number") from None


def _change_column(
    options: IngestOptions, name: str, value: str, found: Inspection | None
) -> IngestOptions:
    columns = [column.name for column in found.columns] if found else []
    places = {f"c{place}": column for place, column in enumerate(columns)}
    chosen = None if value in (_AUTOMATIC, _FILE_NAME) else places.get(value)
    if chosen is None and value not in (_AUTOMATIC, _FILE_NAME):
        raise InputError("there is no such column")
    if name == "id_column":
        by_file = value == _FILE_NAME
        return replace(options, id_column=chosen, household_from_file=by_file)
    if name == "value_column":
        return replace(options, value_column=chosen)
    found_times = [c.name for c in found.columns if c.role == "time"] if found else []
    times = list(options.time_columns or found_times)
    if name == "time":
        return replace(options, time_columns=(chosen, *times[1:]) if chosen else ())
    if chosen is None:
        return replace(options, time_columns=tuple(times[:1]))
    return replace(options, time_columns=(*times[:1], chosen))


def leave_out(options: IngestOptions, name: Any, found: Inspection | None) -> IngestOptions:
    """Return the options with a column left out, or used again."""
    columns = [column.name for column in found.columns] if found else []
    if name not in columns:
        raise InputError("there is no such column")
    kept = tuple(each for each in options.ignore_columns if each != name)
    is_left_out = len(kept) < len(options.ignore_columns)
    return replace(options, ignore_columns=kept if is_left_out else (*kept, name))


def forget(options: IngestOptions, name: Any) -> IngestOptions:
    """Take an answer back."""
    if name not in _ANSWERS:
        raise InputError("there is no such answer")
    defaults: dict[str, Any] = {name: ()}
    return replace(options, **defaults)
