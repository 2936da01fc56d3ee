"""The names of segments on the map: of each as a whole, and of its parts when zoomed in."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import param
from bokeh.models import ColumnDataSource

from core.scene import DARK, LIGHT
from dashboard.explore import MapView
from dashboard.jobs import Schedule, coalesced
from dashboard.state import Explorer
from dashboard.state.map_colors import SEGMENTS

# Letters of a line.
_LINE = 22
# Pixels of a letter and of a line, and around a name.
_LETTER = np.array([7.4, 15.5])
_AROUND = 8
# Pixels on each side of a marked point that its own name may take.
_MARK = np.array([34.0, 18.0])
# Parts are named where the map is so many times larger than when all of it is seen.
FINE = 1.8


class SegmentNames:
    """Names on the map while it is coloured by segments.

    They stand where they are in the plane, so they move with it; only another scale places them
    anew. ``parts`` has the part of its segment that each home is in.
    """

    def __init__(self, schedule: Schedule, explorer: Explorer, map_view: MapView) -> None:
        self.explorer = explorer
        self.parts: Mapping[str, str] = {}
        self.names = ColumnDataSource({"x": [], "y": [], "segment": []})
        self._map_view = map_view
        self._drawn: Any = None
        map_view.streams.additions.append(self._add)
        # In another turn: a click arrives without the lock that changing models needs.
        show = coalesced(schedule, self._show)
        shown = ["run", "labels", "color_by", "hidden", "plane", "unusual", "listed", "list_order"]
        explorer.param.watch(show, shown, precedence=5)
        map_view.streams.labels_view.add_subscriber(lambda **_: show())
        explorer.param.watch(self._restyle, "dark", precedence=4)

    def _add(self, figure: Any) -> None:
        self._drawn = figure.text(
            "x",
            "y",
            text="segment",
            source=self.names,
            text_align="center",
            text_baseline="middle",
            text_font_size="9.5pt",
            text_font_style="bold",
            text_line_height=1.1,
            background_fill_alpha=0.72,
        )
        self._restyle()

    def _restyle(self, *_: param.parameterized.Event) -> None:
        if self._drawn is not None:
            theme = DARK if self.explorer.dark else LIGHT
            self._drawn.glyph.update(text_color=theme.ink, background_fill_color=theme.paper)

    def _show(self) -> None:
        explorer, scene = self.explorer, self._map_view.scene
        if explorer.run is None or scene is None:
            return
        names: list[str] = []
        places = np.empty((0, 2))
        if explorer.color_by == SEGMENTS and SEGMENTS in explorer.labels:
            view = self._map_view.streams.view
            unit = (view.x[1] - view.x[0]) / view.width
            whole = scene.view(view.width, view.height)
            is_fine = whole.x[1] - whole.x[0] >= FINE * unit * view.width
            points = self._points_by_name(is_fine=is_fine)
            names = [wrapped(name) for name in points]
            places = unit * label_places(
                [own / unit for own in points.values()],
                [text_size(name) for name in names],
                marks=scene.points[scene.drawn_marks] / unit,
            )
        there = np.isfinite(places[:, 0])
        self.names.data = {
            "x": places[there, 0],
            "y": places[there, 1],
            "segment": [name for name, is_there in zip(names, there, strict=True) if is_there],
        }

    def _points_by_name(self, *, is_fine: bool) -> dict[str, np.ndarray]:
        """Where the homes of every segment are, or of every part of one, the largest first."""
        explorer = self.explorer
        homes = explorer.run.units["household"].to_numpy()
        segments = explorer.labels[SEGMENTS]
        named = self.parts if is_fine else segments
        labels = np.array(
            [
                named[home] if home in segments and segments[home] not in explorer.hidden else ""
                for home in homes
            ],
            object,
        )
        found = {name: explorer.places[labels == name] for name in sorted(set(labels) - {""})}
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def label_places(
    segments: Sequence[np.ndarray], sizes: Sequence[np.ndarray], *, marks: np.ndarray
) -> np.ndarray:
    """Return where the names of segments stand, in pixels, (segments, 2).

    In the middle of the segment; where another name or a marked point is there, at one of its
    inner points; NaN where there is no room.

    Parameters
    ----------
    segments : sequence of ndarray of shape (k, 2)
        Their points, in pixels.
    sizes : sequence of ndarray of shape (2,)
        Width and height of their names.
    marks : ndarray of shape (m, 2)
        Points with names of their own; as few as possible are covered.
    """
    places = np.full((len(segments), 2), np.nan)
    for own, (points, size) in enumerate(zip(segments, sizes, strict=True)):
        middle = np.median(points, axis=0)
        order = np.argsort(np.linalg.norm(points - middle, axis=1), kind="stable")
        inner = np.vstack([middle, points[order[: 1 + len(points) // 2]]])
        free = np.ones(len(inner), bool)
        for place, other in zip(places[:own], sizes[:own], strict=True):
            # A name without a place is in nobody's way.
            free &= ~(np.abs(inner - place) < (size + other) / 2).all(axis=1)
        covered = (np.abs(inner[:, None] - marks) < size / 2 + _MARK).all(axis=2).sum(axis=1)
        if free.any():
            places[own] = inner[np.where(free, covered, len(marks) + 1).argmin()]
    return places


def text_size(name: str) -> np.ndarray:
    """Width and height of a name with its surroundings, in pixels."""
    lines = name.split("\n")
    return np.array([max(map(len, lines)), len(lines)]) * _LETTER + _AROUND


def wrapped(name: str) -> str:
    """A name in short lines, broken after its commas."""
    lines = [""]
    for part in name.split(", "):
        joined = f"{lines[-1]}, {part}" if lines[-1] else part
        if len(joined) <= _LINE:
            lines[-1] = joined
        else:
            lines.append(part)
    return ",\n".join(line for line in lines if line)
