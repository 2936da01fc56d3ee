"""Methods × searches as small maps, turned alike so that they can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.alignment import align
from core.density import HDR
from core.figures.canvas import (
    TEXT,
    TITLE,
    Lettering,
    finish_layout,
    map_points,
    new_figure,
    set_lettering,
    style_axes,
)
from core.figures.hdr_map import add_time_bar, scatter_hdr, scatter_time
from core.figures.labels import place_labels
from core.figures.palette import HDR_COLORS, LABEL
from core.figures.points import add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class MapCell:
    """One small map.

    Attributes
    ----------
    y : ndarray of shape (n, d)
        The embedding.
    hdr : HDR, optional
        For colours by highest density region.
    minutes : ndarray of shape (n,), optional
        For colours by the time of day: the minute at which each point's slot starts.
    labels : sequence of n str, optional
        With ``hdr``, the names of anomalies are written beside them.
    """

    y: np.ndarray
    hdr: HDR | None = None
    minutes: np.ndarray | None = None
    labels: Sequence[str] | np.ndarray | None = None


def draw_map_grid(
    cells: Sequence[Sequence[MapCell | None]],
    *,
    row_titles: Sequence[str],
    column_titles: Sequence[str],
    panel: tuple[float, float] = (2.1, 1.9),
    size: tuple[float, float] | None = None,
    lettering: Lettering | None = None,
) -> "Figure":
    """Draw maps in rows and columns.

    An embedding is known only up to turning and mirroring. Each map is turned to lie as nearly as
    it can like the first of its row, and the first of each row like the first of all.

    Parameters
    ----------
    cells : rows of maps of the same points
        None where there is no such map.
    panel : (float, float)
        Width and height of a map in inches.
    size : (float, float), optional
        Width and height of the whole figure in inches; by default what the maps need.
    lettering : Lettering, optional
    """
    lettering = lettering or Lettering()
    by_hdr = any(cell is not None and cell.hdr is not None for row in cells for cell in row)
    rows, columns = len(row_titles), len(column_titles)
    figure = new_figure(*(size or (panel[0] * columns + 0.9, panel[1] * rows + 0.3)))
    grid = figure.subplots(rows, columns, squeeze=False)
    names: list[tuple[Axes, MapCell, np.ndarray]] = []
    first: np.ndarray | None = None
    for row, row_cells in enumerate(cells):
        model = first
        for column, cell in enumerate(row_cells):
            axes = grid[row, column]
            style_axes(axes, title=column_titles[column] if row == 0 else None)
            _frame(axes)
            if column == 0:
                axes.set_ylabel(row_titles[row], fontsize=TITLE, parse_math=False)
            if cell is None:
                axes.text(
                    0.5,
                    0.5,
                    "no result",
                    transform=axes.transAxes,
                    ha="center",
                    fontsize=TEXT,
                    color="#8a8f98",
                )
                continue
            points = map_points(cell.y, cell.hdr.density if cell.hdr is not None else None)
            if model is not None:
                points = turn_alike(points, model)
            if first is None:
                first = points
            if model is first or column == 0:
                model = points
            if cell.hdr is not None:
                scatter_hdr(axes, points, cell.hdr, scale=0.45)
                names.append((axes, cell, points))
            elif cell.minutes is not None:
                scatter_time(axes, points, cell.minutes, scale=0.45)
            _frame(axes)
    if by_hdr:
        add_legend(figure, "HDR, %", HDR_COLORS.items())
    else:
        add_time_bar(figure, list(grid.flat))
    set_lettering(figure, lettering)
    finish_layout(figure)
    for axes, cell, points in names:
        if cell.labels is not None and cell.hdr is not None:
            anomalies = cell.hdr.anomalies
            texts = [str(cell.labels[point]) for point in anomalies]
            place_labels(
                axes,
                points[anomalies],
                texts,
                beside=points,
                color=LABEL,
                size=lettering.scale * (TEXT - 3),
                families=lettering.families,
            )
    return figure


def turn_alike(y: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Turn and mirror points (n, 2) about their centre to lie as nearly as possible like a model.

    Their size stays.
    """
    return align(y, model).turn(y - y.mean(axis=0))


def _frame(axes: "Axes") -> None:
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color="#c4c9d1", linewidth=0.6)
