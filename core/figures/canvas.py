"""What all figures have in common: paper, axes, the size of points."""

from typing import TYPE_CHECKING

import numpy as np

from core.landscape import map_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Vector formats hold every point; beyond so many they are drawn as pixels.
RASTER_POINTS = 20_000
TEXT = 8.0
TITLE = 9.5
_INK = "#30343b"


def new_figure(width: float, height: float) -> "Figure":
    """A white figure of a size in inches that lays itself out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def style_axes(axes: "Axes", *, title: str | None = None) -> None:
    """Thin ink and small text; titles are plain text, whatever characters they hold."""
    axes.set_facecolor("white")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set(color=_INK, linewidth=0.6)
    axes.tick_params(labelsize=TEXT - 1, colors=_INK, width=0.6, length=2.5)
    axes.xaxis.label.set(fontsize=TEXT, color=_INK)
    axes.yaxis.label.set(fontsize=TEXT, color=_INK)
    if title is not None:
        axes.set_title(title, fontsize=TITLE, color=_INK, parse_math=False)


def frame_map(axes: "Axes", points: np.ndarray) -> None:
    """Limits around all points (n, 2) with equal scales, the box filled."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.update_datalim(points)
    axes.autoscale_view()


def map_points(y: np.ndarray, density: np.ndarray | None = None) -> np.ndarray:
    """Coordinates (n, 2) to draw an embedding (n, d) at.

    More than two axes become principal components; a single one is drawn against the density,
    or along a line where there is none.
    """
    plane, _ = map_plane(np.asarray(y, np.float64))
    if plane.shape[1] == 2:
        return plane
    height = np.zeros(len(plane)) if density is None else np.asarray(density)
    spread = float(np.ptp(height))
    if spread > 0:
        # As high as wide, so that equal scales do not flatten one of them.
        height = height / spread * (float(np.ptp(plane)) or 1.0)
    return np.column_stack([plane[:, 0], height])


def point_size(n: int) -> float:
    """Area of a point in squared printer's points: large for few, small for many."""
    return float(np.clip(12_000 / max(n, 1), 1.0, 16.0))


def finish_layout(figure: "Figure") -> None:
    """Lay the figure out once and leave it so, for what is placed by hand."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
