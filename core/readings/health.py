"""The first examples of every reason for which readings were rejected."""

from itertools import islice
from typing import Any

from core.readings.staging import StagedFile, Staging

_EXAMPLES = 3

# Finding a line means reading the file up to it; past so many lines it is counted instead.
_LINES_READ = 5_000_000


def find_examples(staging: Staging) -> dict[str, list[dict[str, Any]]]:
    """Return, for every reason, the first readings it met: file, line and text."""
    rows = staging.query(
        f"""SELECT reason::VARCHAR, row, line, coalesce(raw, concat_ws(', ', id, time, kwh))
        FROM placed WHERE reason IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY reason ORDER BY row) <= {_EXAMPLES}
        ORDER BY reason, row"""
    )
    examples: dict[str, list[dict[str, Any]]] = {}
    for reason, row, line, text in rows:
        file = next(file for file in staging.files if row < file.end_row)
        examples.setdefault(reason, []).append(
            {
                "file": file.source.name,
                "line": line if line is not None else _line(file, row),
                "text": text,
            }
        )
    if staging.malformed:
        examples["malformed line"] = [
            {"file": name, "line": line, "text": text[:200]}
            for name, line, text in staging.malformed[:_EXAMPLES]
        ]
    return examples


def _line(file: StagedFile, row: int) -> int:
    """Return the line of a staged row, counting lines that are blank or were set aside."""
    place = (row - file.first_row) // file.rows_per_line
    if file.source.is_parquet:
        return place + 1
    if place > _LINES_READ:
        return place + 1 + file.header_lines + len(file.malformed_lines)
    malformed = set(file.malformed_lines)
    with file.source.open() as lines:
        used = (
            number
            for number, line in enumerate(lines, start=1)
            if number not in malformed and not line.isspace()
        )
        return next(islice(used, place + file.header_lines, None), place + 1)
