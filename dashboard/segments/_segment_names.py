"""The names of segments on the map, where most of their homes are."""

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
# Names are so far apart, as a share of the map, where their homes allow it.
_APART = 0.16


class SegmentNames:
    """Names on the map while it is coloured by segments."""

    def __init__(self, schedule: Schedule, explorer: Explorer, map_view: MapView) -> None:
        self.explorer = explorer
        self.names = ColumnDataSource({"x": [], "y": [], "segment": []})
        self._drawn: Any = None
        map_view.streams.additions.append(self._add)
        # In another turn: a click arrives without the lock that changing models needs.
        show = coalesced(schedule, self._show)
        explorer.param.watch(show, ["run", "labels", "color_by", "plane"], precedence=5)
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
            level="overlay",
        )
        self._restyle()

    def _restyle(self, *_: param.parameterized.Event) -> None:
        if self._drawn is not None:
            theme = DARK if self.explorer.dark else LIGHT
            self._drawn.glyph.update(text_color=theme.ink, background_fill_color=theme.paper)

    def _show(self) -> None:
        explorer = self.explorer
        if explorer.run is None:
            return
        names: list[str] = []
        points: list[np.ndarray] = []
        if explorer.color_by == SEGMENTS and SEGMENTS in explorer.labels:
            labels = np.array(explorer.labels_of(SEGMENTS, np.arange(explorer.run.n)), object)
            known = dict.fromkeys(explorer.labels[SEGMENTS].values())
            names = [name for name in known if name in labels]
            points = [explorer.places[labels == name] for name in names]
        x, y = label_places(points).T
        self.names.data = {"x": x, "y": y, "segment": [wrapped(name) for name in names]}


def label_places(segments: list[np.ndarray]) -> np.ndarray:
    """Return where the names of segments go, given their points, (k, 2) each: (segments, 2).

    In the middle of the segment; where another name is there, at one of its inner points.
    """
    if not segments:
        return np.empty((0, 2))
    apart = _APART * np.ptp(np.concatenate(segments), axis=0).max()
    places: list[np.ndarray] = []
    for points in segments:
        middle = np.median(points, axis=0)
        order = np.argsort(np.linalg.norm(points - middle, axis=1), kind="stable")
        inner = np.vstack([middle, points[order[: 1 + len(points) // 2]]])
        free = np.full(len(inner), np.inf)
        for other in places:
            free = np.minimum(free, np.linalg.norm(inner - other, axis=1))
        enough = np.flatnonzero(free >= apart)
        places.append(inner[enough[0] if len(enough) else free.argmax()])
    return np.array(places)


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
