"""No more people than the server can serve: who comes later is told so at once."""

import os
from collections.abc import Callable
from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.routing import Matcher
from tornado.web import RequestHandler

from core.errors import InputError
from dashboard.waiting_line import WaitingLine

# Each has a document of some ten megabytes.
DEFAULT_MAXIMUM_SESSIONS = 60
# Who may wait for a page that is not made yet; the others wait in a line. A page takes two seconds,
# and longer while many people are at work: nobody is to look at an empty window for long.
MAXIMUM_WAITING = 3

_FULL_SECONDS = 20
_LINE_SECONDS = 5
_TICKET = "wattfold-ticket"

FULL = "As many people as this server can serve are on it."
CROWDED = "Many people are opening it at this moment"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="{seconds}">
<meta name="viewport" content="width=device-width">
<title>Wattfold is busy</title>
<style>
  body {{font: 17px/1.5 system-ui, sans-serif; max-width: 34em; margin: 18vh auto; padding: 0 1em;
        color-scheme: light dark; background: Canvas; color: CanvasText}}
</style>
<h1>Wattfold is busy</h1>
<p>{why} This page asks again every {seconds} seconds, and opens when {when}.</p>
</html>
"""


def maximum_sessions() -> int:
    """How many sessions there may be at once: WATTFOLD_MAX_SESSIONS, or the default."""
    text = os.environ.get("WATTFOLD_MAX_SESSIONS") or str(DEFAULT_MAXIMUM_SESSIONS)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"WATTFOLD_MAX_SESSIONS must be a whole number from 1, got {text!r}")
    return int(text)


class WhenBusy(Matcher):
    """Matches who asks for the page and cannot have it now; those who have it are not met."""

    def __init__(self, path: str, is_busy: Callable[[HTTPServerRequest], bool]) -> None:
        self._path = path.rstrip("/")
        self._is_busy = is_busy

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """Take the request away from the page, or leave it alone."""
        asks = request.path.rstrip("/") == self._path
        return {} if asks and self._is_busy(request) else None


class BusyHandler(RequestHandler):
    """Says that the server is full, at the cost of a few hundred bytes."""

    def get(self) -> None:
        """Answer with a page that asks again."""
        self.tell(FULL, "somebody leaves", seconds=_FULL_SECONDS)

    def tell(self, why: str, when: str, *, seconds: int) -> None:
        """Say why there is no page, when there will be one, and how often to ask."""
        self.set_status(503)
        self.set_header("Retry-After", str(seconds))
        self.set_header("Cache-Control", "no-store")
        self.finish(_PAGE.format(why=why, when=when, seconds=seconds))


class LineHandler(BusyHandler):
    """Says how many people come first, and knows who asks again by a cookie."""

    def initialize(self, line: WaitingLine) -> None:
        """Know the line."""
        self._line = line

    def get(self) -> None:
        """Answer with a page that asks again."""
        ticket = self._line.wait(ticket_of(self.request))
        before = self._line.people_before(ticket)
        self.set_cookie(_TICKET, ticket, httponly=True, samesite="Strict")
        come = f"{before:,} came before you" if before else "you are the next"
        self.tell(f"{CROWDED}; {come}.", "it is your turn", seconds=_LINE_SECONDS)


def ticket_of(request: HTTPServerRequest) -> str | None:
    """What somebody who has waited in the line shows."""
    shown = request.cookies.get(_TICKET)
    return shown.value if shown else None
