"""SQL that reads wall-clock times, however they are written."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from core.errors import InputError
from core.readings.columns import listed
from core.readings.expressions import SENSIBLE_TIME, Cell, position
from core.readings.options import IngestOptions, Stamp
from core.readings.questions import Choice, UndecidedError
from core.readings.sources import Source
from core.readings.staging import Staging, readable_errors, scan
from core.readings.time_columns import TimeColumns

_ISO = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}([ T]\d{1,2}:\d{2}.*)?")
_OFFSET = re.compile(r".*\d{2}:\d{2}.*(Z|[-+]\d{2}(:?\d{2})?)$")
_OFFSET_SQL = r"(Z|z|[-+]\d{2}:?(\d{2})?)$"
_DATES = ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y", "%d{0}%m{0}%y", "%m{0}%d{0}%y", "%d{0}%b{0}%Y",
          "%d{0}%b{0}%y", "%Y{0}%m{0}%d", "%y{0}%m{0}%d", "%d{0}%B{0}%Y")  # fmt: skip
_WORDED_DATES = ("%b %d, %Y", "%B %d, %Y", "%b %d %Y")
_WEEKDAY = "^(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +"
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%H%M",
           "%H%M%S")  # fmt: skip
_END_OF_DAY = re.compile(r"(.*[ T])?24:00(:00)?$")
_END_OF_DAY_SQL = "'([ T])24:00'"

# A reading of dates is the right one when its days follow each other and those of the other do not.
_DENSE, _SPARSE = 0.5, 0.1

_SAMPLES = "(SELECT unnest($samples) AS text)"

_UNITS_OF_EPOCH = {"seconds": 1_000_000, "milliseconds": 1_000, "microseconds": 1}
_EXCEL_EPOCH = "TIMESTAMP '1899-12-30'"


def time_cell(
    source: Source, time: TimeColumns, staging: Staging, options: IngestOptions
) -> tuple[Cell, Stamp | None, str]:
    """Return the SQL of the time; and which end of its interval it marks, with the reason."""
    names = [position(source, column) for column in time.columns]
    if len(names) == 1 and source.is_parquet:
        import pyarrow as pa

        kind = source.parquet_schema.field(time.columns[0]).type
        if pa.types.is_timestamp(kind):
            value = names[0] if kind.tz is None else _in_zone(f"{names[0]}::TIMESTAMPTZ")
            parameters = {} if kind.tz is None else _zone(options, staging, source)
            cell = Cell(f"{names[0]}::VARCHAR", f"{value}::TIMESTAMP", parameters)
            return cell, time.stamp, time.because
    if time.style != "text":
        return _numeric(source, time, names, staging, options), time.stamp, time.because
    samples = [" ".join(cells) for cells in zip(*map(source.column, time.columns), strict=False)]
    texts = [f"trim({name}::VARCHAR)" for name in names]
    if len(names) > 1 and any(
        re.search(r"[ T]0?0:00", cell) for cell in source.column(time.columns[0])
    ):
        # Dates that carry a midnight beside a column of clocks.
        texts[0] = f"regexp_replace({texts[0]}, '[ T]0?0:00(:00([.]0+)?)?$', '')"
        samples = [re.sub(r"[ T]0?0:00(:00(\.0+)?)?(?= )", "", sample) for sample in samples]
    if any(re.match(_WEEKDAY, sample) for sample in samples):
        texts[0] = f"regexp_replace({texts[0]}, '{_WEEKDAY}', '')"
        samples = [re.sub(_WEEKDAY, "", sample) for sample in samples]
    text = " || ' ' || ".join(texts)
    if any(map(_END_OF_DAY.fullmatch, samples)):
        earlier = f"regexp_replace({text}, {_END_OF_DAY_SQL}, '\\100:00')"
        samples = [re.sub(r"([ T])24:00", r"\g<1>00:00", sample) for sample in samples]
        parsed, parameters = _parser(earlier, samples, source, staging, options)
        day = f"CASE WHEN regexp_matches({text}, {_END_OF_DAY_SQL}) THEN 1 ELSE 0 END"
        cell = Cell(text, f"{parsed} + to_days({day})", parameters)
        return cell, time.stamp or "end", time.because or "there is a 24:00, the end of a day"
    value, parameters = _parser(text, samples, source, staging, options)
    return Cell(text, value, parameters), time.stamp, time.because


def date_cell(source: Source, column: str, staging: Staging, options: IngestOptions) -> Cell:
    """Return the SQL of a date, at its midnight."""
    cell, _, _ = time_cell(source, TimeColumns((column,)), staging, options)
    return Cell(cell.text, f"date_trunc('day', {cell.value})", cell.parameters)


def parse_texts(
    texts: list[str], source: Source, staging: Staging, options: IngestOptions
) -> list[datetime | None]:
    """Return the times that texts of a header say."""
    value, parameters = _parser("text", texts, source, staging, options, whole_file=False)
    query = f"""SELECT {value} FROM (SELECT unnest($texts) AS text, unnest(range(len($texts))) AS n)
        ORDER BY n"""
    return [row[0] for row in staging.query(query, {**parameters, "texts": texts})]


def _numeric(
    source: Source, time: TimeColumns, names: list[str], staging: Staging, options: IngestOptions
) -> Cell:
    """Return the SQL of a time that is written in numbers."""
    text = " || ' ' || ".join(f"trim({name}::VARCHAR)" for name in names)
    number = [f"try_cast({name} AS DOUBLE)" for name in names]
    if time.style in _UNITS_OF_EPOCH:
        moment = f"make_timestamp(({number[0]} * {_UNITS_OF_EPOCH[time.style]})::BIGINT)"
        return Cell(text, _in_zone(f"timezone('UTC', {moment})"), _zone(options, staging, source))
    if time.style == "excel":
        seconds = f"round(try_cast(replace({names[0]}::VARCHAR, ',', '.') AS DOUBLE) * 86400)"
        return Cell(text, f"{_EXCEL_EPOCH} + to_seconds({seconds}::BIGINT)")
    if time.style == "parts" and len(names) >= 4:
        whole = [f"try_cast({name} AS BIGINT)" for name in number]
        return Cell(text, _calendar_time(whole))
    date = date_cell(source, time.columns[0], staging, options)
    if time.style == "hhmm":
        clock = f"try_cast({number[1]} AS BIGINT)"
        minutes = f"({clock} // 100 * 60 + {clock} % 100)"
        return Cell(text, f"{date.value} + to_minutes({minutes})", date.parameters)
    if time.style == "parts":
        minutes = f"({number[1]} * 60 + {number[2]})"
        return Cell(text, f"{date.value} + to_minutes({minutes}::BIGINT)", date.parameters)
    first, minutes_each = _numbering(source, time.columns[1], staging)
    count = 1440 // minutes_each
    start = f"({number[1]} - {first})"
    return Cell(
        text,
        f"""CASE WHEN {start} BETWEEN 0 AND {count - 1}
            THEN {date.value} + to_minutes(({start} * {minutes_each})::BIGINT) END""",
        date.parameters,
    )


def _calendar_time(parts: list[str]) -> str:
    year, month, day, hour = parts[:4]
    minute = parts[4] if len(parts) > 4 else "0"
    date = f"try_strptime(concat_ws('-', {year}, {month}, {day}), '%Y-%m-%d')"
    return f"{date} + to_minutes({hour} * 60 + {minute})"


def _numbering(source: Source, column: str, staging: Staging) -> tuple[int, int]:
    """Return the number of the first period of a day, and the minutes that a period has."""
    table, parameters = scan(source)
    name = position(source, column)
    with readable_errors(source.name):
        low, high = staging.query(
            f"SELECT min(try_cast({name} AS DOUBLE)), max(try_cast({name} AS DOUBLE)) FROM {table}",
            parameters,
        )[0]
    staging.discard_malformed()
    first = 0 if low == 0 else 1
    count = int(high) - first + 1
    for minutes, least in ((60, 20), (30, 40), (15, 80), (5, 240)):
        # On the long day of autumn there is an hour more.
        if least < count <= (1440 + 60) // minutes:
            return first, minutes
    raise InputError(
        f"{source.name}: column {column!r} numbers the periods of a day from {low:g} to {high:g}, "
        "which is neither 24, 48 nor 96 of them; write the times of day instead"
    )


def _in_zone(moment: str) -> str:
    return f"timezone($zone, {moment})"


def _zone(options: IngestOptions, staging: Staging, source: Source) -> dict[str, str]:
    """Return the zone that moments are shown in: the user's, or UTC, which is said."""
    if options.timezone is None:
        _say_utc(staging, source)
    return {"zone": options.timezone or "UTC"}


def _say_utc(staging: Staging, source: Source) -> None:
    staging.notice(
        "times are kept in UTC, as they are written; name the time zone of the meters to have them "
        "as the clocks there show them",
        source.first.name,
    )


def _parser(
    text: str,
    samples: list[str],
    source: Source,
    staging: Staging,
    options: IngestOptions,
    *,
    whole_file: bool = True,
) -> tuple[str, dict[str, Any]]:
    if options.time_format:
        return f"try_strptime({text}, $time_format)", {"time_format": options.time_format}
    if not samples:
        raise InputError(f"{source.name} has a header and no readings; name a file with readings")
    if sum(_ISO.fullmatch(sample) is not None for sample in samples) > len(samples) / 2:
        with_offset = sum(map(bool, map(_OFFSET.match, samples)))
        if options.timezone and with_offset > len(samples) / 2:
            return _in_zone(f"try_cast({text} AS TIMESTAMPTZ)"), {"zone": options.timezone}
        if with_offset and whole_file:
            _check_offsets(text, source, staging)
        return f"try_cast({text} AS TIMESTAMP)", {}
    formats = _find_formats(text, samples, source, staging, whole_file)
    return f"try_strptime({text}, $time_formats)", {"time_formats": formats}


def _check_offsets(text: str, source: Source, staging: Staging) -> None:
    """Refuse offsets from UTC that no one place has; say so where all are UTC."""
    table, parameters = scan(source)
    with readable_errors(source.name):
        rows = staging.query(
            f"""SELECT upper(regexp_extract(x, '{_OFFSET_SQL}', 1)) AS offset, time::DATE,
                min(time), max(time), any_value(x)
            FROM (SELECT x, try_cast(x AS TIMESTAMP) AS time FROM (SELECT {text} AS x FROM {table}))
            WHERE {SENSIBLE_TIME} GROUP BY ALL ORDER BY 2""",
            parameters,
        )
    staging.discard_malformed()
    offsets = {row[0]: _as_delta(row[0]) for row in rows}
    distinct = {delta for delta in offsets.values() if delta is not None}
    if None in offsets.values() and distinct - {timedelta(0)}:
        without = next(row[4] for row in rows if not row[0])
        others = next(row[4] for row in rows if row[0])
        _refuse_offsets(source, [without, others])
    if distinct == {timedelta(0)}:
        _say_utc(staging, source)
    elif len(distinct) > 1:
        moments = [
            (moment - delta, delta)
            for offset, _, first, last, _ in rows
            if (delta := offsets[offset]) is not None
            for moment in (first, last)
        ]
        if not any(_fits(zone, moments) for zone in sorted(available_timezones())):
            _refuse_offsets(source, [next(r[4] for r in rows if r[0] == o) for o in offsets])


def _as_delta(offset: str) -> timedelta | None:
    if not offset:
        return None
    if offset == "Z":
        return timedelta(0)
    digits = offset[1:].replace(":", "").ljust(4, "0")
    delta = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -delta if offset[0] == "-" else delta


def _fits(zone: str, moments: list[tuple[datetime, timedelta]]) -> bool:
    """Whether the clocks of a zone had each offset at its moment (UTC, without a zone)."""
    info = ZoneInfo(zone)
    utc = ZoneInfo("UTC")
    return all(
        moment.replace(tzinfo=utc).astimezone(info).utcoffset() == delta
        for moment, delta in moments
    )


def _refuse_offsets(source: Source, examples: list[str]) -> None:
    raise UndecidedError(
        "timezone",
        f"{source.name}: times such as {listed(sorted(set(examples)))} have offsets from UTC that "
        "the clocks of no one place have; they can be brought to the time of one",
        [
            Choice("keep them in UTC", {"timezone": "UTC"}),
            Choice("the time in London", {"timezone": "Europe/London"}),
        ],
    )


def _find_formats(
    text: str, samples: list[str], source: Source, staging: Staging, whole_file: bool
) -> list[str]:
    """Find the order of day, month and year under which the times can be read."""
    distinct = sorted(set(samples))[:500]
    dates = [date.format(sign) for date, sign in product(_DATES, ("/", "-", ".", " ", ""))]
    candidates = [
        [date + joint + clock for joint, clock in product((" ", ":", "T", ""), _CLOCKS)] + [date]
        for date in dict.fromkeys([*dates, *_WORDED_DATES])
    ]

    def parsed(formats: list[str]) -> int:
        # %Y reads 20 as the year 20: only a time that makes sense counts.
        query = f"""SELECT count(*) FROM (SELECT try_strptime(unnest($samples), $formats) AS time)
            WHERE {SENSIBLE_TIME}"""
        return int(staging.query(query, {"formats": formats, "samples": distinct})[0][0])

    counts = [parsed(formats) for formats in candidates]
    most = max(counts)
    if most < len(distinct) / 2:
        raise UndecidedError(
            "time_format",
            f"{source.name}: times like {samples[0]!r} are not understood",
            example="%d/%m/%Y %H:%M",
        )
    best = [formats for formats, count in zip(candidates, counts, strict=True) if count == most]
    if len(best) > 1:
        table, parameters = scan(source) if whole_file else (_SAMPLES, {"samples": samples})
        best = _decide_on_all_rows(text, best, source, staging, table, parameters)
    if len(best) > 1:
        readings = [_first_read(formats, samples, staging) for formats in best]
        raise UndecidedError(
            "time_format",
            f"{source.name}: dates like {readings[0][0]!r} can be read in {len(best)} ways",
            [
                Choice(f"{sample} is {_shown(sample, each, staging)}", {"time_format": each})
                for sample, each in readings
            ],
        )
    return best[0]


def _first_read(formats: list[str], samples: list[str], staging: Staging) -> tuple[str, str]:
    """Return the first sample that one of the formats reads, and that format."""
    query = "SELECT try_strptime($x, $f) IS NOT NULL"
    return next(
        (sample, each)
        for sample in samples
        for each in formats
        if staging.query(query, {"x": sample, "f": each})[0][0]
    )


def _shown(sample: str, format: str, staging: Staging) -> str:
    time = staging.query("SELECT strptime($x, $f)", {"x": sample, "f": format})[0][0]
    return f"{time:%-d %B %Y}"


def _decide_on_all_rows(
    text: str,
    candidates: list[list[str]],
    source: Source,
    staging: Staging,
    table: str,
    parameters: Mapping[str, Any],
) -> list[list[str]]:
    """Keep the candidates that read the most times of a table.

    Of those that read equally many, the one whose days follow each other is right where the days
    of the others lie far apart; not where 20-01-06 may begin with its year, which a slash or a
    point between them rules out in practice.
    """
    columns = ", ".join(
        f"""count(t_{n}), count(DISTINCT t_{n}::DATE),
            datediff('day', min(t_{n}), max(t_{n})) + 1"""
        for n in range(len(candidates))
    )
    parsed = ", ".join(f"try_strptime(x, $formats_{n}) AS t_{n}" for n in range(len(candidates)))
    formats = {f"formats_{number}": formats for number, formats in enumerate(candidates)}
    sql = f"SELECT {columns} FROM (SELECT {parsed} FROM (SELECT {text} AS x FROM {table}))"
    with readable_errors(source.name):
        row = staging.query(sql, {**parameters, **formats})[0]
    staging.discard_malformed()
    counts, days, spans = row[0::3], row[1::3], row[2::3]
    kept = [n for n, count in enumerate(counts) if count == max(counts)]
    if len(kept) > 1 and not any(re.match("%y[^/.]", candidates[n][-1]) for n in kept):
        density = {n: days[n] / max(spans[n] or 1, 1) for n in kept}
        dense = [n for n in kept if density[n] >= _DENSE]
        if len(dense) == 1 and all(density[n] <= _SPARSE for n in kept if n not in dense):
            kept = dense
    return [candidates[n] for n in kept]
