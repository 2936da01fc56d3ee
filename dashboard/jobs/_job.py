"""A job: a piece of work for the pool, and its state."""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Literal

from dashboard.jobs._worker import Task

State = Literal["queued", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class Limits:
    """What one job may use; a job that goes beyond is ended and says so."""

    seconds: float = 3600.0
    memory_mb: float = 12_000.0


@dataclass(eq=False)
class Job:
    """One piece of work and its state; written by the pool, read from any thread.

    Attributes
    ----------
    sessions : set of str
        Who waits for it.
    state : str
        Set last when a job ends: its result or error is there before.
    position : int
        Place in the queue, 0 for a job that runs.
    quick : bool
        Whether it may use the worker that is kept free for short jobs.
    listeners : list of callables
        Called without arguments, in another thread, after every change.
    """

    key: Hashable
    task: Task
    argument: Any
    sessions: set[str]
    state: State = "queued"
    fraction: float = 0.0
    message: str = ""
    position: int = 0
    result: Any = None
    error: str = ""
    started: float = 0.0
    ended: float = 0.0
    limits: Limits | None = None
    quick: bool = False
    finished: threading.Event = field(default_factory=threading.Event)
    listeners: list[Callable[[], None]] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        if not self.started:
            return 0.0
        return (self.ended or time.monotonic()) - self.started

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the share that is done; None at the beginning."""
        if self.state != "running" or self.fraction < 0.02 or self.seconds < 0.5:
            return None
        return self.seconds * (1 - self.fraction) / self.fraction
