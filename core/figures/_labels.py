"""Names beside points, in text that stays text in vector files."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.scene import LIGHT
from core.scene.labels import place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points that labels try not to cover.
_CROWD = 4_000
# Printer's points from which a thin line says which point a label belongs to.
_LEADER = 14.0
_RADIUS = 3.0


def write_labels(
    axes: "Axes",
    points: np.ndarray,
    texts: Sequence[str],
    *,
    beside: np.ndarray,
    size: float,
    families: Sequence[str] | None = None,
) -> None:
    """Write ``texts`` beside ``points`` (m, 2), the first of them with the most room to choose.

    Labels never cover each other or a point that they name where there is any other place, and
    keep off the points ``beside`` (n, 2) where they can. The axes' limits and place in the figure
    must be final.
    """
    figure = axes.figure
    pixels = figure.dpi / 72
    area = axes.get_window_extent()
    sizes = [_text_size(axes, text, size, families) for text in texts]
    offsets = place_labels(
        axes.transData.transform(points).reshape(-1, 2),
        np.array(sizes).reshape(-1, 2),
        area=np.array([area.x0, area.y0, area.x1, area.y1]),
        beside=axes.transData.transform(beside[:: -(-len(beside) // _CROWD) or 1]).reshape(-1, 2),
        radius=_RADIUS * pixels,
        scale=pixels,
    )
    for point, text, extent, offset in zip(points, texts, sizes, offsets, strict=True):
        gap = np.linalg.norm(np.clip(np.abs(offset) - np.array(extent) / 2, 0, None)) / pixels
        line = {"arrowstyle": "-", "color": LIGHT.ink, "linewidth": 0.5, "alpha": 0.6}
        axes.annotate(
            text,
            tuple(point),
            xytext=tuple(offset / pixels),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            fontfamily=families,
            color=LIGHT.ink,
            # Not a rim around the letters, for which they would have to become outlines.
            bbox={"facecolor": "white", "alpha": 0.65, "edgecolor": "none", "pad": 0.4},
            parse_math=False,
            annotation_clip=False,
            arrowprops={**line, "shrinkA": 0, "shrinkB": 2} if gap > _LEADER else None,
            zorder=5,
        )


def _text_size(
    axes: "Axes", text: str, size: float, families: Sequence[str] | None
) -> tuple[float, float]:
    """Width and height in pixels."""
    probe = axes.text(0, 0, text, fontsize=size, fontfamily=families, parse_math=False)
    with warnings.catch_warnings():
        # An id may hold any character; one that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        extent = probe.get_window_extent()
    probe.remove()
    return extent.width, extent.height
