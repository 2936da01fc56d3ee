"""The pictures of small maps as plain arrays: points, colours, an image of a crowd, links.

Nothing here knows of widgets, so that it can be done in a thread.
"""

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.scene import DARK, LIGHT, Coloring, MapScene, Theme, View
from core.scene.map_scene import undirected_edges
from core.scene.palette import hdr_colors
from core.scene.shading import MAXIMUM_MARKERS, rgba, shade_edges, shade_points
from core.scene.view import one_for_each_spot
from core.study import Consensus

# Pixels of the longer side of an image of a crowd; with more, a lone point would fade away.
_IMAGE_PIXELS = 280


@dataclass(frozen=True, eq=False)
class Frame:
    """Where a map is put in a small picture: its longer side becomes 1.

    Attributes
    ----------
    corner : ndarray of shape (2,)
        The least coordinates.
    length : float
        Of the longer side, in the coordinates of the map.
    extent : tuple of float
        Width and height of the picture, the larger of them 1.
    """

    corner: NDArray[np.float64]
    length: float
    extent: tuple[float, float]

    @classmethod
    def around(cls, points: np.ndarray) -> "Frame":
        """The frame of points (n, 2)."""
        low, sides = points.min(axis=0), np.ptp(points, axis=0)
        length = float(sides.max()) or 1.0
        return cls(low, length, (float(sides[0]) / length, float(sides[1]) / length))

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Places of points (n, 2) in the picture."""
        return (points - self.corner) / self.length

    def view(self) -> View:
        """What an image of the picture shows, in the coordinates of the map."""
        sides = [max(side, 1e-3) for side in self.extent]
        (x0, y0), (x1, y1) = self.corner, self.corner + np.array(sides) * self.length
        width, height = (max(1, round(_IMAGE_PIXELS * side)) for side in sides)
        return View((float(x0), float(x1)), (float(y0), float(y1)), width, height)


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """What a small map is told to show; see :class:`dashboard.widgets.SmallMap`."""

    extent: tuple[float, float]
    rows: np.ndarray
    places: np.ndarray
    codes: np.ndarray
    colors: tuple[str, ...]
    names: tuple[str, ...]
    shown: int
    marked: int
    size: float
    theme: Theme
    image: bytes = b""
    links: bytes = b""
    wrong_links: bytes = b""

    def parameters(self) -> dict[str, Any]:
        """The same as the component has it."""
        return {
            "extent": list(self.extent),
            "rows": self.rows.astype(np.int32).tobytes(),
            "places": self.places.astype(np.float32).tobytes(),
            "codes": self.codes.astype(np.uint8).tobytes(),
            "colors": list(self.colors),
            "names": list(self.names),
            "shown": self.shown,
            "marked": self.marked,
            "size": self.size,
            "ink": self.theme.ink,
            "outline": self.theme.outline,
            "image": self.image,
            "links": self.links,
            "wrong_links": self.wrong_links,
        }


def draw_small_map(scene: MapScene, *, theme: Theme = LIGHT) -> Picture:
    """Draw one small map.

    Few points are drawn one by one, those that are marked on top. Many become an image, with the
    marked ones drawn above it and one unseen marker every few pixels, to be named under the
    pointer. So do the edges, if there are any.
    """
    frame, rows, marks = Frame.around(scene.points), scene.drawn, scene.drawn_marks[::-1]
    colors, codes = scene.coloring.palette(dark=theme.dark), scene.coloring.codes
    if scene.chosen is not None:
        codes = np.where(scene.chosen, codes, len(colors))
        # What is chosen lies on top.
        rows = rows[np.argsort(scene.chosen[rows], kind="stable")]
    links = _links(scene.edges), _links(scene.wrong_edges)
    image, crowd = b"", len(rows) > MAXIMUM_MARKERS
    if crowd:
        view, links = frame.view(), (b"", b"")
        joined = len(scene.edges) + len(scene.wrong_edges)
        shaded = shade_edges(scene, view) if joined else shade_points(scene, view, theme=theme)
        image = _png(rgba(shaded))
        rows = rows[one_for_each_spot(scene.points[rows], np.arange(len(rows)), view)]
    if len(marks):
        rows = np.concatenate([rows[~np.isin(rows, marks)], marks])
    shown = len(marks) if crowd else len(rows)
    return Picture(
        extent=frame.extent,
        rows=rows,
        places=frame(scene.points[rows]),
        codes=codes[rows],
        colors=(*colors, theme.pale),
        names=tuple(str(scene.names[row]) for row in rows),
        shown=shown,
        marked=len(marks),
        size=_marker_size(shown),
        theme=theme,
        image=image,
        links=links[0],
        wrong_links=links[1],
    )


def graph_scene(scene: MapScene, indices: np.ndarray, truth: np.ndarray | None = None) -> MapScene:
    """A neighbour graph at the places of a scene, with the edges that the exact one has not apart.

    Parameters
    ----------
    indices : int ndarray of shape (n, k)
        The neighbours of each point.
    truth : int ndarray of shape (n, k), optional
        The exact ones.
    """
    edges = undirected_edges(indices)
    wrong = np.zeros(len(edges), bool) if truth is None else ~_are_among(edges, truth, scene.n)
    plain = Coloring("", np.zeros(scene.n, np.uint8), ("#5f6673",), dark_colors=("#a4abb6",))
    return scene.with_(
        coloring=plain,
        marked=scene.marked[:0],
        edges=edges[~wrong],
        wrong_edges=edges[wrong],
        order=np.arange(scene.n),
    )


def consensus_coloring(consensus: Consensus, *, safe: bool = False) -> Coloring:
    """Colour points by how many runs have them among their top: from none to all of them."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    runs = consensus.runs
    steps = np.linspace(0, 1, runs) if runs > 1 else np.ones(1)
    colors = []
    for theme in (LIGHT, DARK):
        palette = list(hdr_colors(safe=safe, dark=theme.dark).values())
        ramp = LinearSegmentedColormap.from_list("consensus", palette)
        colors.append((theme.pale, *(to_hex(ramp(step)) for step in steps)))
    return Coloring(
        f"Maps with it among their top {consensus.n_top}",
        consensus.count.astype(np.uint8),
        colors[0],
        ("none", *(str(count) for count in range(1, runs)), f"all {runs}"),
        dark_colors=colors[1],
    )


def _links(edges: np.ndarray) -> bytes:
    return edges.astype(np.uint32).tobytes()


def _marker_size(n: int) -> float:
    """A good deal smaller than on the large map."""
    return float(np.clip(70 / np.sqrt(max(n, 1)), 2.2, 6.0))


def _are_among(edges: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Which edges (e, 2) the graph of some neighbours has as well, in either direction."""
    own = edges[:, 0] * np.int64(n) + edges[:, 1]
    others = undirected_edges(indices)
    theirs = others[:, 0] * np.int64(n) + others[:, 1]
    return np.isin(own, theirs, assume_unique=True)


def _png(image: np.ndarray) -> bytes:
    """An image, RGBA as uint32 from the bottom up, as a file."""
    from PIL import Image

    content = io.BytesIO()
    pixels = np.ascontiguousarray(image[::-1]).view(np.uint8).reshape(*image.shape, 4)
    Image.fromarray(pixels).save(content, "PNG", compress_level=4)
    return content.getvalue()
