"""The points that are looked at, on a Bokeh figure: rings, and lines to their neighbours.

Drawn by Bokeh alone. A change through HoloViews ends in ``document.models.freeze``, which looks
through all models of the page: most of what a tap would cost.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.scene.map_scene import MapScene
from core.theme import Theme

_FIRST_RING, _RING = 18.0, 13.0  # pixels


class DrawnSelection:
    """Rings around points, and lines from the first of them.

    Parameters
    ----------
    figure : bokeh.plotting.figure
    below : bokeh.models.GlyphRenderer
        What the lines lie below; the rings lie above it.
    """

    def __init__(self, figure: Any, *, below: Any) -> None:
        from bokeh.models import ColumnDataSource

        self.lines = ColumnDataSource({"x": [], "y": [], "x1": [], "y1": []})
        self.rings = ColumnDataSource({"x": [], "y": [], "ring": []})
        lines = figure.segment(
            "x", "y", "x1", "y1", source=self.lines, line_alpha=0.55, line_width=1.2
        )
        rings = figure.scatter(
            "x", "y", size="ring", source=self.rings, fill_color=None, line_width=2.4
        )
        self._glyphs = [lines.glyph, rings.glyph]
        others = [each for each in figure.renderers if each is not lines]
        others.insert(others.index(below), lines)
        figure.renderers = others

    def show(
        self, scene: MapScene, theme: Theme, rings: Sequence[int], neighbors: Sequence[int]
    ) -> None:
        """Ring rows of a scene, the first of them largest, and join that, if any, with others."""
        for glyph in self._glyphs:
            glyph.line_color = theme.accent
        places = scene.points[np.array(rings, np.int64)]
        sizes = [_FIRST_RING, *[_RING] * len(rings)][: len(places)]
        self.rings.data = {"x": places[:, 0], "y": places[:, 1], "ring": sizes}
        there = scene.points[np.array(neighbors if len(places) else [], np.int64)]
        here = np.broadcast_to(places[:1], there.shape)
        self.lines.data = {"x": here[:, 0], "y": here[:, 1], "x1": there[:, 0], "y1": there[:, 1]}
