"""The job that a part of the page waits for: a bar and a sentence."""

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui
from panel import Column

from core.errors import WattfoldError
from dashboard.jobs import FollowedJob
from dashboard.widgets._text import PlainText


class JobStatus:
    """A progress bar, hidden unless a job runs, and a sentence below it.

    Parameters
    ----------
    side : int
        Margin left and right, in pixels.
    cancel : Button, optional
        Seen while a job is followed.
    """

    def __init__(self, *, side: int, cancel: pmui.Button | None = None) -> None:
        self.job: FollowedJob | None = None  # the one that is waited for
        self._cancel = cancel
        stretched: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.bar = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, margin=(4, side, 0, side), **stretched
        )
        self.sentence = PlainText(look="quiet", margin=(2, side), **stretched)
        self.panel = Column(self.bar, self.sentence, margin=0, align="center", **stretched)

    def say(self, text: str) -> None:
        """Show a sentence and no bar; an empty one takes no room."""
        self.bar.visible = False
        self.sentence.say(text)

    def follow(self, job: FollowedJob) -> None:
        """Show how a job is until it ends."""
        if self._cancel is not None:
            self._cancel.visible = True
        self.say("Starting")
        job.on_change(self._show)

    def wait_for(
        self,
        job: FollowedJob,
        *,
        done: Callable[[FollowedJob], object],
        failed: Callable[[str], None],
    ) -> None:
        """Wait for a job; when it ends, call a function with it, or with the error."""

        def end(job: FollowedJob) -> None:
            self._forget()
            if job.state == "done":
                done(job)
            elif job.state == "failed":
                failed(job.error)

        self.job = job
        job.on_end(end)

    def fetch(
        self,
        find: Callable[[], FollowedJob],
        submit: Callable[[], FollowedJob],
        *,
        show: Callable[[Any], None],
        failed: Callable[[str], None],
    ) -> None:
        """Show a result that is stored; have one that is not computed, and show it then.

        Parameters
        ----------
        find, submit : callables
            Look for the result in the store, None where it is not there; compute it into the store.
        show : callable
            Called with the result, with None where the store did not keep it.
        failed : callable
            Called with the error.
        """

        def read(_: FollowedJob) -> None:
            self.wait_for(find(), done=lambda found: show(found.result), failed=failed)

        def show_or_compute(found: FollowedJob) -> None:
            if found.result is not None:
                show(found.result)
                return
            try:
                job = submit()
            except WattfoldError as error:
                failed(str(error))
                return
            self.follow(job)
            self.wait_for(job, done=read, failed=failed)

        self.wait_for(find(), done=show_or_compute, failed=failed)

    def stop(self) -> None:
        """Cancel the job that is waited for, if there is one; the sentence stays."""
        if self.job is not None:
            self.job.cancel()
        self._forget()
        self.bar.visible = False

    def _forget(self) -> None:
        self.job = None
        if self._cancel is not None:
            self._cancel.visible = False

    def _show(self, job: FollowedJob) -> None:
        if job.state == "queued":
            self.say(f"Number {job.position} in the queue")
        elif job.state == "running":
            left = f" · {duration(job.seconds_left)} left" if job.seconds_left else ""
            self.bar.param.update(visible=True, value=round(100 * job.fraction))
            self.sentence.text = f"{job.message or 'Starting'}{left}"
        else:
            self.say("")


def duration(seconds: float) -> str:
    """Write a duration, rounded."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 100 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
