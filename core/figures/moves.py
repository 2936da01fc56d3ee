"""Two periods on one map: an arrow for every household."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.figures._labels import write_labels
from core.figures.canvas import TEXT, finish_layout, new_figure, style_axes
from core.scene import map_points
from core.scene.palette import ANOMALY, OTHERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEASON = "#c2410c"


def draw_moves(
    y_first: np.ndarray,
    y_second: np.ndarray,
    *,
    labels: Sequence[str] | np.ndarray,
    named: np.ndarray,
    title: str | None = None,
    size: tuple[float, float] = (6.4, 5.2),
) -> "Figure":
    """Draw where every household was and where it is, and the mean shift of all.

    Parameters
    ----------
    y_first, y_second : ndarray of shape (n, d)
        Places in the two periods, on one map.
    labels : sequence of n str
    named : ndarray of int
        The households that moved most; their arrows are dark and have names.
    title : str, optional
    size : (float, float)
        Width and height in inches.
    """
    n = len(y_first)
    points = map_points(np.concatenate([y_first, y_second]))
    start, shift = points[:n], points[n:] - points[:n]
    figure = new_figure(*size)
    axes = figure.add_subplot()
    style_axes(axes, title=title)
    moved = np.zeros(n, bool)
    moved[named] = True
    for rows, color, width, order in ((~moved, OTHERS, 0.0015, 2), (moved, ANOMALY, 0.004, 3)):
        axes.quiver(
            *start[rows].T,
            *shift[rows].T,
            angles="xy",
            scale_units="xy",
            scale=1,
            color=color,
            width=width,
            alpha=0.55 if order == 2 else 1.0,
            zorder=order,
        )
    axes.scatter(start[:, 0], start[:, 1], s=3, color=OTHERS, linewidths=0, zorder=2)
    season = shift.mean(axis=0)
    axes.quiver(
        *points.mean(axis=0) - season / 2,
        *season,
        angles="xy",
        scale_units="xy",
        scale=1,
        color=SEASON,
        width=0.008,
        zorder=4,
        label="mean shift of all",
    )
    axes.margins(0.06)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("first coordinate")
    axes.set_ylabel("second coordinate")
    axes.legend(loc="best", fontsize=TEXT - 1, frameon=False)
    finish_layout(figure)
    write_labels(
        axes,
        points[n:][named],
        [str(labels[row]) for row in named],
        beside=points,
        size=TEXT - 0.5,
    )
    return figure
