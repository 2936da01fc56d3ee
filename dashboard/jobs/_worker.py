"""The process of a worker: warms up, runs jobs and reports their progress."""

import logging
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from tqdm import tqdm

from core.errors import WattfoldError
from core.peak_memory import forget_peak_memory
from core.progress import Progress
from dashboard.failures import describe_error, describe_places

Task = Callable[[Any, Progress], Any]

# A page shows at most so many changes of a job a second.
_REPORT_SECONDS = 0.2

# The server's own process comes first.
_NICENESS = 5


def work(pipe: Connection) -> None:
    """Run what comes through the pipe until the pool is gone."""
    os.nice(_NICENESS)
    # The default lock is a system semaphore, which a killed worker would leave behind.
    tqdm.set_lock(threading.RLock())
    threading.Thread(target=_exit_with_server, daemon=True).start()
    with suppress(EOFError, ConnectionError):
        while True:
            kind, task, argument = pipe.recv()
            if kind == "warm":
                pipe.send(("warm" if _warm_up(task, pipe) else "cold",))
            else:
                _run(task, argument, pipe)


def _exit_with_server() -> None:
    """End this process when the server was killed, whatever the task is doing."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def _warm_up(steps: tuple[Callable[[], None], ...], pipe: Connection) -> bool:
    """Take all steps, or those before a job arrives; return whether all were taken."""
    for step in steps:
        if pipe.poll():
            return False
        try:
            step()
        except Exception:  # the job that needs it will fail and say why
            logging.getLogger(__name__).exception("a worker cannot warm up")
    return True


def _run(task: Task, argument: Any, pipe: Connection) -> None:
    forget_peak_memory()  # of the previous job
    pipe.send(("started",))
    try:
        pipe.send(("done", task(argument, _Reporter(pipe))))
    except WattfoldError as error:
        pipe.send(("failed", str(error)))
    except Exception as error:  # the server logs it, and the page goes on
        pipe.send(("broken", f"{describe_error(error)} at {describe_places(error)}"))


class _Reporter:
    """Sends progress to the pool, a few times a second."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._last = 0.0
        self._message = ""

    def __call__(self, fraction: float, message: str = "") -> None:
        now = time.monotonic()
        message = message or self._message
        if now - self._last >= _REPORT_SECONDS or message != self._message:
            self._pipe.send(("progress", fraction, message))
            self._last, self._message = now, message
