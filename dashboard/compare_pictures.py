"""The pictures of small maps as plain arrays: points, colours, an image of a crowd, links.

Nothing here knows of widgets, so that it can be done in a thread.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.consensus import Consensus
from core.figures.neighbor_graph import undirected_edges
from core.figures.palette import EDGE, HDR_COLORS, HDR_COLORS_SAFE
from dashboard import map_layers
from dashboard.coloring import DIMMED, Coloring
from dashboard.map_layers import MAXIMUM_MARKERS, View

WRONG = "#e0532f"

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
        """What an image of the picture shows."""
        width, height = (max(side, 1e-3) for side in self.extent)
        pixels = [max(1, round(_IMAGE_PIXELS * side)) for side in (width, height)]
        return View((0.0, width), (0.0, height), *pixels)


@dataclass(frozen=True, eq=False, kw_only=True)
class Picture:
    """What a small map is told to show; see :class:`dashboard.components.SmallMap`."""

    extent: tuple[float, float]
    rows: np.ndarray
    places: np.ndarray
    codes: np.ndarray
    colors: tuple[str, ...]
    names: tuple[str, ...]
    shown: int
    size: float
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
            "size": self.size,
            "image": self.image,
            "links": self.links,
            "wrong_links": self.wrong_links,
        }


def draw_map(
    points: np.ndarray,
    coloring: Coloring,
    names: np.ndarray,
    *,
    rank: np.ndarray,
    top: np.ndarray,
    hidden: Sequence[str] = (),
    chosen: np.ndarray | None = None,
) -> Picture:
    """Draw one small map.

    Few points are drawn one by one, the anomalous on top. Many become an image, with the top
    ones drawn above it and one unseen marker every few pixels, to be named under the pointer.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Places on the map, turned as they are to be seen.
    names : ndarray of n str
    rank : ndarray of shape (n,)
        1 is the most anomalous.
    top : ndarray of int
        Rows that are drawn one by one in any case.
    hidden : sequence of str
        Categories that are switched off.
    chosen : ndarray of int, optional
        The others are drawn pale.
    """
    frame = Frame.around(points)
    places = frame(points)
    lit = np.ones(len(points), bool)
    if chosen is not None and len(chosen):
        lit[:] = False
        lit[chosen] = True
    # What is drawn last lies on top: what is chosen, the anomalies first of all.
    order = np.lexsort((-rank, lit))
    seen = coloring.shown(hidden)
    order, top = order[seen[order]], top[seen[top]]
    codes = np.where(lit, coloring.codes, len(coloring.colors)).astype(np.uint8)
    image, shown = b"", len(order)
    if len(order) > MAXIMUM_MARKERS:
        view = frame.view()
        image = _png(map_layers.shade(places[order], coloring.take(order), view, chosen=lit[order]))
        by_rank = order[::-1]
        order = np.concatenate(
            [by_rank[map_layers.one_for_each_spot(places[by_rank], view)], top[::-1]]
        )
        shown = len(top)
    return Picture(
        extent=frame.extent,
        rows=order,
        places=places[order],
        codes=codes[order],
        colors=(*coloring.colors, DIMMED),
        names=tuple(str(name) for name in names[order]),
        shown=shown,
        size=_marker_size(shown),
        image=image,
    )


def draw_graph(
    points: np.ndarray,
    indices: np.ndarray,
    names: np.ndarray,
    *,
    truth: np.ndarray | None = None,
) -> Picture:
    """Draw a neighbour graph: every edge, those that the exact one has not so that they stand out.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    indices : int ndarray of shape (n, k)
        The neighbours of each point.
    truth : int ndarray of shape (n, k), optional
        The exact ones.
    """
    frame = Frame.around(points)
    places = frame(points)
    edges = undirected_edges(indices)
    wrong = np.zeros(len(edges), bool) if truth is None else ~_are_among(edges, truth, len(points))
    n, crowd = len(points), len(points) > MAXIMUM_MARKERS
    rows = np.arange(n)
    picture = Picture(
        extent=frame.extent,
        rows=rows,
        places=places,
        codes=np.zeros(n, np.uint8),
        colors=("#5f6673",),
        names=tuple(str(name) for name in names) if not crowd else (),
        shown=n,
        size=0.6 * _marker_size(n),
    )
    if not crowd:
        return replace(
            picture,
            links=edges[~wrong].astype(np.uint32).tobytes(),
            wrong_links=edges[wrong].astype(np.uint32).tobytes(),
        )
    view = frame.view()
    spots = map_layers.one_for_each_spot(places, view)
    return replace(
        picture,
        rows=rows[spots],
        places=places[spots],
        codes=picture.codes[spots],
        names=tuple(str(name) for name in names[spots]),
        shown=0,
        image=_png(_shade_edges(places, edges, wrong, view)),
    )


def consensus_coloring(consensus: Consensus, *, safe: bool = False) -> Coloring:
    """Colour points by how many runs have them among their top: from none to all of them."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    palette = list((HDR_COLORS_SAFE if safe else HDR_COLORS).values())
    ramp = LinearSegmentedColormap.from_list("consensus", palette)
    runs = consensus.runs
    steps = np.linspace(0, 1, runs) if runs > 1 else np.ones(1)
    names = ["none", *(str(count) for count in range(1, runs)), f"all {runs}"]
    return Coloring(
        f"Maps with it among their top {consensus.n_top}",
        consensus.count.astype(np.uint8),
        (DIMMED, *(to_hex(ramp(step)) for step in steps)),
        tuple(names),
    )


def _marker_size(n: int) -> float:
    """A good deal smaller than on the large map."""
    return float(np.clip(70 / np.sqrt(max(n, 1)), 2.2, 6.0))


def _are_among(edges: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Which edges (e, 2) the graph of some neighbours has as well, in either direction."""
    own = edges[:, 0] * np.int64(n) + edges[:, 1]
    others = undirected_edges(indices)
    theirs = others[:, 0] * np.int64(n) + others[:, 1]
    return np.isin(own, theirs, assume_unique=True)


def _shade_edges(
    places: np.ndarray, edges: np.ndarray, wrong: np.ndarray, view: View
) -> np.ndarray:
    """Draw edges as an image, RGBA as uint32."""
    import datashader as ds
    import datashader.transfer_functions as tf
    import pandas as pd

    canvas = ds.Canvas(view.width, view.height, x_range=view.x, y_range=view.y)
    layers = []
    for kind, color in ((~wrong, EDGE), (wrong, WRONG)):
        if kind.any():
            ends = places[edges[kind]]
            table = pd.DataFrame(
                {"x0": ends[:, 0, 0], "x1": ends[:, 1, 0], "y0": ends[:, 0, 1], "y1": ends[:, 1, 1]}
            )
            counts = canvas.line(table, x=["x0", "x1"], y=["y0", "y1"], axis=1, agg=ds.count())
            # A colour by itself, not a list of one, is shaded from faint to full.
            layers.append(tf.shade(counts, cmap=color, how="eq_hist", min_alpha=20))
    return tf.stack(*layers).to_numpy()


def _png(image: np.ndarray) -> bytes:
    """An image, RGBA as uint32 from the bottom up, as a file."""
    from PIL import Image

    content = io.BytesIO()
    pixels = np.ascontiguousarray(image[::-1]).view(np.uint8).reshape(*image.shape, 4)
    Image.fromarray(pixels).save(content, "PNG", compress_level=4)
    return content.getvalue()
