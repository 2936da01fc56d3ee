"""Segments in the drawer: found by a worker, coarser or finer, each of them a group."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.segments import Segments
from dashboard.explore import MapView
from dashboard.jobs import coalesced, segment_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import in_next_turn, on_click
from dashboard.segments._segment_names import SegmentNames
from dashboard.state import Explorer
from dashboard.state.group_selection import SEGMENT
from dashboard.state.map_colors import SEGMENTS
from dashboard.widgets import JobStatus, PlainText, as_sentence, column, make_table, row

_ABOUT = (
    "Kinds of homes that two halves of the weeks agree on, named by what sets them apart. Their "
    "number is found, not asked for."
)
_ONLY_HOMES = "Segments are kinds of homes, and a point of this map is a half-hour."
_TITLES = {"name": "Segment", "homes": "Homes", "kwh": "kWh a day"}
_HEIGHT = 156
_FURTHEST = 4


class SegmentsTab:
    """The segments of the homes on the map.

    Parameters
    ----------
    choose : callable
        Chooses the homes of a segment, by its name, for the group panel.
    """

    def __init__(
        self,
        workspace: Workspace,
        explorer: Explorer,
        map_view: MapView,
        *,
        choose: Callable[[str, str], None],
    ) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self.names = SegmentNames(workspace.pool.schedule, explorer, map_view)
        self.found: Segments | None = None
        self._choose = choose
        self._about: tuple[Any, ...] = ()  # the homes and weeks that they are of
        self._is_filled = False
        self._table: pn.widgets.Tabulator | None = None
        self.panel = column()
        # When a browser shows the page: whoever only asks for its address starts no work.
        self._find_soon = coalesced(workspace.pool.schedule, self._find_missing)
        explorer.param.watch(self._forget, "run", precedence=3)
        explorer.param.watch(self._on_color, "color_by", precedence=6)

    def show(self) -> None:
        """Fill the tab when it is first seen."""
        if self._is_filled:
            return
        self._is_filled = True
        self.go = pmui.Button(label="Find segments", size="small", margin=(6, 8, 4, 12))
        self.detail = pmui.IntSlider(
            label="Coarser – finer",
            start=-_FURTHEST,
            end=_FURTHEST,
            value=0,
            size="small",
            width=160,
            margin=(0, 20),
            visible=False,
        )
        self.color = pmui.Button(
            label="Colour the map by them",
            variant="outlined",
            size="small",
            visible=False,
            margin=(6, 8),
        )
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", size="small", visible=False, margin=(6, 8)
        )
        self.status = JobStatus(side=12, cancel=self.cancel)
        self.sentence = PlainText(_ABOUT, look="quiet", margin=(2, 12), sizing_mode="stretch_width")
        self.place = column()
        on_click(self.go, self.find)
        self.detail.param.watch(in_next_turn(self.find), "value_throttled")
        on_click(self.color, lambda: setattr(self.explorer, "color_by", SEGMENTS))
        on_click(self.cancel, lambda: self._stop("Not looked for."))
        self.panel.objects = [
            row(self.go, self.detail, self.sentence, self.color, self.cancel),
            self.status.panel,
            self.place,
        ]

    # Finding

    def _on_color(self, *_: param.parameterized.Event) -> None:
        """Find segments for a map that is to be coloured by them."""
        if self.explorer.color_by == SEGMENTS:
            self._find_soon()
        if self._is_filled and self.found is not None:
            self.color.visible = self.explorer.color_by != SEGMENTS

    @property
    def _is_looking(self) -> bool:
        return self._is_filled and self.status.job is not None

    def _find_missing(self) -> None:
        if self.explorer.color_by == SEGMENTS and self.found is None and not self._is_looking:
            self.find()

    def _forget(self, *_: param.parameterized.Event) -> None:
        """Forget the segments of other homes or weeks."""
        config = self.explorer.run.config
        about = tuple(str(getattr(config, name)) for name in segment_jobs.FIELDS)
        if about == self._about:
            return
        self._about = about
        if self.found is None and not self._is_looking:
            return
        self._stop(_ABOUT)
        self.found = None
        self.place.visible = self.detail.visible = self.color.visible = False
        self.go.visible = True
        self.explorer.label_homes(SEGMENTS, {})
        self._on_color()

    def find(self) -> None:
        """Find segments as coarse or fine as the slider says."""
        self.show()
        self._stop("")
        if not self.explorer.judges_households:
            self.sentence.text = _ONLY_HOMES
            return
        config = self.explorer.run.config
        try:
            job = segment_jobs.submit_segments(self.workspace, config, self.detail.value)
        except WattfoldError as error:
            self.sentence.text = str(error)
            return

        def fail(error: str) -> None:
            self.sentence.text = as_sentence(error)

        self.status.follow(job)
        self.status.wait_for(job, done=lambda job: self._take(job.result), failed=fail)

    def _take(self, found: Segments) -> None:
        self.found = found
        self.go.visible = False
        self.detail.visible = self.place.visible = True
        self.sentence.text = told(found)
        self._fill_table(segment_rows(found))
        homes = found.table["household"]
        self.names.parts = dict(zip(homes, found.table["part"], strict=True))
        labels = dict(zip(homes, found.table["segment"], strict=True))
        order = [home for name in found.names for home, own in labels.items() if own == name]
        self.explorer.label_homes(SEGMENTS, {home: labels[home] for home in order})
        self.explorer.color_by = SEGMENTS

    def _fill_table(self, table: pd.DataFrame) -> None:
        if self._table is None:
            self._table = make_table(
                table,
                _TITLES,
                formats={"kwh": "0.0"},
                widths={"homes": 80, "kwh": 100},
                height=_HEIGHT,
                selectable=1,
                margin=(0, 10),
            )
            self._table.on_click(lambda event: self._go(event.row))
            self.place.objects = [self._table]
        else:
            self._table.value = table

    def _go(self, place: int) -> None:
        """Choose the homes of the segment in a row, which comes from the browser."""
        if self.found is not None and 0 <= place < len(self.found.names):
            self._choose(SEGMENT, self.found.names[place])

    def _stop(self, why: str) -> None:
        self.status.stop()
        self.status.say("")
        if why:
            self.sentence.text = why


def segment_rows(found: Segments) -> pd.DataFrame:
    """One row per segment, the largest first."""
    own = [found.table[found.table["segment"] == name] for name in found.names]
    return pd.DataFrame(
        {
            "name": list(found.names),
            "homes": [len(homes) for homes in own],
            "kwh": [float(homes["kwh_per_day"].median()) for homes in own],
        }
    )


def told(found: Segments) -> str:
    """Say how many there are, and how far to trust them."""
    between = int((found.table["number"] == 0).sum())
    count = len(found.names)
    agreement = found.agreement.get(count)
    agreed = (
        ""
        if agreement is None
        else f" Two halves of the weeks agree on {count} segments to {agreement:.2f} (1 is fully)."
    )
    asked = "" if count == found.found else f" The weeks agree best on {found.found}."
    notices = "".join(f" {each[:1].upper()}{each[1:]}." for each in found.notices)
    return f"{count} segments; {between:,} homes are between them.{agreed}{asked}{notices}"
