"""The parts a report is laid out of: sections with numbered pictures and tables."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

# A drawing of more bytes than this is quicker to show as dots than as lines.
_LARGEST_SVG = 1_500_000

ABSENT = "–"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure of the report.

    Attributes
    ----------
    source : str
        A ``data:`` address, so that the report needs no other file.
    width, height : int
        In CSS pixels.
    """

    is_table: ClassVar[bool] = False

    source: str
    caption: str
    alt: str
    width: int
    height: int
    number: int = 0


@dataclass(frozen=True)
class TableCell:
    """A text, and what is to be seen of its kind."""

    text: str
    classes: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row; the first of a group has a rule above it."""

    cells: Sequence[TableCell]
    starts_group: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the report."""

    is_table: ClassVar[bool] = True

    caption: str
    header: Sequence[str]
    rows: Sequence[TableRow]
    texts: frozenset[int] = frozenset({0})
    long: bool = False
    number: int = 0

    def is_text(self, column: int) -> bool:
        """Whether a column holds words, not numbers."""
        return column in self.texts


@dataclass(frozen=True)
class Section:
    """A heading, a few paragraphs, then pictures and tables."""

    title: str
    texts: Sequence[str] = ()
    items: Sequence[Picture | Table] = field(default_factory=tuple)


def number(sections: Sequence[Section]) -> list[Section]:
    """Count pictures and tables through all sections, each kind by itself."""
    counts = {Picture: 0, Table: 0}
    numbered = []
    for section in sections:
        items: list[Picture | Table] = []
        for item in section.items:
            counts[type(item)] += 1
            items.append(replace(item, number=counts[type(item)]))
        numbered.append(replace(section, items=items))
    return numbered


def embed_picture(
    svg: Path, png: Path, *, inches: tuple[float, float], caption: str, alt: str
) -> Picture:
    """Take a figure into the report: as lines, or as dots where those would be heavy."""
    file, kind = (svg, "svg+xml") if svg.stat().st_size <= _LARGEST_SVG else (png, "png")
    content = base64.b64encode(file.read_bytes()).decode()
    width, height = (round(96 * size) for size in inches)
    return Picture(
        source=f"data:image/{kind};base64,{content}",
        caption=caption,
        alt=alt,
        width=width,
        height=height,
    )


def grid_table(
    frame: pd.DataFrame,
    *,
    caption: str,
    best: Callable[[np.ndarray], float],
    show: Callable[[float], str],
) -> Table:
    """A table of numbers by method and search, the best of each row marked."""
    rows = []
    for name, values in zip(frame.index, frame.to_numpy(), strict=True):
        texts = [ABSENT if np.isnan(value) else show(value) for value in values]
        marks = _best(values, texts, best, show)
        cells = [TableCell(str(name), "text"), *map(_number_cell, texts, marks)]
        rows.append(TableRow(cells))
    return Table(caption=caption, header=["", *frame.columns], rows=rows)


def list_table(
    frame: pd.DataFrame,
    *,
    caption: str,
    header: Sequence[str],
    show: Callable[[str, object], str],
    best: Sequence[str] = (),
    groups: Sequence[bool] = (),
    long: bool = False,
) -> Table:
    """A table of words and numbers; the largest of the ``best`` columns is marked.

    ``groups`` says of each row whether a group starts with it.
    """
    texts = {name: [show(name, value) for value in frame[name]] for name in frame.columns}
    marks = {name: [False] * len(frame) for name in frame.columns}
    for name in best:
        values = frame[name].to_numpy(float)
        marks[name] = _best(values, texts[name], np.max, partial(show, name))
    words = frozenset(
        place
        for place, name in enumerate(frame.columns)
        if not pd.api.types.is_numeric_dtype(frame[name])
    )
    rows = []
    for row in range(len(frame)):
        cells = [
            TableCell(texts[name][row], "text")
            if place in words
            else _number_cell(texts[name][row], marks[name][row])
            for place, name in enumerate(frame.columns)
        ]
        rows.append(TableRow(cells, bool(groups) and row > 0 and groups[row]))
    return Table(caption=caption, header=header, rows=rows, texts=words, long=long)


def _best(
    values: np.ndarray,
    texts: Sequence[str],
    best: Callable[[np.ndarray], float],
    show: Callable[[float], str],
) -> list[bool]:
    """Which of the values read as the best one does; none where all read the same."""
    known = values[~np.isnan(values)]
    if len({text for text in texts if text != ABSENT}) < 2:
        return [False] * len(texts)
    winner = show(best(known))
    return [text == winner for text in texts]


def _number_cell(text: str, is_best: bool) -> TableCell:
    return TableCell(text, "absent" if text == ABSENT else "best" if is_best else "")
