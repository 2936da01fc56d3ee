"""Work outside the server's event loop: spawned processes, a fair queue, progress and cancel.

A task is any importable function ``task(argument, progress)``. Its result returns through a pipe,
so tasks with large results put them into the store. A worker runs one job at a time. Cancelling a
job kills its process, which works whatever the process is doing; a spare worker takes its place.
"""

import itertools
import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

from core.errors import WattfoldError
from dashboard.failures import report_failure
from dashboard.jobs._job import Job, Limits, State
from dashboard.jobs._rate_limit import Rate, Throttle
from dashboard.jobs._worker import Task, work

_log = logging.getLogger(__name__)

# What is expected to take no longer does not wait for what does.
QUICK_SECONDS = 5.0

_POLL_SECONDS = 0.1
# A job that has run for so long may be cancelled, so the spare worker warms up. Most jobs are over
# by then and do not share the cores with imports.
_LONG_SECONDS = 2.0
_DISMISS_SECONDS = 1.0
_MAXIMUM_QUEUED = 500


@dataclass(eq=False)
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    state: Literal["cold", "warming", "warm"] = "cold"
    job: Job | None = None


class WorkerPool:
    """Runs jobs in spawned processes.

    There is one process more than jobs that run at once. It is the spare for a job that is
    cancelled, and quick jobs run on it while all others are busy. A job that was taken for quick
    and is not gives its process away: another one is started for the next quick job, up to twice
    as many processes.

    Parameters
    ----------
    size : int, optional
        How many jobs run at once; by default WATTFOLD_WORKERS, or one less than the cores.
    limits : Limits
        What each job may use.
    warm_up : tuple of callables
        Importable functions that every idle worker calls: imports and compilation that nobody
        should wait for. Workers warm up one at a time, so that another is free for a job. A worker
        that gets a job meanwhile finishes the current function, and calls all of them later.
    rate : Rate, optional
        How often each session may submit; unlimited by default.
    quick_seconds : float
        After that time a quick job counts as any other.
    """

    def __init__(
        self,
        size: int | None = None,
        *,
        limits: Limits | None = None,
        warm_up: tuple[Callable[[], None], ...] = (),
        rate: Rate | None = None,
        quick_seconds: float = QUICK_SECONDS,
    ) -> None:
        self.size = size or int(os.environ.get("WATTFOLD_WORKERS") or max(_cores() - 1, 1))
        self.limits = limits or Limits()
        self._quick_seconds = quick_seconds
        self._warm_up = warm_up
        self._throttle = Throttle(rate) if rate else None
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self._workers: list[_Worker] = []
        self._ended: list[_Worker] = []
        self._queued: list[Job] = []
        self._open: dict[Hashable, Job] = {}
        self._changed: set[Job] = set()
        self._served: dict[str, int] = {}
        self._turn = itertools.count(1)
        self._wake_out, self._wake_in = self._context.Pipe(duplex=False)
        self._closing = False
        self._thread = threading.Thread(target=self._supervise, name="jobs", daemon=True)
        self._thread.start()

    def submit(
        self,
        session: str,
        key: Hashable,
        task: Task,
        argument: Any,
        *,
        limits: Limits | None = None,
        quick: bool = False,
    ) -> Job:
        """Submit a task; while a job of the same key is open, that job is returned.

        ``limits`` are those of the pool by default.
        """
        with self._lock:
            if self._closing:
                raise WattfoldError("the server is stopping; try again when it is back")
            wait_seconds = self._throttle.seconds_to_wait(session) if self._throttle else 0.0
            if wait_seconds:
                raise WattfoldError(f"too many requests at once; try again in {wait_seconds:.0f} s")
            if len(self._queued) >= _MAXIMUM_QUEUED:
                raise WattfoldError("too many jobs are waiting; try again in a minute")
            job = self._open.get(key)
            if job is None:
                job = Job(key, task, argument, {session}, limits=limits, quick=quick)
                self._open[key] = job
                self._queued.append(job)
            else:
                job.sessions.add(session)
            self._number_queue()
        self._wake()
        return job

    def cancel(self, session: str, job: Job) -> None:
        """Stop waiting for a job; it ends when no other session waits for it."""
        with self._lock:
            job.sessions.discard(session)
            if job.sessions or job.state not in ("queued", "running"):
                return
            worker = next((worker for worker in self._workers if worker.job is job), None)
            if worker:
                self._end(worker)
            self._finish(job, "cancelled")
        self._wake()

    def cancel_session(self, session: str) -> None:
        """Cancel all jobs of a session, as when its page is closed."""
        with self._lock:
            jobs = [job for job in self._open.values() if session in job.sessions]
            self._served.pop(session, None)
            if self._throttle:
                self._throttle.forget(session)
        for job in jobs:
            self.cancel(session, job)

    def close(self, seconds: float = 5.0) -> None:
        """Cancel all jobs and end all workers."""
        with self._lock:
            self._closing = True
            for job in list(self._open.values()):
                self._finish(job, "cancelled")
        self._wake()
        self._thread.join(seconds)
        self._notify_listeners()

    @property
    def process_ids(self) -> list[int]:
        """The processes of the pool that are alive."""
        with self._lock:
            return [w.process.pid for w in self._workers if w.process.pid and w.process.is_alive()]

    # Everything below runs in the supervising thread, or under the lock.

    def _supervise(self) -> None:
        while True:
            with self._lock:
                if self._closing:
                    break
                self._reap()
                self._keep_enough_workers()
                self._start_jobs()
                self._warm_one()
                pipes = {worker.pipe: worker for worker in self._workers}
            for ready in wait([*pipes, self._wake_out], timeout=_POLL_SECONDS):
                if ready is self._wake_out:
                    self._wake_out.recv_bytes()
                else:
                    self._receive(pipes[ready])  # type: ignore[index]  # wait() loses the type
            self._enforce_limits()
            self._notify_listeners()
        with self._lock:
            self._dismiss_idle()
            for worker in list(self._workers):
                self._end(worker)
            self._reap(patience=5.0)

    def _notify_listeners(self) -> None:
        """Tell of changes, without the lock: a listener may use the pool."""
        with self._lock:
            changed, self._changed = self._changed, set()
        for job in changed:
            for listener in tuple(job.listeners):
                try:
                    listener()
                except Exception:  # of a session that is being closed; the others go on
                    _log.exception("a listener of a job failed")

    def _dismiss_idle(self) -> None:
        """Let idle workers end by themselves, which cleans up after them."""
        idle = [worker for worker in self._workers if worker.job is None]
        for worker in idle:
            worker.pipe.close()
        deadline = time.monotonic() + _DISMISS_SECONDS
        for worker in idle:
            worker.process.join(timeout=max(0.0, deadline - time.monotonic()))

    def _end(self, worker: _Worker) -> None:
        """Kill a worker; the supervising thread joins it."""
        worker.process.kill()
        self._workers.remove(worker)
        self._ended.append(worker)

    def _reap(self, patience: float = 0.0) -> None:
        """Join the workers that have ended, so that no process or handle is left."""
        for worker in list(self._ended):
            worker.process.join(timeout=patience)
            if not worker.process.is_alive():
                worker.process.close()
                worker.pipe.close()
                self._ended.remove(worker)

    def _keep_enough_workers(self) -> None:
        """Start workers until there is one more than long jobs may run or do; end the others."""
        needed = min(max(self.size, self._count_long_jobs()), 2 * self.size + 1) + 1
        for worker in [worker for worker in self._workers if worker.job is None]:
            if len(self._workers) > needed:
                self._end(worker)
        while len(self._workers) < needed:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(
                target=work, args=(theirs,), name="wattfold-worker", daemon=True
            )
            process.start()
            theirs.close()
            self._workers.append(_Worker(process, ours))

    def _start_jobs(self) -> None:
        while idle := [worker for worker in self._workers if worker.job is None]:
            job = self._next_job()
            if job is None:
                break
            worker = min(idle, key=lambda worker: ("warm", "cold", "warming").index(worker.state))
            try:
                worker.pipe.send(("job", job.task, job.argument))
            except OSError:  # it died while idle; another takes the job
                self._queued.insert(0, job)
                self._end(worker)
                self._keep_enough_workers()
                continue
            worker.job = job
            job.state, job.started, job.position = "running", time.monotonic(), 0
            self._changed.add(job)
        self._number_queue()

    def _warm_one(self) -> None:
        """Let one idle worker warm up, as long as no job is likely to need it."""
        idle = [worker for worker in self._workers if worker.job is None]
        cold = [worker for worker in idle if worker.state == "cold"]
        running = [worker.job.seconds for worker in self._workers if worker.job]
        spared = len(idle) > 1 or (len(running) == self.size and min(running) > _LONG_SECONDS)
        busy_warming = any(worker.state == "warming" for worker in self._workers)
        if self._warm_up and cold and spared and not busy_warming:
            with suppress(OSError):  # it died, which the end of its pipe tells
                cold[-1].pipe.send(("warm", self._warm_up, None))
                cold[-1].state = "warming"

    def _count_long_jobs(self) -> int:
        """How many jobs run that are not quick, or have turned out not to be."""
        jobs = [worker.job for worker in self._workers if worker.job]
        return sum(not job.quick or job.seconds > self._quick_seconds for job in jobs)

    def _next_job(self) -> Job | None:
        """Take the oldest job of the session that was served least recently, if it may run now."""
        is_free = self._count_long_jobs() < self.size
        ready = [job for job in self._queued if job.quick or is_free]
        if not ready:
            return None
        job = min(ready, key=lambda job: min(self._served.get(s, 0) for s in job.sessions))
        self._queued.remove(job)
        turn = next(self._turn)
        self._served.update(dict.fromkeys(job.sessions, turn))
        return job

    def _number_queue(self) -> None:
        for position, job in enumerate(self._queued, start=1):
            if job.position != position:
                job.position = position
                self._changed.add(job)

    def _receive(self, worker: _Worker) -> None:
        """Take one message of a worker, or notice its end."""
        try:
            kind, *content = worker.pipe.recv()
        except (EOFError, OSError):
            self._notice_death(worker)
            return
        with self._lock:
            job = worker.job
            if kind in ("warm", "cold"):
                worker.state = kind
            elif job is None:
                return
            elif kind == "started":
                job.started = time.monotonic()
            elif kind == "progress":
                job.fraction, job.message = content
                self._changed.add(job)
            else:
                worker.job = None
                if kind == "done":
                    job.result, job.fraction = content[0], 1.0
                elif kind == "failed":
                    job.error = content[0]
                else:
                    job.error = report_failure(
                        _log, "a job failed", task=_name(job.task), error=content[0]
                    )
                self._finish(job, "done" if kind == "done" else "failed")

    def _notice_death(self, worker: _Worker) -> None:
        """Report the job of a worker that ended by itself as failed."""
        worker.process.join(timeout=1)
        code = worker.process.exitcode
        with self._lock:
            if worker not in self._workers:
                return  # it was ended on purpose
            self._end(worker)
            if worker.job:
                how = f"was killed by signal {-code}" if code and code < 0 else f"ended with {code}"
                worker.job.error = (
                    f"the process that computed this {how}; it may have run out of memory: "
                    "try fewer points, or run it again"
                )
                self._finish(worker.job, "failed")

    def _enforce_limits(self) -> None:
        with self._lock:
            for worker in [worker for worker in self._workers if worker.job]:
                job = worker.job
                assert job is not None  # noqa: S101 (for the type checker)
                limits = job.limits or self.limits
                memory = _resident_mb(worker.process.pid)
                if job.seconds > limits.seconds:
                    job.error = f"stopped after {limits.seconds:.0f} s, the limit of a job"
                elif memory > limits.memory_mb:
                    job.error = (
                        f"stopped at {memory:.0f} MB of memory, the limit is "
                        f"{limits.memory_mb:.0f} MB: try fewer points"
                    )
                else:
                    continue
                self._end(worker)
                self._finish(job, "failed")

    def _finish(self, job: Job, state: State) -> None:
        self._open.pop(job.key, None)
        if job in self._queued:
            self._queued.remove(job)
            self._number_queue()
        job.ended, job.state = time.monotonic(), state
        job.finished.set()
        self._changed.add(job)
        facts = {"task": _name(job.task), "state": state, "seconds": round(job.seconds, 2)}
        _log.info("job", extra=facts)
        # The argument and the error may name households.
        _log.debug("job in detail", extra={"argument": job.argument, "problem": job.error})

    def _wake(self) -> None:
        self._wake_in.send_bytes(b"!")


def _name(task: Task) -> str:
    return getattr(task, "__name__", "task")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _resident_mb(pid: int | None) -> float:
    """The memory of a process; 0 where it is not known."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
