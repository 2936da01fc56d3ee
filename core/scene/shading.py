"""A crowd of points as an image, by Datashader through HoloViews' operations."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.scene.map_scene import MapScene
from core.scene.palette import EDGE, WRONG_EDGE
from core.scene.view import View
from core.theme import LIGHT, Theme

if TYPE_CHECKING:
    import holoviews as hv

# So many points in view are still drawn one by one.
MAXIMUM_MARKERS = 4_000

# How opaque the loneliest point is, of 255: the rarest are mostly alone.
_LEAST_OPACITY = 150


def shade_points(scene: MapScene, view: View, *, theme: Theme = LIGHT) -> "hv.RGB":
    """Draw the points as an image; those that are not chosen are pale, below the others."""
    import datashader as ds

    coloring, table = scene.coloring, scene.table
    colors = coloring.palette(dark=theme.dark)
    layers = []
    if scene.chosen is not None:
        chosen = scene.chosen if scene.shown is None else scene.chosen[scene.shown]
        layers.append(_datashade(table[~chosen], view, ds.any(), cmap=[theme.pale]))
        table = table[chosen]
        if not len(table):  # what is chosen is hidden; Datashader counts no categories of nothing
            return _stack(layers)
    if len(coloring.names) == 1:
        # HoloViews takes a single category for a number. A colour alone goes from faint to full.
        layers.append(_datashade(table, view, ds.count(), cmap=colors[0]))
    elif coloring.names:
        keys = dict(zip(coloring.names, colors, strict=True))
        layers.append(_datashade(table, view, ds.count_cat("code"), color_key=keys))
    else:
        steps = coloring.scale_length
        if coloring.missing:
            unknown = table[table["code"] == steps]
            layers.append(_datashade(unknown, view, ds.any(), cmap=[colors[-1]]))
            table = table[table["code"] < steps]
        layers.append(
            _datashade(
                table,
                view,
                ds.mean("code"),
                cmap=list(colors[:steps]),
                cnorm="linear",
                clims=(0, steps - 1),
            )
        )
    return _stack(layers)


def shade_edges(scene: MapScene, view: View) -> "hv.RGB":
    """Draw the edges as an image, the wrong ones above the others."""
    import datashader as ds
    import holoviews as hv

    layers = []
    for edges, color in ((scene.edges, EDGE), (scene.wrong_edges, WRONG_EDGE)):
        if len(edges):
            ends = scene.points[edges].reshape(-1, 4)
            segments = hv.Segments(pd.DataFrame(ends, columns=["x", "y", "x1", "y1"]))
            layers.append(_shade_element(segments, view, ds.count(), cmap=color, min_alpha=20))
    return _stack(layers)


def rgba(image: "hv.RGB") -> np.ndarray:
    """An image as RGBA in uint32, (height, width), from the bottom up."""
    channels = [image.dimension_values(band, flat=False) for band in image.vdims]
    pixels = np.ascontiguousarray(np.dstack(channels), np.uint8)
    return pixels.view(np.uint32)[..., 0]


@cache
def warm_up() -> None:
    """Import and compile what shading needs, so that no session waits for it."""
    from core.scene.coloring import Coloring

    view = View((-1.0, 1.0), (-1.0, 1.0), 8, 8)
    codes, colors = np.array([0, 1], np.uint8), ("#000000", "#ffffff")
    for names in (("a", "b"), ()):
        scene = MapScene(
            points=np.zeros((2, 2)),
            coloring=Coloring("", codes, colors, names),
            order=np.arange(2),
            names=("a", "b"),
            chosen=np.array([True, False]),
        )
        shade_points(scene, view)


def _datashade(table: pd.DataFrame, view: View, aggregator: object, **options: object) -> "hv.RGB":
    import holoviews as hv

    points = hv.Points(table, ["x", "y"], "code")
    return _shade_element(points, view, aggregator, min_alpha=_LEAST_OPACITY, **options)


def _shade_element(
    element: "hv.Element", view: View, aggregator: object, **options: object
) -> "hv.RGB":
    from holoviews.operation.datashader import datashade

    return datashade(
        element,
        aggregator=aggregator,
        x_range=view.x,
        y_range=view.y,
        width=view.width,
        height=view.height,
        dynamic=False,
        **options,
    )


def _stack(layers: "list[hv.RGB]") -> "hv.RGB":
    import holoviews as hv
    from holoviews.operation.datashader import dynspread, stack

    image = stack(hv.Overlay(layers)) if len(layers) > 1 else layers[0]
    return dynspread(image, threshold=0.5, max_px=3, dynamic=False)
