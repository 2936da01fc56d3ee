"""The pool as one session uses it: every job is followed on the session's page.

The pool's thread notices a change and schedules one update on the page, where the parameters of a
`FollowedJob` change. Nothing polls.
"""

import logging
import secrets
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, Literal
from weakref import WeakSet

import param

from core.errors import WattfoldError
from dashboard.failures import report_failure
from dashboard.jobs._job import Job, Limits, State
from dashboard.jobs._worker import Task
from dashboard.jobs.pool import WorkerPool

_log = logging.getLogger(__name__)

# Calls a function on the page of a session, soon; may itself be called from any thread.
Schedule = Callable[[Callable[[], None]], None]

_STATES = ("queued", "running", "done", "failed", "cancelled")
_ENDED = _STATES[2:]


def coalesced(schedule: Schedule, callback: Callable[[], None]) -> Callable[..., None]:
    """Return a function that schedules a callback, unless it is already scheduled.

    The function ignores its arguments, so that it can watch parameters.
    """
    is_scheduled = False

    def call() -> None:
        nonlocal is_scheduled
        is_scheduled = False  # first: a change from now on needs another call
        callback()

    def ask(*_: object) -> None:
        nonlocal is_scheduled
        if not is_scheduled:
            is_scheduled = True
            schedule(call)

    return ask


class FollowedJob(param.Parameterized):
    """A job whose parameters change on the page of the session that waits for it.

    The worker reports at most five times a second, and changes that arrive before the page gets to
    them are shown as one.
    """

    state: Any = param.Selector(default="queued", objects=list(_STATES))
    position: Any = param.Integer(default=0, doc="Place in the queue, 0 for a job that runs")
    fraction: Any = param.Number(default=0.0, doc="The share that is done")
    message: Any = param.String(default="", doc="What is being done")
    error: Any = param.String(default="", doc="Why it failed")
    result: Any = param.Parameter(default=None, doc="What a job that is done returned")

    def __init__(self, job: Job, schedule: Schedule, cancel: Callable[[], object]) -> None:
        super().__init__()
        self._job = job
        self._cancel = cancel
        self._is_followed = True
        self._on_change = coalesced(schedule, self._update)
        job.listeners.append(self._on_change)
        self._on_change()  # of what happened before

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return self._job.seconds

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the share that is done; None at the beginning."""
        return self._job.seconds_left

    def on_change(self, callback: Callable[["FollowedJob"], None]) -> None:
        """Call a function with this job at every change, on the page."""
        names = ["state", "position", "fraction", "message"]
        self.param.watch(lambda *_: callback(self), names)

    def on_end(self, callback: Callable[["FollowedJob"], None]) -> None:
        """Call a function with this job when it ends, unless it is cancelled here, on the page."""

        def call(*_: object) -> None:
            if self.state in _ENDED:
                callback(self)

        self.param.watch(call, "state")
        call()

    def wait(self, seconds: float) -> None:
        """Wait for the end, at most so long, and take it in."""
        self._job.finished.wait(seconds)
        self._update()

    def cancel(self) -> None:
        """Stop waiting for it; its parameters change no more."""
        if self._is_followed:
            self._unfollow()
            self._cancel()

    def _update(self) -> None:
        if not self._is_followed:
            return
        job, state = self._job, self._job.state  # the state before what it stands for
        if state in _ENDED:
            self._unfollow()
        self.param.update(
            state=state,
            position=job.position,
            fraction=job.fraction,
            message=job.message,
            error=job.error,
            result=job.result,
        )

    def _unfollow(self) -> None:
        self._is_followed = False
        self._job.listeners.remove(self._on_change)


class SessionPool:
    """What one session asks of the pool and of the server's threads.

    Parameters
    ----------
    pool : WorkerPool
        Of all sessions.
    schedule : callable
        Calls a function on the session's page.
    """

    def __init__(self, pool: WorkerPool, schedule: Schedule) -> None:
        self.schedule = schedule
        self._pool = pool
        self._id = secrets.token_hex(16)
        self._queues: set[str] = set()
        self._jobs: WeakSet[FollowedJob] = WeakSet()

    def submit(
        self,
        key: Hashable,
        task: Task,
        argument: Any,
        *,
        queue: str = "",
        limits: Limits | None = None,
        quick: bool = False,
    ) -> FollowedJob:
        """Have a task run by a worker.

        Parameters
        ----------
        key, task, argument, limits, quick
            See :meth:`WorkerPool.submit`.
        queue : str
            The pool serves the queues of all sessions in turn: one job of another queue does not
            wait for many of this one.
        """
        session = f"{self._id}/{queue}"
        self._queues.add(session)
        job = self._pool.submit(session, key, task, argument, limits=limits, quick=quick)
        return self._follow(job, partial(self._pool.cancel, session, job))

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        threads: Literal["read", "draw"] = "read",
    ) -> FollowedJob:
        """Call a function that takes a moment in a thread of the server.

        No pool: who reads what is stored should not wait for the jobs of others.
        """
        job = Job(object(), function, arguments, {self._id}, state="running")
        job.started = time.monotonic()
        future = _threads(threads).submit(_call, job)
        return self._follow(job, future.cancel)

    def _follow(self, job: Job, cancel: Callable[[], object]) -> FollowedJob:
        followed = FollowedJob(job, self.schedule, cancel)
        self._jobs.add(followed)
        return followed

    def cancel_all(self) -> None:
        """Stop waiting for anything, as when the page is closed."""
        for job in list(self._jobs):
            job.cancel()
        for session in self._queues:
            self._pool.cancel_session(session)


@cache
def _threads(purpose: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2 if purpose == "read" else 1, thread_name_prefix=purpose)


def _call(job: Job) -> None:
    state: State = "failed"
    try:
        job.result = job.task(*job.argument)
        state = "done"
    except WattfoldError as error:
        job.error = str(error)
    except Exception as error:
        job.error = report_failure(_log, "a call in a thread failed", error)
    job.ended = time.monotonic()
    job.state = state
    job.finished.set()
    for listener in tuple(job.listeners):
        listener()
