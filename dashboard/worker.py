"""What a worker of the pool does in its own process: get warm, do jobs, tell how far they are."""

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

Task = Callable[[Any, Progress], Any]

_REPORT_SECONDS = 0.1

# Who looks at a page comes before who waits for a map.
_NICENESS = 5


def work(pipe: Connection) -> None:
    """Do what comes through the pipe until the pool is gone, giving way to the server."""
    os.nice(_NICENESS)
    # Its own lock is a semaphore of the system, which a worker that is killed would leave behind.
    tqdm.set_lock(threading.RLock())
    threading.Thread(target=_end_with_the_pool, daemon=True).start()
    with suppress(EOFError, ConnectionError):
        while True:
            kind, task, argument = pipe.recv()
            if kind == "warm":
                pipe.send(("warm" if _get_warm(task, pipe) else "cold",))
            else:
                _do(task, argument, pipe)


def _end_with_the_pool() -> None:
    """Do not work for nobody when the server was killed, whatever the task is at."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def _get_warm(steps: tuple[Callable[[], None], ...], pipe: Connection) -> bool:
    """Take all steps, or those before a job arrives; return whether it was all."""
    for step in steps:
        if pipe.poll():
            return False
        try:
            step()
        except Exception:  # the job that needs what is broken will fail and tell
            logging.getLogger(__name__).exception("a worker cannot get warm")
    return True


def _do(task: Task, argument: Any, pipe: Connection) -> None:
    forget_peak_memory()  # of the job before
    pipe.send(("started",))
    try:
        pipe.send(("done", task(argument, _Reporter(pipe))))
    except WattfoldError as error:
        pipe.send(("failed", str(error)))
    except Exception as error:  # whatever it is, the page must say so and go on
        pipe.send(("failed", f"internal error, please report it: {type(error).__name__}: {error}"))


class _Reporter:
    """Sends progress to the pool, not more often than anybody can see."""

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
