"""Maps of more than two dimensions: pairs of their axes, and a slow tour around the points."""

from typing import Any

import numpy as np
import param
from bokeh.models import ColumnDataSource

from core.density import kept_by_dimension
from core.density.map_density import Plane
from core.errors import WattfoldError
from core.scene import DARK, LIGHT
from dashboard.explore.map_view import MapView
from dashboard.jobs import FollowedJob
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer
from dashboard.state.viewing_plane import (
    MAIN,
    MOST_DIMENSIONS,
    TOUR,
    axis_pairs,
    pair_basis,
    read_basis,
)
from dashboard.widgets import TourPlayer

_SOURCE = "wattfold-tour"
# Of a point and of one that is selected or pinned: its size and the width of its outline.
_PLAIN, _RINGED = (8, 0.5), (14, 3.0)


class DimensionTour:
    """What is on the map of three to six dimensions: the pair of axes, and the tour.

    While points move, they are drawn instead of the map; where the tour is paused, the map shows
    what was seen last, and points can be chosen there. Colours and the selection stay.
    """

    def __init__(self, workspace: Workspace, explorer: Explorer, map_view: MapView) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.map = map_view
        self.job: FollowedJob | None = None
        names = ("x", "y", "color", "outline", "size", "width")
        self.points = ColumnDataSource({name: [] for name in names}, name=_SOURCE)
        self._drawn: Any = None
        self.player = TourPlayer(
            self._told,
            source=_SOURCE,
            sizing_mode="stretch_width",
            margin=(0, 10),
            visible=False,
        )
        map_view.streams.additions.append(self._add)
        explorer.param.watch(self._offer, "run", precedence=2)
        explorer.param.watch(self._follow_plane, "plane", precedence=4)

    def _add(self, figure: Any) -> None:
        self._drawn = figure.scatter(
            "x",
            "y",
            source=self.points,
            size="size",
            fill_color="color",
            line_color="outline",
            line_width="width",
            visible=False,
        )

    # Which axes

    def _offer(self, *_: param.parameterized.Event) -> None:
        """Offer the axes of a new map."""
        self._stop()
        if self.job is not None:
            self.job.cancel()
            self.job = None
        n_axes = self.explorer.run.y.shape[1]
        if not 2 < n_axes <= MOST_DIMENSIONS:
            self.player.visible = False
            return
        choices = [MAIN, *axis_pairs(n_axes)]
        self.player.param.update(choices=choices, chosen=MAIN, note="", visible=True)
        run = self.explorer.run
        indices = run.neighbors.indices[:, : run.config.k]
        self.job = self.workspace.pool.call(kept_by_dimension, run.y, indices)
        self.job.on_end(self._tell)

    def _tell(self, job: FollowedJob) -> None:
        """Say what every further dimension adds."""
        self.job = None
        if job.state == "done":
            self.player.note = trust_text(job.result)

    def _follow_plane(self, *_: param.parameterized.Event) -> None:
        """Name the view that is restored, or left, elsewhere."""
        if self.explorer.plane is None:
            self.player.chosen = MAIN

    # What the visitor does

    def _told(self, message: Any) -> None:
        """Take what comes from the browser, as far as it makes sense."""
        if not isinstance(message, dict) or self.explorer.run is None or not self.player.visible:
            return
        n_axes = self.explorer.run.y.shape[1]
        if message.get("tour") is True:
            self._start()
        elif "axes" in message:
            self._stop()
            pair = axis_pairs(n_axes).get(str(message["axes"]))
            self.explorer.plane = None if pair is None else pair_basis(n_axes, pair)
            self.player.chosen = MAIN if pair is None else str(message["axes"])
        elif "basis" in message:
            self._stop()
            try:
                self.explorer.plane = read_basis(message["basis"], n_axes)
            except WattfoldError:
                return  # no page of ours sends that
            self.player.param.update(choices=[MAIN, TOUR, *axis_pairs(n_axes)], chosen=TOUR)

    def _start(self) -> None:
        """Draw the points where they are seen now, and let the browser turn them."""
        explorer = self.explorer
        if self._drawn is None:
            return
        theme = DARK if explorer.dark else LIGHT
        scene, rows = explorer.map_scene(), np.arange(explorer.run.n)
        colors = scene.colors_of(rows, dark=theme.dark, pale=theme.pale)
        y = explorer.run.y - explorer.run.y.mean(axis=0)
        ringed = {explorer.selected, *explorer.pins}
        sizes = [_RINGED if row in ringed else _PLAIN for row in rows]
        columns = {f"c{axis}": y[:, axis].astype(np.float32) for axis in range(y.shape[1])}
        basis = self._basis()
        x, height = (y @ basis).T
        self.points.data = {
            **columns,
            "x": x,
            "y": height,
            "color": colors.tolist(),
            "outline": [theme.accent if row in ringed else theme.outline for row in rows],
            "size": [size for size, _ in sizes],
            "width": [width for _, width in sizes],
        }
        self.map.show_alone([self._drawn], reach=float(np.linalg.norm(y, axis=1).max()))
        self.player.param.update(basis=basis.tolist(), is_open=True)

    def _basis(self) -> np.ndarray:
        """The two directions that the map shows."""
        explorer = self.explorer
        if explorer.plane is not None:
            return np.asarray(explorer.plane)
        return np.asarray(Plane.of(explorer.run.y).axes)

    def _stop(self) -> None:
        if self.player.is_open:
            self.map.show_alone([])
            self._drawn.visible = False
            self.player.is_open = False


def trust_text(kept: np.ndarray) -> str:
    """Say which share of neighbours the first axes keep, (d,)."""
    shares = ", ".join(f"{axes}: {100 * share:.0f} %" for axes, share in enumerate(kept, start=1))
    return f"Neighbours kept, by number of axes: {shares}"
