"""The state of a job: a bar and a sentence."""

from typing import Any

import panel_material_ui as pmui
from panel import Column

from dashboard.jobs import FollowedJob
from dashboard.widgets._text import PlainText


class JobStatus:
    """A progress bar, hidden unless a job runs, and a sentence below it.

    Parameters
    ----------
    side : int
        Margin left and right, in pixels.
    """

    def __init__(self, *, side: int) -> None:
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
        self.say("Starting")
        job.on_change(self._show)

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
