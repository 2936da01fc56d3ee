"""Two periods on one map, drawn with Bokeh: an arrow for every home."""

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, HoverTool, TapTool
from bokeh.plotting import figure

from core.figures.moves import SEASON
from core.over_time import PeriodComparison
from core.scene import DARK, LIGHT, map_points
from core.scene.labels import DISTANCES, LETTER, place_labels
from core.scene.palette import OTHERS

NAMED = 10
# Of the figure's shorter side on a laptop; names keep apart at this size, and in larger ones.
_USUAL_PIXELS = 480
_HEAD_RADIUS = 6.0
_COLUMNS = ("x0", "y0", "x1", "y1", "angle", "home", "moved", "q", "kwh")
_OFFSETS = ("name_x", "name_y")


class MovesFigure:
    """Arrows from where homes were to where they are, and the mean shift of all."""

    def __init__(self, *, height: int) -> None:
        self.all = ColumnDataSource({name: [] for name in _COLUMNS})
        self.most = ColumnDataSource({name: [] for name in (*_COLUMNS, *_OFFSETS)})
        self.season = ColumnDataSource({name: [] for name in _COLUMNS})
        self.selected = ColumnDataSource({"x": [], "y": []})
        plot: Any = figure(
            height=height,
            sizing_mode="stretch_width",
            match_aspect=True,
            tools="pan,wheel_zoom,box_zoom,reset",
            active_scroll="wheel_zoom",
            toolbar_location="right",
            outline_line_color=None,
        )
        plot.toolbar.logo = None
        plot.axis.visible = False
        plot.grid.grid_line_alpha = 0.3
        drawn = []
        for source, width, size, alpha in ((self.all, 1.0, 4, 0.55), (self.most, 2.0, 8, 1.0)):
            line = plot.segment("x0", "y0", "x1", "y1", source=source, line_width=width)
            head = plot.scatter(
                "x1", "y1", source=source, marker="triangle", angle="angle", size=size
            )
            line.glyph.line_alpha = head.glyph.fill_alpha = head.glyph.line_alpha = alpha
            for renderer in (line, head):  # a tapped arrow is ringed, the others stay as they are
                renderer.nonselection_glyph = renderer.selection_glyph = None
            drawn += [line, head]
        self._all, self._most = drawn[:2], drawn[2:]
        for renderer in (
            plot.segment("x0", "y0", "x1", "y1", source=self.season, line_width=5),
            plot.scatter("x1", "y1", source=self.season, marker="triangle", angle="angle", size=18),
        ):
            renderer.glyph.line_color = SEASON
        renderer.glyph.fill_color = SEASON
        self._names = plot.text(
            "x1",
            "y1",
            text="home",
            source=self.most,
            x_offset="name_x",
            y_offset="name_y",
            text_align="center",
            text_baseline="middle",
            text_font_size="9pt",
            background_fill_alpha=0.7,
        )
        plot.scatter(
            "x", "y", source=self.selected, size=20, fill_color=None, line_color="#2563eb",
            line_width=2.4,
        )  # fmt: skip
        heads = [self._all[1], self._most[1]]
        plot.add_tools(
            HoverTool(
                renderers=heads,
                tooltips=[
                    ("", "@home"),
                    ("moved", "@moved{0.00} (q @q{0.000})"),
                    ("kWh a week", "@kwh{+0.0}"),
                ],
            ),
            TapTool(renderers=heads),
        )
        self.figure = plot
        self.paint(dark=False)

    def paint(self, *, dark: bool) -> None:
        """Use the colours of light or dark paper."""
        theme = DARK if dark else LIGHT
        for renderers, color in ((self._all, OTHERS), (self._most, theme.ink)):
            for renderer in renderers:
                renderer.glyph.line_color = color
            renderers[1].glyph.fill_color = color
        self._names.glyph.update(text_color=theme.ink, background_fill_color=theme.paper)

    def show(self, found: PeriodComparison) -> None:
        """Draw a comparison."""
        n = len(found.households)
        points = map_points(np.concatenate([found.y_first, found.y_second]))
        start, end = points[:n], points[n:]
        order = np.argsort(-found.excess, kind="stable")
        self.all.data = _arrows(start, end, found, order[NAMED:])
        named = order[:NAMED]
        self.most.data = {
            **_arrows(start, end, found, named),
            **_name_offsets(end[named], found.households[named], points),
        }
        shift = (end - start).mean(axis=0)
        middle = points.mean(axis=0)
        ends = middle - shift / 2, middle + shift / 2
        self.season.data = {
            **{name: [0.0] for name in _COLUMNS},
            **_places(ends[0][None], ends[1][None]),
            "home": ["mean shift of all"],
        }
        self.selected.data = {"x": [], "y": []}

    def select(self, home: str) -> None:
        """Ring the end of a home's arrow."""
        for source in (self.all, self.most):
            homes = list(source.data["home"])
            if home in homes:
                row = homes.index(home)
                self.selected.data = {
                    "x": [source.data["x1"][row]],
                    "y": [source.data["y1"][row]],
                }


def _places(start: np.ndarray, end: np.ndarray) -> dict[str, np.ndarray]:
    dx, dy = (end - start).T
    return {
        "x0": start[:, 0],
        "y0": start[:, 1],
        "x1": end[:, 0],
        "y1": end[:, 1],
        # A triangle points up where its angle is nought.
        "angle": np.arctan2(dy, dx) - np.pi / 2,
    }


def _name_offsets(heads: np.ndarray, names: np.ndarray, points: np.ndarray) -> dict[str, Any]:
    """Where names stand beside the heads of arrows, in pixels to the right and down."""
    low, high = points.min(axis=0), points.max(axis=0)
    per_pixel = float((high - low).max() or 1.0) / _USUAL_PIXELS
    offsets = place_labels(
        heads / per_pixel,
        np.array([[len(name), 1] for name in names]).reshape(-1, 2) * LETTER,
        area=np.array([*low, *high]) / per_pixel,
        beside=heads / per_pixel,
        radius=_HEAD_RADIUS,
        distances=DISTANCES[:5],
    )
    return dict(zip(_OFFSETS, (offsets * [1, -1]).T, strict=True))


def _arrows(
    start: np.ndarray, end: np.ndarray, found: PeriodComparison, rows: np.ndarray
) -> dict[str, Any]:
    return {
        **_places(start[rows], end[rows]),
        "home": found.households[rows].tolist(),
        "moved": found.moved[rows],
        "q": found.q[rows],
        "kwh": found.kwh_per_week[rows],
    }
