"""The Data tab: the health report, coverage, the reference distribution and sample sizes.

The tab is empty until it is first opened. It shows at once what the dataset directory
holds; what takes a pass over the readings is computed by a worker and comes in later.
"""

from collections.abc import Callable
from functools import partial

import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.runs.overview import Overview
from dashboard.data import _data_sections
from dashboard.jobs import FollowedJob, overview_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.widgets import JobStatus, PlainText, column, section, split_row

_COMPUTED = "Coverage, distribution of demand and sample sizes"


class DataTab:
    """What a dataset holds and what is wrong with it.

    Put ``view`` on the page and call :meth:`show` whenever the tab is opened: the first call fills
    it, later ones do nothing.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.dataset = workspace.dataset
        self._computed = column()
        self._status = JobStatus(side=0)
        self.view = pn.Column(sizing_mode="stretch_width", margin=(4, 8))

    def show(self) -> None:
        """Fill the tab and start the computation, unless that was done before."""
        if not self.view.objects:
            self.view.objects = [
                _data_sections.facts(self.dataset),
                _data_sections.health(self.dataset),
                self._computed,
            ]
            self._start()

    def _start(self, *_: param.parameterized.Event) -> None:
        self._status.say("Looking for stored results …")
        self._computed.objects = [
            section(
                _COMPUTED,
                "These take one pass over all readings.",
                self._status.panel,
            )
        ]
        overview_jobs.find(self.workspace).on_end(self._draw_or_compute)

    def _draw_or_compute(self, found: FollowedJob) -> None:
        if found.result is not None:
            self._draw(found.result)
            return
        try:
            job = overview_jobs.submit(self.workspace)
        except WattfoldError as error:
            self._show_error(str(error))
            return
        self._status.follow(job)
        job.on_end(self._draw_computed)

    def _draw_computed(self, job: FollowedJob) -> None:
        if job.state == "done":
            self._draw(job.result)
        else:
            self._show_error(job.error or "the computation was cancelled")

    def _show_error(self, error: str) -> None:
        again = pmui.Button(label="Try again", variant="outlined", size="small", margin=(6, 0))
        on_click(again, self._start)
        self._computed.objects = [
            section(
                _COMPUTED,
                "They could not be computed:",
                PlainText(error, look="error", sizing_mode="stretch_width", margin=(4, 0)),
                again,
            )
        ]

    def _draw(self, overview: Overview) -> None:
        """Draw one section after the other, so that the page answers in between."""
        places = [column() for _ in range(4)]
        top, left, right, bottom = places
        pair = split_row(left, right)
        self._computed.objects = [top, pair, bottom]
        makers = (
            _data_sections.coverage,
            _data_sections.demand,
            _data_sections.slot_sizes,
            _data_sections.left_out,
        )

        def draw(place: pn.Column, make: Callable[..., pn.viewable.Viewable]) -> None:
            place.append(make(self.dataset, overview))

        for place, make in zip(places, makers, strict=True):
            self.workspace.pool.schedule(partial(draw, place, make))
