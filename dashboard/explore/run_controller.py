"""From settings to a run: when to start, what to say meanwhile, how to stop."""

from collections.abc import Callable
from typing import Any

import numpy as np
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from core.neighbors import BACKENDS
from core.neighbors.cost import kept_machine
from core.parallel import available_cores
from core.runs import Run, RunConfig
from core.runs.forecast import Forecast, forecast
from dashboard.explore._story_text import percent
from dashboard.jobs import FollowedJob, coalesced, run_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.state.point_facts import point_noun
from dashboard.widgets import JobStatus, PlainText, column, duration, row

# What takes longer waits for Run.
_AT_ONCE_SECONDS = 15.0
_TEXT: dict[str, Any] = {"margin": (2, 12), "sizing_mode": "stretch_width"}


class RunController:
    """Runs what the explorer's settings ask for; the last map stays until the next is there."""

    def __init__(self, workspace: Workspace, explorer: Explorer) -> None:
        self.workspace = workspace
        self.explorer = explorer
        self._config: RunConfig | None = None
        self._faster_backend = ""
        self.error = PlainText(look="error", visible=False, **_TEXT)
        self.notices = PlainText(look="quiet", visible=False, **_TEXT)
        self.notes = pmui.Button(
            label="", variant="text", size="small", visible=False, margin=(2, 8), align="center"
        )
        # Of a link or a file, until a setting changes.
        self.warning = PlainText(look="error", visible=False, **_TEXT)
        small: dict[str, Any] = {"size": "small", "visible": False, "align": "center"}
        self.run = pmui.Button(label="Run", margin=(2, 4), **small)
        self.faster = pmui.Button(label="", variant="outlined", margin=(2, 4), **small)
        self.cancel = pmui.Button(label="Cancel", variant="outlined", margin=(2, 8), **small)
        self.status = JobStatus(side=8, cancel=self.cancel)  # of the run: looked for or computed
        on_click(self.notes, lambda: setattr(self.notices, "visible", not self.notices.visible))
        on_click(self.run, self._compute)
        on_click(self.faster, self._compute_faster)
        on_click(self.cancel, self._cancel)
        # Settings that belong together change one after the other, in one turn of the event loop.
        self._follow_settings = coalesced(workspace.pool.schedule, self.follow_settings)
        explorer.param.watch(self._on_setting, Explorer.CHOICES)
        explorer.param.watch(lambda event: self.warning.say(event.new), "restore_problem")
        self.line = row(
            self.status.panel, self.run, self.faster, self.cancel, self.notes, min_width=250
        )
        self.messages = column(self.error, self.warning, self.notices)

    def _on_setting(self, *_: param.parameterized.Event) -> None:
        self.explorer.restore_problem = ""
        self.warning.visible = False
        self._follow_settings()

    def follow_settings(self, *, wait_seconds: float = 0.0) -> None:
        """Look for the run of the settings, unless that is under way or done.

        Waits so long for a run that is stored, where the caller cannot be told later.
        """
        try:
            config = self.explorer.config()
        except WattfoldError as error:
            self._stop()
            self.explorer.is_stale = True
            self.error.say(str(error))
            return
        if config == self._config and self.status.job is not None:
            return
        self._stop()
        self.error.say("")
        self._config = config
        run = self.explorer.run
        if run is not None and run.config == config:
            self._show_result(None)
            return
        self._wait_for(run_jobs.find(self.workspace, config), self._show_or_compute)
        if wait_seconds and self.status.job is not None:
            self.status.job.wait(wait_seconds)

    def _wait_for(self, job: FollowedJob, done: Callable[[FollowedJob], None]) -> None:
        def fail(error: str) -> None:
            self.explorer.is_stale = True
            self.error.say(error)

        self.status.wait_for(job, done=done, failed=fail)

    def _show_or_compute(self, found: FollowedJob) -> None:
        """Show a run that is stored; compute one that is not, or ask first if that takes long."""
        if found.result is not None:
            self._show(found.result, None)
            return
        config = self._config
        # When a browser shows the page: whoever only asks for its address starts no work.
        self.workspace.pool.schedule(lambda: self._compute_or_offer(config))

    def _compute_or_offer(self, config: RunConfig | None) -> None:
        if config is None or config != self._config or self.status.job is not None:
            return  # the settings have changed meanwhile
        machine = kept_machine()
        expected = machine and forecast(
            self.workspace.dataset,
            config,
            machine,
            threads=available_cores(),
            graph_stored=run_jobs.graph_stored(self.workspace, config),
        )
        # The map that the page opens with comes without asking: all visitors share it.
        is_first = self.explorer.run is None and config == RunConfig()
        if expected and expected.seconds > _AT_ONCE_SECONDS and not is_first:
            self._offer(expected)
        else:
            self._compute()

    def _offer(self, expected: Forecast) -> None:
        has_map = self.explorer.run is not None
        self.explorer.is_stale = has_map
        what = point_noun(self.explorer.unit, self.workspace.dataset.interval_minutes)
        self.status.say(
            f"{expected.n:,} {what}: about {duration(expected.seconds)}."
            + (" The map still shows the settings before." if has_map else "")
        )
        self.run.visible = True
        if expected.faster is not None:
            self._faster_backend, seconds = expected.faster
            title = BACKENDS[self._faster_backend].title
            self.faster.param.update(label=f"{title}: {duration(seconds)}", visible=True)

    def _compute_faster(self) -> None:
        self.explorer.neighbors = self._faster_backend
        self._config = self.explorer.config()
        self._compute()

    def _compute(self) -> None:
        if self._config is None:
            return
        self.run.visible = self.faster.visible = False
        try:
            job = run_jobs.submit(self.workspace, self._config)
        except WattfoldError as error:
            self.error.say(str(error))
            return
        self.explorer.is_stale = True
        self.status.follow(job)
        self._wait_for(job, self._read_computed)

    def _read_computed(self, computed: FollowedJob) -> None:
        if self._config is not None:
            self._wait_for(
                run_jobs.find(self.workspace, self._config),
                lambda found: self._show(found.result, computed.seconds),
            )

    def _show(self, run: Run | None, seconds: float | None) -> None:
        """Show a run, and how long it took if it was computed just now."""
        if run is None:
            self.error.say(run_jobs.NOT_KEPT)
            return
        self.explorer.show(run)
        if self.explorer.run is run:  # not so if it is of a view that does not fit
            self._show_result(seconds)

    def _show_result(self, seconds: float | None) -> None:
        run = self.explorer.run
        how = ", loaded from the cache" if seconds is None else f" in {seconds:.1f} s"
        self.explorer.is_stale = False
        what = point_noun(run.config.unit, self.workspace.dataset.interval_minutes, n=run.n)
        self.status.say(f"{run.n:,} {what}{how}")
        notices = [*run.notices, *dimension_notice(run, what)]
        self.notices.text = "\n".join(f"• {note[:1].upper()}{note[1:]}" for note in notices)
        count = len(notices)
        label = f"{count} {'note' if count == 1 else 'notes'} on this map"
        self.notes.param.update(label=label, visible=count > 0)
        self.notices.visible = self.notices.visible and count > 0

    def _cancel(self) -> None:
        self._stop()
        self.status.say("Cancelled; the map is as before.")

    def _stop(self) -> None:
        self.status.stop()
        self.run.visible = self.faster.visible = False


def dimension_notice(run: Run, what: str) -> list[str]:
    """Say how many dimensions the points have before they are drawn, where that is known."""
    found = run.dimension
    if found is None:
        return []
    drawn = run.y.shape[1]
    kept = percent(float(np.nanmean(run.trust.kept)))
    return [
        f"the {what} differ in about {found.value:.0f} dimensions (TWO-NN, 95 % sure: "
        f"{found.low:.0f} to {found.high:.0f}, noise included); this map has {drawn}, and "
        f"{kept} of the most similar {what} are side by side on it"
    ]
