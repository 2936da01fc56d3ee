"""Methods × searches as small maps, turned alike so that they can be compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.embedding import align
from core.figures.canvas import (
    TEXT,
    TITLE,
    Lettering,
    finish_layout,
    frame_small,
    new_figure,
    set_lettering,
    style_axes,
)
from core.figures.map_figure import add_legend, draw_scene, write_names
from core.scene import MapScene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCALE = 0.45


def draw_map_grid(
    scenes: Sequence[Sequence[MapScene | None]],
    *,
    row_titles: Sequence[str],
    column_titles: Sequence[str],
    panel: tuple[float, float] = (2.1, 1.9),
    size: tuple[float, float] | None = None,
    lettering: Lettering | None = None,
) -> "Figure":
    """Draw maps in rows and columns, with one legend.

    An embedding is known only up to turning and mirroring. Each map is turned to lie as nearly as
    it can like the first of its row, and the first of each row like the first of all.

    Parameters
    ----------
    scenes : rows of maps of the same points, coloured alike
        None where there is no such map.
    panel : (float, float)
        Width and height of a map in inches.
    size : (float, float), optional
        Width and height of the whole figure in inches; by default what the maps need.
    lettering : Lettering, optional
    """
    lettering = lettering or Lettering()
    rows, columns = len(row_titles), len(column_titles)
    figure = new_figure(*(size or (panel[0] * columns + 1.3, panel[1] * rows + 0.3)))
    grid = figure.subplots(rows, columns, squeeze=False)
    drawn: list[tuple[Axes, MapScene]] = []
    for row, row_scenes in enumerate(scenes):
        model = drawn[0][1].points if drawn else None
        for column, scene in enumerate(row_scenes):
            axes = grid[row, column]
            style_axes(axes, title=column_titles[column] if row == 0 else None)
            frame_small(axes)
            if column == 0:
                axes.set_ylabel(row_titles[row], fontsize=TITLE, parse_math=False)
            if scene is None:
                nothing = {"ha": "center", "fontsize": TEXT, "color": "#8a8f98"}
                axes.text(0.5, 0.5, "no result", transform=axes.transAxes, **nothing)
                continue
            if model is not None:
                scene = scene.with_(points=turn_alike(scene.points, model))
            if column == 0 or model is None:
                model = scene.points
            draw_scene(axes, scene, scale=_SCALE)
            drawn.append((axes, scene))
    if drawn:
        add_legend(figure, list(grid.flat), drawn[0][1], every_name=True)
    set_lettering(figure, lettering)
    finish_layout(figure)
    for axes, scene in drawn:
        write_names(axes, scene, lettering, smaller=3)
    return figure


def turn_alike(y: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Turn and mirror points (n, 2) about their centre to lie as nearly as possible like a model.

    Their size stays.
    """
    return align(y, model).turn(y - y.mean(axis=0))
