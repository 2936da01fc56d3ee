"""The layers of the map as plain arrays: image, markers, contours, labels, edges.

Few points are drawn as markers that can be hovered. Many are drawn as an image by Datashader, and
one invisible marker every few pixels, for the most anomalous point there, keeps hovering possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numba import njit

from core.density import HDR, LEVELS
from dashboard.coloring import DIMMED, Coloring

# So many points in view are still drawn one by one.
MAXIMUM_MARKERS = 4_000

# Of a map on a screen of full HD.
_USUAL_PIXELS = 1100 * 550

# Pixels between markers that stand for a crowd.
_HOVER_PIXELS = 8

# Half the width and the height of a label's character, in pixels, at 9 points.
_LABEL_CHARACTER = 6.4
_LABEL_HEIGHT = 14.0
_LABEL_GAP = 11.0
_LABEL_ANGLES = np.deg2rad([90, 270, 45, 135, 315, 225, 0, 180])


@dataclass(frozen=True)
class View:
    """The part of the plane that is seen, and how many pixels show it."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: int
    height: int

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """Places of points (n, 2) in pixels from the lower left corner."""
        low = np.array([self.x[0], self.y[0]])
        size = np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])
        return (points - low) / size * [self.width, self.height]

    def plane(self, pixels: np.ndarray) -> np.ndarray:
        """Undo :meth:`pixels`."""
        low = np.array([self.x[0], self.y[0]])
        size = np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])
        return low + pixels / [self.width, self.height] * size

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Which points are seen, (n,)."""
        x, y = points.T
        return (x >= self.x[0]) & (x <= self.x[1]) & (y >= self.y[0]) & (y <= self.y[1])


def whole_view(points: np.ndarray, *, width: int, height: int) -> View:
    """A view of all points (n, 2) with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 1.0)
    (x0, y0), (x1, y1) = low - margin, high + margin
    return View((float(x0), float(x1)), (float(y0), float(y1)), width, height)


def marker_size(n: int, view: View) -> float:
    """The diameter, in pixels, at which n points neither drown nor vanish."""
    # What is right on a laptop is lost on a wall.
    larger = np.clip(np.sqrt(view.width * view.height / _USUAL_PIXELS), 1, 2)
    return float(larger * np.clip(150 / np.sqrt(max(n, 1)), 3.5, 9))


def nearest(points: np.ndarray, place: Sequence[float], view: View, *, reach: float) -> int | None:
    """The point nearest to a place, if it is within ``reach`` pixels."""
    if not len(points):
        return None
    apart = view.pixels(points) - view.pixels(np.array([place]))
    distance = np.einsum("ij,ij->i", apart, apart)
    row = int(distance.argmin())
    return row if distance[row] <= reach**2 else None


def one_for_each_spot(points: np.ndarray, view: View) -> np.ndarray:
    """Positions of points in view, one for each spot of a few pixels: the first that is there."""
    holder = np.full((view.height // _HOVER_PIXELS + 1, view.width // _HOVER_PIXELS + 1), -1)
    low = np.array([view.x[0], view.y[0]])
    size = np.array([view.x[1] - view.x[0], view.y[1] - view.y[0]])
    _hold_first(points, low, np.array([view.width, view.height]) / size / _HOVER_PIXELS, holder)
    return holder[holder >= 0]


@njit(cache=True, nogil=True)
def _hold_first(
    points: np.ndarray, low: np.ndarray, per_unit: np.ndarray, holder: np.ndarray
) -> None:
    """Write into every spot of ``holder`` the first point on it."""
    for place in range(len(points)):
        column = int((points[place, 0] - low[0]) * per_unit[0])
        row = int((points[place, 1] - low[1]) * per_unit[1])
        if holder[row, column] < 0:
            holder[row, column] = place


def shade(
    points: np.ndarray, coloring: Coloring, view: View, *, chosen: np.ndarray | None = None
) -> np.ndarray:
    """Draw points as an image, RGBA as uint32, (height, width).

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    coloring : Coloring
        Of the same points.
    chosen : ndarray of bool, shape (n,), optional
        The others are drawn pale, below these.
    """
    import datashader as ds
    import datashader.transfer_functions as tf

    canvas = ds.Canvas(view.width, view.height, x_range=view.x, y_range=view.y)
    table = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "code": coloring.codes})
    layers = []
    if chosen is not None and not chosen.all():
        pale = canvas.points(table[~chosen], "x", "y", ds.any())
        layers.append(tf.shade(pale, cmap=[DIMMED]))
        table = table[chosen]
    if coloring.names:
        table["code"] = pd.Categorical.from_codes(table["code"], list(coloring.names))
        counts = canvas.points(table, "x", "y", ds.count_cat("code"))
        keys = dict(zip(coloring.names, coloring.colors, strict=True))
        layers.append(tf.shade(counts, color_key=keys, how="eq_hist", min_alpha=120))
    else:
        scale = coloring.colors[: len(coloring.colors) - bool(coloring.missing)]
        if coloring.missing:
            unknown = canvas.points(table[table["code"] == len(scale)], "x", "y", ds.any())
            layers.append(tf.shade(unknown, cmap=[coloring.colors[-1]]))
            table = table[table["code"] < len(scale)]
        mean = canvas.points(table, "x", "y", ds.mean("code"))
        layers.append(tf.shade(mean, cmap=list(scale), how="linear", span=(0, len(scale) - 1)))
    image = tf.stack(*layers) if len(layers) > 1 else layers[0]
    return tf.dynspread(image, threshold=0.5, max_px=3).to_numpy()


@cache
def warm_up() -> None:
    """Import and compile what shading needs, so that no session waits for it."""
    points, view = np.zeros((2, 2)), View((-1.0, 1.0), (-1.0, 1.0), 8, 8)
    codes, colors = np.array([0, 1], np.uint8), ("#000000", "#ffffff")
    one_for_each_spot(points, view)
    for names in (("a", "b"), ()):
        shade(points, Coloring("", codes, colors, names), view, chosen=np.array([True, False]))


def contour_lines(hdr: HDR, colors: Sequence[str]) -> dict[str, list]:
    """The borders of the highest density regions, for Bokeh's ``multi_line``."""
    from contourpy import contour_generator

    lines: dict[str, list] = {"xs": [], "ys": [], "color": [], "level": []}
    if hdr.contours.density.ndim != 2:
        return lines
    grid = hdr.contours.points()
    generator: Any = contour_generator(grid[..., 0], grid[..., 1], hdr.contours.density)
    for threshold, level, color in zip(hdr.thresholds, LEVELS, colors, strict=False):
        for line in generator.lines(float(threshold)):
            # As lists: every array would travel in a message of its own.
            lines["xs"].append(line[:, 0].tolist())
            lines["ys"].append(line[:, 1].tolist())
            lines["color"].append(color)
            lines["level"].append(f"{level} %")
    return lines


def place_labels(
    points: np.ndarray, texts: Sequence[str], view: View, *, radius: float
) -> np.ndarray:
    """Where to write labels, (m, 2), so that none covers another, a named point or the border.

    The first label has the most room to choose. One that finds no room is not written: its place
    is NaN, and it comes back when the view is nearer.
    """
    centres = view.pixels(points)
    half_height = _LABEL_HEIGHT / 2
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in centres]
    places = np.full((len(texts), 2), np.nan)
    for row, text in enumerate(texts):
        half_width = len(text) * _LABEL_CHARACTER / 2
        others = np.array(taken[:row] + taken[row + 1 :]).reshape(-1, 4)
        for angle in _LABEL_ANGLES:
            away = np.array([np.cos(angle), np.sin(angle)])
            reach = radius + _LABEL_GAP + np.abs(away) * [half_width - 4, 0]
            x, y = centres[row] + away * reach
            box = (x - half_width, y - half_height, x + half_width, y + half_height)
            if _fits(box, others, view):
                taken.append(box)
                places[row] = view.plane(np.array([[x, y]]))[0]
                break
    return places


def _fits(box: tuple[float, ...], others: np.ndarray, view: View) -> bool:
    x0, y0, x1, y1 = box
    if x0 < 0 or y0 < 0 or x1 > view.width or y1 > view.height:
        return False
    apart = (
        (others[:, 0] >= x1) | (others[:, 2] <= x0) | (others[:, 1] >= y1) | (others[:, 3] <= y0)
    )
    return bool(apart.all())


def inside_region(points: np.ndarray, x: Sequence[float], y: Sequence[float]) -> np.ndarray:
    """Which points are inside a polygon, (n,)."""
    from matplotlib.path import Path

    corners = np.column_stack([x, y]).astype(float)
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    within = View((x0, x1), (y0, y1), 1, 1).inside(points)
    within[within] = Path(corners).contains_points(points[within])
    return within
