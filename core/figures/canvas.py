"""What all figures have in common: paper, lettering, axes, the size of points."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Vector formats hold every point; beyond so many they are drawn as pixels.
RASTER_POINTS = 20_000
TEXT = 8.0
TITLE = 9.5
_INK = "#30343b"

# Comes with Matplotlib, has most scripts, and stands in for what another font lacks.
FALLBACK_FONT = "DejaVu Sans"


@dataclass(frozen=True)
class Lettering:
    """How the text of a figure is set.

    Attributes
    ----------
    family : str
        An installed font.
    size : float
        Of axis labels, in points; other texts are larger or smaller in proportion.
    """

    family: str = FALLBACK_FONT
    size: float = TEXT

    @property
    def families(self) -> list[str]:
        """The font, and the one that has the characters it lacks."""
        return list(dict.fromkeys((self.family, FALLBACK_FONT)))

    @property
    def scale(self) -> float:
        """How much larger texts are than by default."""
        return self.size / TEXT


def new_figure(width: float, height: float) -> "Figure":
    """A white figure of a size in inches that lays itself out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from core.figures._notebook_figure import NotebookFigure

    figure = NotebookFigure(figsize=(width, height), facecolor="white", layout="constrained")
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


def frame_small(axes: "Axes") -> None:
    """A thin frame without ticks, for one of many maps."""
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color="#c4c9d1", linewidth=0.6)


def point_size(n: int) -> float:
    """Area of a point in squared printer's points: large for few, small for many."""
    return float(np.clip(12_000 / max(n, 1), 1.0, 16.0))


def set_lettering(figure: "Figure", lettering: Lettering) -> None:
    """Set all text that a figure has so far; what is placed by hand comes after it."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        assert isinstance(text, Text)  # noqa: S101 (findobj forgets the type)
        text.set_fontfamily(lettering.families)
        text.set_fontsize(float(text.get_fontsize()) * lettering.scale)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # Labels of ticks are made when they are drawn, of what the axis says.
            size = float(axis.get_tick_params().get("labelsize", TEXT))
            axis.set_tick_params(
                labelsize=size * lettering.scale, labelfontfamily=lettering.families
            )


def finish_layout(figure: "Figure") -> None:
    """Lay the figure out once and leave it so, for what is placed by hand."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
