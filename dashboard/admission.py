"""No more sessions than the server can serve: who comes later is told so at once."""

import os
from collections.abc import Callable
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.routing import Matcher
from tornado.web import RequestHandler

from core.errors import InputError

# Each has a document of some ten megabytes.
DEFAULT_MAXIMUM_SESSIONS = 60

_RETRY_SECONDS = 20

BUSY = "As many people as this server can serve are on it."
BUSY_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="{_RETRY_SECONDS}">
<meta name="viewport" content="width=device-width">
<title>Wattfold is busy</title>
<style>
  body {{font: 17px/1.5 system-ui, sans-serif; max-width: 34em; margin: 18vh auto; padding: 0 1em;
        color-scheme: light dark; background: Canvas; color: CanvasText}}
</style>
<h1>Wattfold is busy</h1>
<p>{BUSY} This page asks again every {_RETRY_SECONDS} seconds, and opens when somebody leaves.</p>
</html>
"""


def maximum_sessions() -> int:
    """How many sessions there may be at once: WATTFOLD_MAX_SESSIONS, or the default."""
    text = os.environ.get("WATTFOLD_MAX_SESSIONS") or str(DEFAULT_MAXIMUM_SESSIONS)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"WATTFOLD_MAX_SESSIONS must be a whole number from 1, got {text!r}")
    return int(text)


class WhenFull(Matcher):
    """Matches whoever asks for the page while ``is_full()``; those who have it are not met."""

    def __init__(self, path: str, is_full: Callable[[], bool]) -> None:
        self._path = path.rstrip("/")
        self._is_full = is_full

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """Take the request away from the page, or leave it alone."""
        return {} if request.path.rstrip("/") == self._path and self._is_full() else None


class BusyHandler(RequestHandler):
    """Says that the server is full, at the cost of a few hundred bytes."""

    def get(self) -> None:
        """Answer with the page that asks again."""
        self.set_status(503)
        self.set_header("Retry-After", str(_RETRY_SECONDS))
        self.set_header("Cache-Control", "no-store")
        self.finish(BUSY_PAGE)
