"""The Data tab: the health report, coverage, the reference distribution and sample sizes.

The tab is empty until it is first shown. Then it has at once what the dataset directory tells by
itself; what takes a pass over the readings is computed in a worker and comes in when it is there.
"""

import uuid
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.application.application import SessionContext

from core.errors import WattfoldError
from core.overview import Overview
from core.readings import Dataset
from dashboard import data_sections, fits, overviews
from dashboard.components import PlainText
from dashboard.job_line import JobLine
from dashboard.jobs import Job

_POLL_MILLISECONDS = 200
_COMPUTED = "Coverage, distribution of demand and sample sizes"


class DataTab:
    """What a dataset holds and what is wrong with it.

    Put ``view`` on the page, and call :meth:`show` whenever it comes into sight, from a callback
    of the session: the first call fills it and starts the computation, later ones do nothing.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._session = uuid.uuid4().hex
        self._stored: Future[Overview | None] | None = None
        self._job: Job | None = None
        self._poller: Any = None
        self._to_draw: list[Callable[[], None]] = []
        self._computed = pn.Column(sizing_mode="stretch_width", margin=0)
        self._line = JobLine(side=0)
        self.view = pn.Column(sizing_mode="stretch_width", margin=(4, 8))

    # Computing

    def show(self) -> None:
        """Fill the tab and start what is to be computed, unless that was done before."""
        if self.view.objects:
            return
        self.view.objects = [
            data_sections.facts(self.dataset),
            data_sections.health(self.dataset),
            self._computed,
        ]
        pn.state.on_session_destroyed(self._give_up)
        self._start()

    def _start(self, *_: param.parameterized.Event) -> None:
        self._line.say("Looking for what was counted before …")
        self._computed.objects = [
            data_sections.section(
                _COMPUTED,
                "They take a pass over all readings, once.",
                self._line.panel,
            )
        ]
        try:
            self._stored = overviews.fetch(self.dataset)
        except WattfoldError as error:
            self._fail(str(error))
            return
        self._poller = pn.state.add_periodic_callback(self._poll, period=_POLL_MILLISECONDS)

    def _poll(self) -> None:
        """Go one step on: look how the work is, or draw one of the pictures."""
        if self._to_draw:
            draw = self._to_draw.pop(0)
            if not self._to_draw:
                self._poller.stop()
            draw()
        elif self._stored is not None:
            if self._stored.done():
                found, self._stored = self._stored, None
                overview = None if found.exception() else found.result()
                if overview is None:
                    self._job = overviews.submit(self._session, self.dataset)
                else:
                    self._plan(overview)
        elif self._job is not None:
            self._look_at(self._job)

    def _look_at(self, job: Job) -> None:
        if self._line.follow(job):
            return
        if job.state == "done":
            self._plan(job.result)
        else:
            self._poller.stop()
            self._fail(job.error or "the computation was cancelled")

    def _fail(self, error: str) -> None:
        again = pmui.Button(label="Try again", variant="outlined", size="small", margin=(6, 0))
        again.on_click(self._start)
        self._computed.objects = [
            data_sections.section(
                _COMPUTED,
                "They could not be computed:",
                PlainText(error, look="error", sizing_mode="stretch_width", margin=(4, 0)),
                again,
            )
        ]

    def _give_up(self, session: SessionContext) -> None:
        if self._job is not None:
            fits.pool().cancel(self._session, self._job)

    def _plan(self, overview: Overview) -> None:
        """Put one section after the other on the tab, so that the page answers in between."""
        self._job = None
        places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in range(4)]
        top, left, right, bottom = places
        pair = pn.Row(left, right, sizing_mode="stretch_width", margin=0)
        self._computed.objects = [top, pair, bottom]
        makers = (
            data_sections.coverage,
            data_sections.demand,
            data_sections.slot_sizes,
            data_sections.left_out,
        )

        def draw(place: pn.Column, make: Callable[..., pn.viewable.Viewable]) -> None:
            place.append(make(self.dataset, overview))

        self._to_draw = [
            partial(draw, place, make) for place, make in zip(places, makers, strict=True)
        ]
