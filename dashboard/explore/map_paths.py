"""Homes over time on the map: the path of the selected one, and all of them played."""

from typing import Any

import numpy as np
import param
from bokeh.models import ColumnDataSource, HoverTool

from core.errors import WattfoldError
from core.over_time import Paths
from core.scene import DARK, LIGHT
from dashboard.explore.map_view import MapView
from dashboard.jobs import FollowedJob, coalesced, time_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer
from dashboard.widgets import TimePlayer, as_sentence

_PLAYED = "wattfold-homes-over-time"
# Dates that are written along a path: more would hide it.
_DATES_WRITTEN = 5
# As a share of the map: dates that are closer would cover each other.
_APART = 0.08


class MapPaths:
    """Follows homes on the map by month, or by week where the record is short.

    A worker computes the paths of all homes of a map, once, after a first home is selected. They
    are drawn on the map's figure, beside what HoloViews draws there.
    """

    def __init__(self, workspace: Workspace, explorer: Explorer, map_view: MapView) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.map = map_view
        map_view.streams.additions.append(self._add_layers)
        self.paths: Paths | None = None
        self.job: FollowedJob | None = None
        self.line = ColumnDataSource({"x": [], "y": []})
        self.dates = ColumnDataSource({"x": [], "y": [], "date": [], "size": []})
        self.written = ColumnDataSource({"x": [], "y": [], "date": []})
        self.played = ColumnDataSource({"x": [], "y": [], "color": []}, name=_PLAYED)
        self._drawn: list[Any] = []
        self.player = TimePlayer(
            self._toggle, source=_PLAYED, sizing_mode="stretch_width", margin=(0, 10), visible=False
        )
        explorer.param.watch(self._forget, "run", precedence=2)
        # In another turn: a tap on the map arrives without the lock that changing models needs.
        follow = coalesced(workspace.pool.schedule, self._follow_selection)
        explorer.param.watch(follow, "selected", precedence=4)
        explorer.param.watch(self._restyle, "dark", precedence=4)

    # Computing

    def _forget(self, *_: param.parameterized.Event) -> None:
        self._toggle(False)
        if self.job is not None:
            self.job.cancel()
        self.job = self.paths = None
        self._clear()
        followed = self.explorer.judges_households and self.explorer.run.y.shape[1] == 2
        self.player.param.update(visible=followed, dates=[], note="")

    def _follow_selection(self) -> None:
        if self.explorer.selected is None or not self.player.visible:
            return
        if self.paths is not None:
            self._draw()
        elif self.job is None:
            config = self.explorer.run.config

            def take_or_compute(job: FollowedJob) -> None:
                if not self._take(job.result):
                    self._compute(config)

            self._wait_for(time_jobs.find_paths(self.workspace, config), take_or_compute)

    def _compute(self, config: Any) -> None:
        try:
            job = time_jobs.submit_paths(self.workspace, config)
        except WattfoldError as error:
            self.player.note = str(error)
            return

        def read(_: FollowedJob) -> None:
            found = time_jobs.find_paths(self.workspace, config)
            self._wait_for(found, lambda job: self._take(job.result))

        self.player.note = "Following homes over time …"
        self._wait_for(job, read)

    def _wait_for(self, job: FollowedJob, done: Any) -> None:
        def end(job: FollowedJob) -> None:
            if job.state == "done":
                done(job)
            elif job.state == "failed":
                self.player.note = as_sentence(job.error)

        self.job = job
        job.on_end(end)

    def _take(self, paths: Paths | None) -> bool:
        if paths is None:
            return False
        self.paths = paths
        self.player.dates = date_names(paths)
        self._draw()
        return True

    # The path of one home

    def _clear(self) -> None:
        for source in (self.line, self.dates, self.written):
            source.data = {name: [] for name in source.data}

    def _draw(self) -> None:
        """Draw the path of the selected home."""
        paths = self.paths
        if paths is None:
            return
        home = self.explorer.household_of(self.explorer.selected)
        if home not in paths.households:
            self._clear()
            return
        own = paths.of(home)
        if not len(own.dates):
            self._clear()
            self.player.note = f"{home} has too few readings in every {paths.step}."
            return
        (x, y), names = own.y[0].T, date_names(own)
        self.line.data = {"x": x, "y": y}
        size = np.linspace(4, 9, len(x))  # the later, the larger
        self.dates.data = {"x": x, "y": y, "date": names, "size": size}
        explorer = self.explorer
        named = np.append(
            explorer.listed_rows()[: explorer.run.config.n_anomalies], explorer.selected
        )
        apart = _APART * np.ptp(explorer.places, axis=0).max()
        some = written_dates(own.y[0], apart=apart, named=explorer.places[named.astype(np.int64)])
        self.written.data = {"x": x[some], "y": y[some], "date": [names[row] for row in some]}
        self.player.note = f"The line is the path of {home}, {paths.step} by {paths.step}."

    def _add_layers(self, figure: Any) -> None:
        """Add what is drawn here to the map's figure when it is made."""
        # No overlays: Bokeh leaves behind what of them was drawn beyond the frame.
        line = figure.line("x", "y", source=self.line, line_width=2, level="annotation")
        dots = figure.scatter("x", "y", source=self.dates, size="size", level="annotation")
        text = figure.text(
            "x",
            "y",
            text="date",
            source=self.written,
            text_font_size="8.5pt",
            x_offset=7,
            y_offset=15,  # below its place: names of homes stand above theirs where they can
            background_fill_alpha=0.75,
            level="annotation",
        )
        played = figure.scatter(
            "x", "y", source=self.played, size=6, fill_color="color", line_width=0.5, visible=False
        )
        figure.add_tools(HoverTool(renderers=[dots], tooltips=[("", "@date")], visible=False))
        self._drawn = [line, dots, text, played]
        self._restyle()

    def _restyle(self, *_: param.parameterized.Event) -> None:
        if not self._drawn:
            return
        theme = DARK if self.explorer.dark else LIGHT
        line, dots, text, played = (renderer.glyph for renderer in self._drawn)
        line.line_color = theme.accent
        dots.update(fill_color=theme.accent, line_color=theme.paper)
        text.update(text_color=theme.ink, background_fill_color=theme.paper)
        played.line_color = theme.outline

    # All homes

    def _toggle(self, is_open: bool) -> None:
        """Show all homes at the slider's date instead of the map, or the map again."""
        paths, is_played = self.paths, False
        if is_open and paths is not None and self._drawn:
            self.played.data = self._played_columns(paths)
            is_played = True
        if self._drawn:
            self._drawn[-1].visible = False
            self.map.show_alone(self._drawn if is_played else [])
        self.player.is_open = is_played

    def _played_columns(self, paths: Paths) -> dict[str, Any]:
        row_of = {home: row for row, home in enumerate(paths.households)}
        rows = np.array([row_of[home] for home in self.explorer.run.units["household"]])
        scene = self.explorer.map_scene()
        theme = DARK if self.explorer.dark else LIGHT
        places = paths.y[rows].astype(np.float32)
        columns: dict[str, Any] = {
            "x": places[:, 0, 0],
            "y": places[:, 0, 1],
            "color": scene.colors_of(np.arange(scene.n), dark=theme.dark, pale=theme.pale).tolist(),
        }
        for step in range(places.shape[1]):
            columns[f"x{step}"], columns[f"y{step}"] = places[:, step, 0], places[:, step, 1]
        return columns


def written_dates(places: np.ndarray, *, apart: float, named: np.ndarray) -> np.ndarray:
    """The dates to write along a path: its ends first, then others.

    None is close to one before it, or to a home whose name is written on the map.
    """
    last = len(places) - 1
    kept: list[int] = []
    for row in [0, last, *np.linspace(0, last, _DATES_WRITTEN).round().astype(int)]:
        taken = np.vstack([named, places[kept]])
        if (np.linalg.norm(taken - places[row], axis=1) > apart).all():
            kept.append(int(row))
    return np.array(kept, np.int64)


def date_names(paths: Paths) -> list[str]:
    """What the dates of paths are called: months, or the Mondays of weeks."""
    form = "%b %Y" if paths.step == "month" else "%-d %b %Y"
    return [date.astype("datetime64[D]").item().strftime(form) for date in paths.dates]
