"""Labels beside points that overlap neither each other nor the points they name."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Directions in order of preference, and distances in printer's points.
_ANGLES = np.deg2rad([45, 0, 135, 315, 180, 225, 90, 270, 22, 158, 202, 338])
_DISTANCES = (5.0, 10.0, 17.0, 26.0, 38.0, 54.0)
# Points that labels try not to cover, and what covering one costs, in squared printer's points.
_CROWD = 4_000
_COVER = 2.0
# How much worse it is to cover a label, or to leave the axes.
_FORBIDDEN = 100.0
# From this distance on, a thin line says which point a label belongs to.
_LEADER = 12.0
# The widest rim that keeps letters apart from what is under them without hiding their own point.
_STROKE = 1.6
# Characters of a label; an id may have thousands.
_LONGEST = 48


def place_labels(
    axes: "Axes",
    points: np.ndarray,
    texts: Sequence[str],
    *,
    beside: np.ndarray,
    color: str,
    size: float,
    families: Sequence[str] | None = None,
) -> None:
    """Write ``texts`` beside ``points`` (m, 2), the first of them with the most room to choose.

    Labels never cover each other or a point that they name where there is any other place, and
    keep off the points ``beside`` (n, 2) where they can. The axes' limits and place in the figure
    must be final. Texts that are longer than any name are cut, with dots where they are.
    """
    from matplotlib.figure import SubFigure
    from matplotlib.patheffects import withStroke

    figure = axes.get_figure(root=True)
    assert figure is not None and not isinstance(figure, SubFigure)  # noqa: S101 (for the types)
    pixels = figure.dpi / 72
    centres = axes.transData.transform(points)
    area = axes.get_window_extent()
    inside = np.array([area.x0, area.y0, area.x1, area.y1])
    radius = 3 * pixels
    crowd = axes.transData.transform(beside[:: -(-len(beside) // _CROWD)])
    taken = [np.array([x - radius, y - radius, x + radius, y + radius]) for x, y in centres]
    shown = [text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in texts]
    for own, (point, text) in enumerate(zip(points, shown, strict=True)):
        width, height = _text_size(figure, axes, text, size, families)
        obstacles = np.array(taken[:own] + taken[own + 1 :]).reshape(-1, 4)
        best: tuple[float, np.ndarray, float] | None = None
        for distance in _DISTANCES:
            for angle in _ANGLES:
                direction = np.array([np.cos(angle), np.sin(angle)])
                # The label's nearest edge, not its centre, is at the distance.
                offset = direction * (
                    distance * pixels + np.abs(direction) * [width / 2, height / 2]
                )
                centre = centres[own] + offset
                half = np.array([width / 2, height / 2])
                box = np.concatenate([centre - half, centre + half])
                cost = _FORBIDDEN * (_overlap(box, obstacles) + _outside(box, inside))
                cost += _COVER * pixels**2 * _covered(box, crowd)
                if best is None or cost < best[0] - 1e-9:
                    best = (cost, box, distance)
            # Farther out, covering less would cost more in telling whose label it is.
            if best is not None and best[0] <= _COVER * pixels**2 * distance / _DISTANCES[0]:
                break
        assert best is not None  # noqa: S101 (there are candidates)
        _, box, distance = best
        taken.append(box)
        middle = (box[:2] + box[2:]) / 2
        axes.annotate(
            text,
            point,
            xytext=tuple((middle - centres[own]) / pixels),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            fontfamily=families,
            color=color,
            path_effects=[
                withStroke(linewidth=min(size / 5, _STROKE), foreground="white", alpha=0.85)
            ],
            parse_math=False,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.5,
                "alpha": 0.6,
                "shrinkA": 0,
                "shrinkB": 2,
            }
            if distance > _LEADER
            else None,
            zorder=5,
        )


def _text_size(
    figure: "Figure", axes: "Axes", text: str, size: float, families: Sequence[str] | None
) -> tuple[float, float]:
    """Width and height in pixels."""
    probe = axes.text(0, 0, text, fontsize=size, fontfamily=families, parse_math=False)
    with warnings.catch_warnings():
        # An id may hold any character; one that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        extent = probe.get_window_extent(renderer=_renderer(figure))
    probe.remove()
    return extent.width, extent.height


def _renderer(figure: "Figure"):  # type: ignore[no-untyped-def]
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return FigureCanvasAgg(figure).get_renderer()


def _overlap(box: np.ndarray, others: np.ndarray) -> float:
    """Area that a box (x0, y0, x1, y1) shares with others (m, 4)."""
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    return float(np.sum(np.clip(width, 0, None) * np.clip(height, 0, None)))


def _covered(box: np.ndarray, points: np.ndarray) -> int:
    """How many points (n, 2) lie under a box."""
    return int(np.sum(np.all((points >= box[:2]) & (points <= box[2:]), axis=1)))


def _outside(box: np.ndarray, area: np.ndarray) -> float:
    """Area of a box outside another."""
    width = np.clip(min(box[2], area[2]) - max(box[0], area[0]), 0, None)
    height = np.clip(min(box[3], area[3]) - max(box[1], area[1]), 0, None)
    return float((box[2] - box[0]) * (box[3] - box[1]) - width * height)
