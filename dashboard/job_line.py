"""How a job is: a bar and a sentence."""

from typing import Any

import panel_material_ui as pmui
from panel import Column

from dashboard.components import PlainText
from dashboard.jobs import Job


class JobLine:
    """A progress bar, hidden unless something is under way, and a sentence below it.

    Parameters
    ----------
    side : int
        Room left and right, in pixels.
    """

    def __init__(self, *, side: int) -> None:
        stretched: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, margin=(8, side, 2, side), **stretched
        )
        self.status = PlainText(look="quiet", margin=(2, side), **stretched)
        self.panel = Column(self.progress, self.status, margin=0, **stretched)

    def say(self, text: str) -> None:
        """Say something of no job, or of one that is over."""
        self.progress.visible = False
        self.status.text = text

    def follow(self, job: Job) -> bool:
        """Say how a job is; True as long as it is under way."""
        if job.state == "queued":
            self.say(f"Number {job.position} in the queue")
        elif job.state == "running":
            left = f" · {duration(job.seconds_left)} left" if job.seconds_left else ""
            self.progress.param.update(visible=True, value=round(100 * job.fraction))
            self.status.text = f"{job.message or 'Starting'}{left}"
        else:
            self.say("")
            return False
        return True


def duration(seconds: float) -> str:
    """Say how long something takes, roughly."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 100 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
