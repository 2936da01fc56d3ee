"""``/healthz`` and ``/readyz``: whether the server is alive, and whether it can do its work."""

import os
import shutil
from importlib.metadata import version
from typing import Any

from tornado.web import RequestHandler

from core.errors import WattfoldError
from core.runs import Store
from core.version import build
from dashboard.catalogue import Catalogue
from dashboard.jobs import run_jobs
from dashboard.server.loop_lag import loop_lag
from dashboard.session import count_sessions

# Less than that, and maps cannot be kept.
MINIMUM_FREE_BYTES = 200 * 10**6


class HealthHandler(RequestHandler):
    """Liveness: whoever gets an answer knows that the event loop turns."""

    def get(self) -> None:
        """Say which Wattfold answers, for how many, and how long it let them wait lately."""
        loop_lag.start()
        self.set_header("Cache-Control", "no-store")
        self.finish(
            {
                "status": "ok",
                "version": version("wattfold"),
                "build": build(),
                "sessions": count_sessions(),
                "longest_delay_seconds": round(loop_lag.longest_seconds, 3),
            }
        )


class ReadyHandler(RequestHandler):
    """Readiness: workers, disk and dataset; 503 while one of them is not in order."""

    def get(self) -> None:
        """Say what is in order and what is not."""
        problems = find_problems()
        self.set_status(503 if problems else 200)
        self.set_header("Cache-Control", "no-store")
        self.finish({"status": "not ready" if problems else "ready", "problems": problems})


# Under this name Panel looks for them in a plugin, too.
ROUTES = [(r"/healthz", HealthHandler), (r"/readyz", ReadyHandler)]


def find_problems() -> dict[str, str]:
    """What keeps the server from its work, by part; empty if nothing does."""
    checks: dict[str, Any] = {
        "workers": _check_workers,
        "disk": check_disk,
        "dataset": _check_dataset,
    }
    found = {name: check() for name, check in checks.items()}
    return {name: problem for name, problem in found.items() if problem}


def _check_workers() -> str:
    alive = len(run_jobs.pool().process_ids)
    return "" if alive else "no worker process is alive"


def check_disk() -> str:
    """What is wrong with the place where results are kept, or nothing."""
    path = Store.default().path
    while not path.exists():
        path = path.parent
    if not os.access(path, os.W_OK):
        return "the store of results cannot be written"
    free = shutil.disk_usage(path).free
    if free < MINIMUM_FREE_BYTES:
        return f"{free / 1e6:.0f} MB are free for results, {MINIMUM_FREE_BYTES / 1e6:.0f} needed"
    return ""


def _check_dataset() -> str:
    try:
        Catalogue.of_server().open()
    except WattfoldError:
        # The message has the path, which is nobody's business here; the page shows it.
        return "the dataset cannot be opened"
    return ""
