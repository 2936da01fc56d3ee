"""A map as plain arrays: what every drawer draws, whatever it draws with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from core.density import HDR, LEVELS, map_plane
from core.embedding import METHODS
from core.runs import Run
from core.scene.coloring import HDR as BY_HDR
from core.scene.coloring import HDR_TITLE, Coloring, color_levels, color_points, level_text
from core.scene.palette import hdr_colors
from core.scene.view import View, one_for_each_spot

# What the points that are marked are, by what ranks them.
MARK_NAMES = {
    "density": "isolated on this map",
    "isolation": "far from all others",
    "surprise": "unlike similar homes",
}
_NO_EDGES = np.empty((0, 2), np.int64)
_LONGEST_LABEL = 48
_MARGIN = 0.06


@dataclass(frozen=True, eq=False)
class Contour:
    """A border of a highest density region.

    Attributes
    ----------
    level : str
        One of `core.density.LEVELS`.
    line : float64 ndarray of shape (k, 2)
    color, dark_color : str
        On light and on dark paper.
    """

    level: str
    line: np.ndarray
    color: str
    dark_color: str


@dataclass(frozen=True, eq=False, kw_only=True)
class MapScene:
    """What a map shows.

    It knows no paper, no size and no theme; the drawers do.

    Attributes
    ----------
    points : float64 ndarray of shape (n, 2)
        Column by column, where there are many: every look at the map compares all of them.
    coloring : Coloring
        Of the n points.
    order : int ndarray of shape (n,)
        All rows from the bottom to the top of the picture: dense places lie on top of sparse ones,
        as their regions lie inside the others.
    names : sequence of n str
        What the points are called.
    marked : int ndarray
        Rows that are marked by their shape, the most anomalous first.
    mark_name : str
        What they are.
    labelled : bool
        Whether the marked points are named.
    shown : bool ndarray of shape (n,), optional
        Points that are drawn; all by default.
    chosen : bool ndarray of shape (n,), optional
        Points that keep their colour, the others being pale; all by default.
    contours : tuple of Contour
        Borders of highest density regions.
    edges, wrong_edges : int ndarray of shape (e, 2)
        Pairs of rows that are joined, and those that should not be.
    axis_names : (str, str)
    facts : mapping of name to ndarray of shape (n,)
        What is told of the point under the pointer: ``hdr``, ``rank``, ``mean_kwh``, ``m``.
    """

    points: np.ndarray
    coloring: Coloring
    order: np.ndarray
    names: Sequence[str] | np.ndarray
    marked: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    mark_name: str = ""
    labelled: bool = True
    shown: np.ndarray | None = None
    chosen: np.ndarray | None = None
    contours: tuple[Contour, ...] = ()
    edges: np.ndarray = field(default_factory=lambda: _NO_EDGES)
    wrong_edges: np.ndarray = field(default_factory=lambda: _NO_EDGES)
    axis_names: tuple[str, str] = ("", "")
    facts: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.points)

    def with_(self, **changes: Any) -> Self:
        """The same scene but for some of its parts."""
        return replace(self, **changes)

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of all points, with a margin."""
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        margin = _MARGIN * (float((high - low).max()) or 1.0)
        (x0, y0), (x1, y1) = (low - margin).tolist(), (high + margin).tolist()
        return x0, x1, y0, y1

    def view(self, width: int, height: int) -> View:
        """All of it on so many pixels, with equal scales on both axes."""
        x0, x1, y0, y1 = self.extent
        return View((x0, x1), (y0, y1), width, height).equal()

    def rows_in(self, view: View) -> np.ndarray:
        """Rows that are drawn and in view, from the bottom to the top."""
        return self.order[self._seen(view)[self.order]]

    def rows_apart(self, view: View) -> np.ndarray:
        """Of the rows in :meth:`rows_in`, the lowest on each spot of a few pixels."""
        rows = np.flatnonzero(self._seen(view))
        return rows[one_for_each_spot(self.points[rows], self._height[rows], view)]

    @cached_property
    def _height(self) -> np.ndarray:
        height = np.empty(self.n, np.int32)
        height[self.order] = np.arange(self.n)
        return height

    def count_in(self, view: View) -> int:
        """How many points are drawn and in view."""
        return int(np.count_nonzero(self._seen(view)))

    def _seen(self, view: View) -> np.ndarray:
        seen = view.inside(self.points)
        return seen if self.shown is None else seen & self.shown

    @property
    def drawn(self) -> np.ndarray:
        """Rows that are drawn, from the bottom to the top."""
        return self.order if self.shown is None else self.order[self.shown[self.order]]

    @property
    def drawn_marks(self) -> np.ndarray:
        """Rows that are drawn and marked, the most anomalous first."""
        return self.marked if self.shown is None else self.marked[self.shown[self.marked]]

    @cached_property
    def table(self) -> pd.DataFrame:
        """The points that are drawn as Datashader takes them: ``x``, ``y`` and ``code``."""
        points, codes = self.points, self.coloring.codes
        if self.shown is not None:
            points, codes = points[self.shown], codes[self.shown]
        if self.coloring.names:
            codes = pd.Categorical.from_codes(codes, list(self.coloring.names))
        return pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "code": codes})

    def colors_of(self, rows: np.ndarray, *, dark: bool = False, pale: str) -> np.ndarray:
        """Colours of some points, as ``#rrggbb``."""
        colors = np.array(self.coloring.palette(dark=dark), object)[self.coloring.codes[rows]]
        if self.chosen is not None:
            colors[~self.chosen[rows]] = pale
        return colors

    def label(self, row: int) -> str:
        """What a point is called, shortened if it is longer than any name."""
        name = str(self.names[row])
        return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"

    def tell(self, rows: np.ndarray) -> dict[str, list[Any]]:
        """What is told of some points: ``label``, the facts, and what their colour says."""
        told = {name: values[rows].tolist() for name, values in self.facts.items()}
        if "hdr" in told:
            told["hdr"] = [level_text(LEVELS[level]) for level in told["hdr"]]
        title = self.coloring.title
        told["label"] = [str(self.names[row]) for row in rows]
        if title != HDR_TITLE:  # which is a fact already
            told["value"] = [f"{title}: {text}" for text in self.coloring.texts(rows)]
        return told


def map_scene(
    run: Run,
    *,
    color_by: str = BY_HDR,
    interval_minutes: int = 30,
    safe: bool = False,
    hidden: Sequence[str] = (),
    contours: bool = False,
) -> MapScene:
    """Describe the map of a run.

    Parameters
    ----------
    color_by : str
        One of `core.scene.coloring.choices`.
    interval_minutes : int
        Minutes a slot.
    safe : bool
        Whether to use colours that hold for any kind of colour vision.
    hidden : sequence of str
        Categories of the colours that are not drawn.
    contours : bool
        Whether the borders of the highest density regions are drawn.
    """
    coloring = color_points(run, color_by, interval_minutes=interval_minutes, safe=safe)
    title = METHODS[run.config.method].title
    scene = density_scene(run.y, run.hdr, run.units["label"].to_numpy(), coloring=coloring)
    return scene.with_(
        shown=coloring.shown(hidden) if hidden else None,
        contours=contour_lines(run.hdr, safe=safe) if contours else (),
        axis_names=(f"{title} 1", f"{title} 2" if run.y.shape[1] > 1 else "density (scaled)"),
        facts={
            "hdr": run.hdr.level,
            "rank": run.hdr.rank,
            "mean_kwh": run.units["mean_kwh"].to_numpy(),
            "m": run.units["m"].to_numpy(),
        },
    )


def density_scene(
    y: np.ndarray,
    hdr: HDR,
    names: Sequence[str] | np.ndarray | None = None,
    *,
    coloring: Coloring | None = None,
) -> MapScene:
    """Describe an embedding (n, d) and its density, coloured by level unless told otherwise."""
    flat = np.ndim(y) == 1 or np.shape(y)[1] == 1
    return MapScene(
        points=map_points(y, hdr.density),
        coloring=coloring or color_levels(hdr.level),
        order=np.argsort(hdr.density, kind="stable"),
        names=[""] * len(hdr.density) if names is None else np.asarray(names),
        # Of a few points not all: a mark that every point has says nothing.
        marked=hdr.anomalies[: len(hdr.density) // 2],
        mark_name=MARK_NAMES[hdr.rank_by],
        labelled=names is not None,
        axis_names=("coordinate", "density (scaled)")
        if flat
        else ("first coordinate", "second coordinate"),
    )


def plain_scene(y: np.ndarray, coloring: Coloring) -> MapScene:
    """Describe an embedding (n, d) without a density."""
    points = map_points(y)
    return MapScene(
        points=points,
        coloring=coloring,
        order=np.arange(len(points)),
        names=[""] * len(points),
        labelled=False,
        axis_names=("first coordinate", "second coordinate"),
    )


def map_points(y: np.ndarray, density: np.ndarray | None = None) -> np.ndarray:
    """Coordinates (n, 2) to draw an embedding (n, d) at.

    More than two axes become principal components; a single one is drawn against the density,
    or along a line where there is none.
    """
    plane, _ = map_plane(np.asarray(y, np.float64))
    if plane.shape[1] == 2:
        return np.asfortranarray(plane)
    height = np.zeros(len(plane)) if density is None else np.asarray(density)
    spread = float(np.ptp(height))
    if spread > 0:
        # As high as wide, so that equal scales do not flatten one of them.
        height = height / spread * (float(np.ptp(plane)) or 1.0)
    return np.asfortranarray(np.column_stack([plane[:, 0], height]))


def contour_lines(hdr: HDR, *, safe: bool = False) -> tuple[Contour, ...]:
    """The borders of the highest density regions; none where the map is a line."""
    from contourpy import contour_generator

    if hdr.contours.density.ndim != 2:
        return ()
    grid = hdr.contours.points()
    generator: Any = contour_generator(grid[..., 0], grid[..., 1], hdr.contours.density)
    light, dark = hdr_colors(safe=safe), hdr_colors(safe=safe, dark=True)
    return tuple(
        Contour(level, line, light[level], dark[level])
        for level, threshold in zip(LEVELS, hdr.thresholds, strict=False)
        for line in generator.lines(float(threshold))
    )


def undirected_edges(indices: np.ndarray) -> np.ndarray:
    """Edges (e, 2) of a graph of neighbours (n, k), each pair once however many name it."""
    n, k = indices.shape
    one, other = np.repeat(np.arange(n), k), np.asarray(indices, np.int64).ravel()
    one, other = one[other >= 0], other[other >= 0]
    # As one number each: rows of a million pairs take a hundred times as long to tell apart.
    edges = np.unique(np.minimum(one, other) * n + np.maximum(one, other))
    return np.column_stack(np.divmod(edges, max(n, 1)))
