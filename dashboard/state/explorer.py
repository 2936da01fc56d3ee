"""The state of the Explore tab: settings, the run on the map, selected points; no widgets."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import param

from core.anomalies import Anomalies
from core.errors import InputError
from core.readings import Dataset
from core.runs import Run, RunConfig
from core.runs.anomaly_stage import UNITS
from core.runs.forecast import count_points
from core.scene import MapScene, map_scene
from core.scene.coloring import HDR
from core.scene.map_scene import contour_lines
from dashboard.state.flagged_homes import FlaggedHomes
from dashboard.state.point_facts import PointFacts, rows_of
from dashboard.state.saved_groups import whole_letters
from dashboard.state.session_file import MAXIMUM_NOTE, MAXIMUM_NOTES
from dashboard.state.unusual_homes import BY_EVIDENCE, BY_SIZE, UNUSUAL_MARKS, UnusualHomes
from dashboard.state.view_state import (
    LAYERS,
    MAXIMUM_PINS,
    ViewState,
    rows_to_runs,
    runs_to_rows,
)

# The two lists of points worth a look, and what the legend calls the marks of the first.
UNUSUAL, ISOLATED = "unusual", "isolated"


class Explorer(PointFacts):
    """The settings that make a run, the run on the map, and the points that are selected."""

    layers: Any = param.ListSelector(
        default=["points", "labels", "edges"],
        objects=list(LAYERS),
        doc="What is drawn",
    )

    unusual: Any = param.ClassSelector(
        class_=UnusualHomes, default=None, doc="What is unusual on the map; None until it is known"
    )
    listed: Any = param.Selector(
        default=UNUSUAL,
        objects={"Unusual homes": UNUSUAL, "Isolated on this map": ISOLATED},
        doc="Which points are listed and marked on the map",
    )
    list_order: Any = param.Selector(
        default=BY_EVIDENCE,
        objects={"by evidence": BY_EVIDENCE, "by size": BY_SIZE},
        label="Order",
        doc="What comes first in the list of unusual homes",
    )
    selected: Any = param.Integer(
        default=None, allow_None=True, doc="The row of the selected point"
    )
    chosen: Any = param.Array(default=np.empty(0, np.int64), doc="Rows chosen by lasso or box")
    pins: Any = param.List(default=[], doc="Rows of the pinned points, at most four")
    ranges: Any = param.Tuple(
        default=None, length=4, allow_None=True, doc="The visible part of the map"
    )
    plane: Any = param.Array(
        default=None,
        allow_None=True,
        doc="The two directions that are seen of a map with more, (d, 2); None for the main ones",
    )
    dark: Any = param.Boolean(default=False, doc="Whether the page is dark")
    is_stale: Any = param.Boolean(
        default=False, doc="Whether the settings are no longer those of the map"
    )
    restore_problem: Any = param.String(default="", doc="What of a restored view is not shown")
    notes: Any = param.Dict(default={}, doc="What the analyst wrote on points, by their full name")

    def __init__(self, dataset: Dataset, **values: Any) -> None:
        super().__init__(dataset, **values)
        self.flagged = FlaggedHomes(dataset)
        self._base: MapScene | None = None
        self._wanted: ViewState | None = None
        self._wanted_notes: dict[str, str] = {}
        self._before: RunConfig | None = None  # of the map that a view is to replace
        self._came_from: ViewState | None = None
        self._lists_isolated_for_want = False  # of what is unusual, for the map that is shown

    def open_week(self, household: str) -> None:
        """Map the half-hours of one household, remembering the current map."""
        self._came_from = self.view_state()
        self.param.update(unit="slots", household=household)

    @property
    def can_go_back(self) -> bool:
        """Whether there is a map to return to."""
        return self._came_from is not None

    def go_back(self) -> None:
        """Return from one household's half-hours to the map they were opened from."""
        if self._came_from is not None:
            view, self._came_from = self._came_from, None
            self.restore(view)

    # Views

    def view_state(self) -> ViewState | None:
        """What is shown; None while the settings are not those of the run on the map."""
        try:
            is_current = self.run is not None and self.run.config == self.config()
        except InputError:
            is_current = False
        return self.view_of_run() if is_current else None

    def view_of_run(self) -> ViewState:
        """What is shown of the run on the map, whatever the settings are."""
        return ViewState(
            config=self.run.config,
            color_by=self.color_by,
            safe_colors=self.safe_colors,
            hidden=tuple(self.hidden),
            layers=tuple(layer for layer in LAYERS if layer in self.layers),
            selected=self.selected,
            pins=tuple(self.pins),
            chosen=rows_to_runs(self.chosen),
            ranges=self.ranges,
            names=tuple(
                self.label(row)
                for row in ([] if self.selected is None else [self.selected]) + self.pins
            ),
        )

    @property
    def is_restoring(self) -> bool:
        """Whether a view waits for its run."""
        return self._wanted is not None

    def check(self, view: ViewState) -> None:
        """Raise if a view needs households or points that the dataset cannot have."""
        config = view.config
        known = set(self.dataset.households["household"])
        wanted = [config.household] if config.household else config.households or []
        missing = [name for name in wanted if name not in known]
        if missing:
            more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            raise InputError(
                f"not in this dataset: {', '.join(missing[:3])}{more}; open the data that the view "
                "was made from"
            )
        if _last_row(view) >= (n := count_points(self.dataset, config)[0]):
            raise InputError(f"the view has point {_last_row(view):,} of a map with {n:,} at most")

    def restore(self, view: ViewState, *, notes: Mapping[str, str] | None = None) -> None:
        """Take the settings of a view, and the rest of it as soon as its run is there.

        All or nothing: what cannot be shown is refused here, or, if only its run tells, when that
        is there; everything is then as it was before.
        """
        self.check(view)
        if self.run is not None and self.run.config == view.config:
            found = self._points_of(view, self.run)
            self._wanted = None
            self.take(view.config)
            self._take_rest(view, notes or {})
            self.param.update(**found)
        else:
            self._before = None if self.run is None else self.run.config
            self._wanted, self._wanted_notes = view, dict(notes or {})
            self.take(view.config)

    def _take_rest(self, view: ViewState, notes: Mapping[str, str]) -> None:
        """Take what is neither a setting of the run nor one of its points."""
        self.notes = {**self.notes, **notes}
        self.param.update(safe_colors=view.safe_colors, layers=list(view.layers))

    def _points_of(self, view: ViewState, run: Run) -> dict[str, Any]:
        """What of a view depends on its run; raises if the run does not have its points."""
        if _last_row(view) >= run.n:
            raise InputError(f"the view has point {_last_row(view):,} of a map with {run.n:,}")
        names = run.units["label"].astype("str")
        points = list(view.points)
        for place, (row, name) in enumerate(zip(points, view.names, strict=False)):
            if names.iat[row] != name:
                # Of another version, which left other points out: found by its name.
                found = rows_of(run, [name])
                if not found:
                    raise InputError(f"{name} is not on this map")
                points[place] = found[0]
        is_offered = view.color_by in self.color_choices(run)
        if not is_offered:
            self.restore_problem = f"The map cannot be coloured by {view.color_by}."
        has_selected = view.selected is not None
        return {
            "color_by": view.color_by if is_offered else HDR,
            "hidden": list(view.hidden),
            "selected": points[0] if has_selected else self._first_row(run),
            "pins": points[has_selected:],
            "chosen": runs_to_rows(view.chosen, run.n),
            "ranges": view.ranges,
        }

    # The run and its points

    def show(self, run: Run) -> None:
        """Put a run on the map, keeping the selected points that it has."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted.config == run.config:
            try:
                points = self._points_of(wanted, run)
            except InputError as error:
                self.take(self._before or type(run.config)())
                self.restore_problem = f"The view was not restored: {error}."
                return
            self._take_rest(wanted, self._wanted_notes)
        else:
            points = self._points_before(run)
        # Together, so that nothing sees the new run with an old row or colour: other choices of
        # colours make the page's select choose one. The same row number may stand for another
        # point, so watchers are told even then.
        same = points["selected"] == self.selected
        with param.parameterized.batch_call_watchers(self):
            self.forget_colors()
            self._base = map_scene(run, interval_minutes=self.dataset.interval_minutes)
            self.param.color_by.objects = self.color_choices(run)
            listed = UNUSUAL if self._lists_isolated_for_want else self.listed
            self._lists_isolated_for_want = False
            self.param.update(run=run, unusual=None, plane=None, listed=listed, **points)
        if same:
            self.param.trigger("selected")

    def _points_before(self, run: Run) -> dict[str, Any]:
        """The points that are selected now, as far as another run has them."""
        selected = [] if self.run is None or self.selected is None else [self.label(self.selected)]
        pinned = [] if self.run is None else [self.label(row) for row in self.pins]
        return {
            "color_by": self.color_by if self.color_by in self.color_choices(run) else HDR,
            "hidden": [],
            "selected": [*rows_of(run, selected), self._first_row(run)][0],
            "pins": rows_of(run, pinned),
            "chosen": np.empty(0, np.int64),
            "ranges": None,
        }

    # What is worth a look

    @property
    def judges_households(self) -> bool:
        """Whether a point of the map is a household, of which it can be told what is unusual."""
        return self.run is not None and self.run.config.unit in UNITS

    @property
    def lists_unusual(self) -> bool:
        """Whether unusual homes are listed, not what is isolated on the map."""
        return self.judges_households and bool(self.listed == UNUSUAL)

    def show_unusual(self, anomalies: Anomalies | None) -> None:
        """List what is unusual; None if that could not be found out.

        The first one is selected, unless the analyst has already selected a point.
        """
        unusual = None if anomalies is None else UnusualHomes.of(self.run, anomalies)
        listed = ISOLATED if unusual is None else self.listed
        self._lists_isolated_for_want = listed != self.listed
        with param.parameterized.batch_call_watchers(self):
            self.param.update(unusual=unusual, listed=listed)
            if self.selected is None:
                self.selected = int([*self.listed_rows(), *self.run.hdr.anomalies, 0][0])

    def listed_rows(self) -> np.ndarray:
        """The rows that are listed, the first one first; none as long as they are not known."""
        if not self.lists_unusual:
            return np.asarray(self.run.hdr.anomalies)
        if self.unusual is None:
            return np.empty(0, np.int64)
        return self.unusual.ordered(self.list_order)

    def _first_row(self, run: Run) -> int | None:
        """The point to look at first; None where that is not known before homes are judged."""
        return None if run.config.unit in UNITS else int([*run.hdr.anomalies, 0][0])

    @property
    def places(self) -> np.ndarray:
        """Where the points are on the map, (n, 2)."""
        assert self._base is not None  # noqa: S101 (there is a run, so there are places)
        if self.plane is None:
            return self._base.points
        return np.asfortranarray((self.run.y - self.run.y.mean(axis=0)) @ self.plane)

    def map_scene(self) -> MapScene:
        """What the map shows."""
        assert self._base is not None  # noqa: S101 (there is a run, so there is a map)
        coloring, shown, chosen = self.coloring(), None, None
        if "points" not in self.layers:
            shown = np.zeros(self.run.n, bool)
        elif self.hidden:
            shown = coloring.shown(self.hidden)
        if len(self.chosen):
            chosen = np.zeros(self.run.n, bool)
            chosen[self.chosen] = True
        # They are borders on the main plane.
        contours = "contours" in self.layers and self.plane is None
        return self._base.with_(
            points=self.places,
            coloring=coloring,
            shown=shown,
            chosen=chosen,
            labelled="labels" in self.layers,
            marked=self.listed_rows()[: self.run.config.n_anomalies],
            mark_name=UNUSUAL_MARKS if self.lists_unusual else self._base.mark_name,
            contours=contour_lines(self.run.hdr, safe=self.safe_colors) if contours else (),
        )

    # Selection

    def look_at(self, row: int) -> None:
        """Select a point as by a click, which asks for its story even if it was selected before."""
        if row == self.selected:
            self.param.trigger("selected")
        else:
            self.selected = row

    def select_label(self, label: str) -> bool:
        """Select the point of that name; return whether there is one."""
        rows = rows_of(self.run, [label])
        if rows:
            self.selected = rows[0]
        return bool(rows)

    def step(self, by: int) -> None:
        """Go to the next or the previous point of the list."""
        if self.run is None:
            return
        order = self.listed_rows()
        place = np.flatnonzero(order == self.selected)
        if not len(order):
            return
        self.selected = int(order[(place[0] + by) % len(order)] if len(place) else order[0])

    def clear(self) -> None:
        """Clear the lasso and show all categories."""
        self.param.update(chosen=np.empty(0, np.int64), hidden=[])

    def pin(self, row: int) -> None:
        """Pin a point to compare it with others; a fifth replaces the oldest."""
        if row not in self.pins:
            self.pins = [*self.pins, row][-MAXIMUM_PINS:]

    def unpin(self, row: int) -> None:
        """Unpin a point."""
        self.pins = [pinned for pinned in self.pins if pinned != row]

    # Notes

    def note_on(self, row: int) -> str:
        """What the analyst wrote on a point."""
        return str(self.notes.get(self.full_name(row), ""))

    def write_note(self, row: int, text: str) -> None:
        """Keep a note on a point; an empty one is none."""
        name, text = self.full_name(row), whole_letters(text.strip()[:MAXIMUM_NOTE])
        others = {other: note for other, note in self.notes.items() if other != name}
        if text and len(others) >= MAXIMUM_NOTES:
            raise InputError(f"there are {MAXIMUM_NOTES:,} notes, and no room for more")
        self.notes = {**others, name: text} if text else others


def _last_row(view: ViewState) -> int:
    """The last row that a view names, -1 if it names none."""
    chosen = zip(view.chosen[::2], view.chosen[1::2], strict=True)
    return max([-1, *view.points, *(start + length - 1 for start, length in chosen)])
