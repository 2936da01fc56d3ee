"""The part of the plane that is seen, and which points are where in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numba import njit

# Of a map on a screen of full HD.
_USUAL_PIXELS = 1100 * 550
# Pixels between the markers that stand for a crowd.
_SPOT_PIXELS = 8


@dataclass(frozen=True)
class View:
    """The part of the plane that is seen, and how many pixels show it."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: int
    height: int

    def equal(self) -> Self:
        """The least view around this one with the same scale on both axes."""
        unit = max(np.ptp(self.x) / self.width, np.ptp(self.y) / self.height)

        def widen(side: tuple[float, float], pixels: int) -> tuple[float, float]:
            middle, half = sum(side) / 2, float(unit) * pixels / 2
            return middle - half, middle + half

        return replace(self, x=widen(self.x, self.width), y=widen(self.y, self.height))

    def around(self, place: Sequence[float], reach: float) -> Self:
        """The square of ``reach`` pixels on each side of a place."""
        middle = self.pixels(np.array([place]))
        (x0, y0), (x1, y1) = self.plane(np.vstack([middle - reach, middle + reach])).tolist()
        side = max(1, round(2 * reach))
        return replace(self, x=(x0, x1), y=(y0, y1), width=side, height=side)

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """Places of points (n, 2) in pixels from the lower left corner."""
        return (points - self._low) / self._size * [self.width, self.height]

    def plane(self, pixels: np.ndarray) -> np.ndarray:
        """Undo :meth:`pixels`."""
        return self._low + pixels / [self.width, self.height] * self._size

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Which points are seen, (n,)."""
        x, y = points.T
        return (x >= self.x[0]) & (x <= self.x[1]) & (y >= self.y[0]) & (y <= self.y[1])

    @property
    def _low(self) -> np.ndarray:
        return np.array([self.x[0], self.y[0]])

    @property
    def _size(self) -> np.ndarray:
        return np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])


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


def one_for_each_spot(points: np.ndarray, height: np.ndarray, view: View) -> np.ndarray:
    """Positions of points in view, one for each spot of a few pixels: the one that lies lowest."""
    holder = np.full((view.height // _SPOT_PIXELS + 1, view.width // _SPOT_PIXELS + 1), -1)
    low, high = view.plane(np.array([[0, 0], [_SPOT_PIXELS, _SPOT_PIXELS]]))
    _hold_lowest(points, height, low, 1 / (high - low), holder)
    return holder[holder >= 0]


@njit(cache=True, nogil=True)
def _hold_lowest(
    points: np.ndarray,
    height: np.ndarray,
    low: np.ndarray,
    per_unit: np.ndarray,
    holder: np.ndarray,
) -> None:
    """Write into every spot of ``holder`` the lowest point on it."""
    for place in range(len(points)):
        column = int((points[place, 0] - low[0]) * per_unit[0])
        row = int((points[place, 1] - low[1]) * per_unit[1])
        held = holder[row, column]
        if held < 0 or height[place] < height[held]:
            holder[row, column] = place


def inside_region(points: np.ndarray, x: Sequence[float], y: Sequence[float]) -> np.ndarray:
    """Which points are inside a polygon, (n,)."""
    from matplotlib.path import Path

    corners = np.column_stack([x, y]).astype(float)
    (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
    within = View((x0, x1), (y0, y1), 1, 1).inside(points)
    within[within] = Path(corners).contains_points(points[within])
    return within
