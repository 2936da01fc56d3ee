"""Where in a text the table is: its separator, the lines above it, its header, its units.

A file may begin with lines that are no part of the table (a title, an address), may have a row of
units below the header, and may have no header at all.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from core.errors import InputError
from core.readings.cells import Content, cell_content, is_missing
from core.readings.column_names import is_id_name, is_quantity, kinds, words
from core.readings.energy_units import exact_unit

DELIMITERS = ",;\t|"

_JUDGED_ROWS = 200
_JUDGED_CELLS = 60
_PREAMBLE_ROWS = 60
_TYPED = ("number", "date", "datetime", "clock")
_TIME_WORDS = {"time", "date", "datetime", "timestamp", "day", "start", "end", "datum", "zeit"}


@dataclass(frozen=True)
class Layout:
    """Where the table is in a text.

    ``skipped_lines`` are the lines above the first row of data, header included; ``header_line``
    counts from 1 and is None where there is no header; ``units`` are the cells of a row of units;
    ``repeated`` are the columns whose name another one before them has.
    """

    delimiter: str
    columns: tuple[str, ...]
    skipped_lines: int
    header_line: int | None
    units: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Row:
    end_line: int
    cells: list[str]

    @property
    def kinds(self) -> list[Content]:
        return [cell_content(cell) for cell in self.cells[:_JUDGED_CELLS]]


def parse(text: str, layout: Layout, name: str) -> Iterator[list[str]]:
    """Yield the rows of data in a text, whatever ends its lines."""
    for row in _rows(text, layout.delimiter, name):
        if row.end_line > layout.skipped_lines:
            yield row.cells


def find_layout(head: str, name: str) -> Layout:
    """Find the table in the first lines of a text."""
    delimiter = _find_delimiter(head, name)
    rows = [row for row in islice(_rows(head, delimiter, name), _JUDGED_ROWS) if any(row.cells)]
    width = _width(rows)
    table = [(place, row) for place, row in enumerate(rows) if len(row.cells) == width]
    typical = _typical([row for _, row in table[len(table) // 2 :]], width)
    first = next((place for place, row in table if _is_data(row, typical)), None)
    if first == 0:
        names = tuple(f"column {number}" for number in range(1, width + 1))
        return Layout(delimiter, names, 0, None)
    header, unit_row = _find_header(rows, first, width)
    if header is None:
        before = rows[(first or 1) - 1]
        names = tuple(f"column {number}" for number in range(1, width + 1))
        return Layout(delimiter, names, before.end_line, None)
    cells = rows[header].cells
    written = tuple(cell.strip() for cell in cells) + ("",) * (width - len(cells))
    names = _distinct(written)
    repeated = frozenset(names) - frozenset(written)
    line = rows[header].end_line
    if unit_row is None:
        return Layout(delimiter, names, line, line, repeated=repeated)
    units = tuple(cell.strip() for cell in rows[unit_row].cells)
    last = max(rows[unit_row].end_line, line)
    return Layout(delimiter, names, last, line, units, repeated)


def _rows(text: str, delimiter: str, name: str) -> Iterator[_Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for cells in reader:
            yield _Row(reader.line_num, cells)
    except csv.Error as error:
        raise InputError(
            f"{name} cannot be read as a table ({error}); it may be damaged: fetch it again"
        ) from error


def _find_delimiter(head: str, name: str) -> str:
    """Return the separator that divides most lines into the same number of sensible cells."""
    lines = "\n".join([line for line in head.splitlines() if line.strip()][:100])

    def agreement(delimiter: str) -> tuple[int, float, int]:
        rows = list(_rows(lines, delimiter, name))
        width = _width(rows)
        if width < 2:
            return 0, 0.0, 0
        chosen = [row for row in rows if len(row.cells) == width]
        sensible = [kind != "text" for row in chosen[-20:] for kind in row.kinds]
        # A separator that only some lines have is worse, unless what stands between makes sense.
        return len(chosen), sum(sensible) / len(sensible), width

    best = max(DELIMITERS, key=agreement)
    if agreement(best)[0] == 0 and agreement(" ")[1] > 0.5:  # which prose has, too
        best = " "
    if agreement(best)[0] == 0:
        raise InputError(
            f"{name}, line 1: only one column; readings need a household, a time and a value, "
            "separated by a comma, semicolon, tab, bar or space"
        )
    return best


def _width(rows: Sequence[_Row]) -> int:
    """Return the number of cells that most rows have, the first row's where they differ much."""
    counts = Counter(len(row.cells) for row in rows if any(row.cells))
    if not counts:
        return 0
    most = max(counts.values())
    return max(width for width, count in counts.items() if count == most)


def _typical(rows: Sequence[_Row], width: int) -> list[Content]:
    """Return what each column holds in most rows."""
    columns = zip(*(row.kinds for row in rows), strict=True) if rows else [()] * width
    typical: list[Content] = []
    for column in columns:
        counts = Counter(kind for kind in column if kind != "empty")
        typical.append(counts.most_common(1)[0][0] if counts else "empty")
    return typical


def _is_data(row: _Row, typical: Sequence[Content]) -> bool:
    """Whether a row has numbers and times where the others have them."""
    typed = [pair for pair in zip(row.kinds, typical, strict=True) if pair[1] in _TYPED]
    fitting = [kind == usual or {kind, usual} == {"date", "datetime"} for kind, usual in typed]
    return any(fitting) and all(
        fits or kind == "empty" for fits, (kind, _) in zip(fitting, typed, strict=True)
    )


def _find_header(
    rows: Sequence[_Row], first: int | None, width: int
) -> tuple[int | None, int | None]:
    """Return the places of the header and of a row of units, where there are any."""
    if first is None:
        return 0, None
    above = range(max(0, first - _PREAMBLE_ROWS), first)
    unit_rows = [place for place in above if first > 1 and _is_unit_row(rows[place])]
    unit_row = unit_rows[-1] if unit_rows else None
    candidates = [place for place in above if place != unit_row and _is_header(rows[place], width)]
    if not candidates:
        return (None, None) if len(rows[0].cells) != width else (0, unit_row)
    # The first row is the header unless a later one says more of readings.
    best = max(candidates, key=lambda place: (_known_names(rows[place]), -place))
    if unit_row is not None and abs(best - unit_row) != 1:
        unit_row = None
    return best, unit_row


def _is_header(row: _Row, width: int) -> bool:
    """Whether a row may be names: most of them there, none of them a time."""
    cells = [cell.strip() for cell in row.cells]
    filled = [cell for cell in cells if cell]
    return (
        width - 1 <= len(cells) <= width
        and len(filled) >= max(width / 2, min(width, 2))
        and not any(kind in ("date", "datetime") for kind in row.kinds[:1])
    )


def _known_names(row: _Row) -> int:
    return sum(
        bool(kinds(cell)) or is_quantity(cell) or bool(_TIME_WORDS & set(words(cell)))
        for cell in row.cells[:_JUDGED_CELLS]
    )


def _is_unit_row(row: _Row) -> bool:
    """Whether a row holds units, and beside them nothing that names a column."""
    cells = [cell.strip() for cell in row.cells if not is_missing(cell)]
    others = [cell for cell in cells if not exact_unit(cell)]
    return len(others) < len(cells) and not any(
        _TIME_WORDS & set(words(cell)) or is_id_name(cell) or cell_content(cell) in _TYPED
        for cell in others
    )


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Number the names that stand there twice, as ``note (2)``."""
    given, taken, distinct = set(names), set(), []
    for name in names:
        number, chosen = 1, name
        while chosen and (chosen in taken or (number > 1 and chosen in given)):
            number += 1
            chosen = f"{name} ({number})"
        taken.add(chosen)
        distinct.append(chosen)
    return tuple(distinct)
