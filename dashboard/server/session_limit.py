"""No more open pages than the server can serve: whoever comes later is told to come back.

Bokeh asks its *auth provider* about every request for a page or a websocket before it makes a
session, and hands it the request handler. That documented hook is where the limit is kept, for
``wattfold serve`` and, by ``--auth-module``, for ``panel serve``.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from bokeh.server.auth_provider import AuthProvider
from bokeh.server.views.session_handler import SessionHandler
from bokeh.server.views.ws import WSHandler
from bokeh.util.token import get_session_id
from panel.io.server import AutoloadJsHandler
from tornado.web import Finish, HTTPError, RequestHandler

from core.errors import InputError
from dashboard.session import count_sessions

# Each has a document of some ten megabytes.
DEFAULT_MAXIMUM_SESSIONS = 30
RETRY_SECONDS = 10
# Bokeh wants one of every auth provider. Nobody is sent there: nobody is refused for who they are.
LOGIN_URL = "/"

FULL = "As many people as this server can serve have Wattfold open."
BUSY_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="{RETRY_SECONDS}">
<meta name="viewport" content="width=device-width">
<title>Wattfold is busy</title>
<style>
  body {{font: 17px/1.5 system-ui, sans-serif; max-width: 34em; margin: 18vh auto; padding: 0 1em;
        color-scheme: light dark; background: Canvas; color: CanvasText}}
</style>
<h1>Wattfold is busy</h1>
<p>{FULL}</p>
<p>This page tries again every {RETRY_SECONDS} seconds.</p>
</html>
"""


def maximum_sessions() -> int:
    """How many pages may be open at once: WATTFOLD_MAX_SESSIONS, or the default."""
    text = os.environ.get("WATTFOLD_MAX_SESSIONS") or str(DEFAULT_MAXIMUM_SESSIONS)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"WATTFOLD_MAX_SESSIONS must be a whole number from 1, got {text!r}")
    return int(text)


def is_full() -> bool:
    """Whether there is no room for another page."""
    return count_sessions() >= maximum_sessions()


class SessionLimit(AuthProvider):
    """Lets everybody in while there is room. It does not ask who they are: a proxy does."""

    @property
    def get_user_async(  # type: ignore[override]  # Bokeh passes the handler, not its request
        self,
    ) -> Callable[[RequestHandler], Awaitable[Any]]:
        """What Bokeh calls before it handles a request."""
        return admit

    @property
    def login_url(self) -> str:
        """Where Bokeh would send a visitor without a name."""
        return LOGIN_URL


async def admit(handler: RequestHandler) -> str:
    """Return the name of a visitor, the same for all, or answer that the server is busy."""
    if isinstance(handler, AutoloadJsHandler):
        raise HTTPError(404)  # it makes a page to be put into pages of other hosts
    if _needs_new_session(handler) and is_full():
        refuse(handler)
    return "visitor"


def _needs_new_session(handler: RequestHandler) -> bool:
    if isinstance(handler, SessionHandler):
        return True
    # Bokeh makes a session for a websocket whose page's session has ended meanwhile.
    return isinstance(handler, WSHandler) and not _has_session(handler)


def _has_session(socket: WSHandler) -> bool:
    protocols = socket.request.headers.get("Sec-WebSocket-Protocol", "").split(",")
    if len(protocols) != 2:
        return True  # it has no token: Bokeh refuses it in its own words
    known = {session.id for session in socket.application_context.sessions}
    try:
        return get_session_id(protocols[1].strip()) in known
    except (ValueError, LookupError, TypeError):
        return True  # likewise


def refuse(handler: RequestHandler) -> NoReturn:
    """End a request with 503 and a page that tries again by itself."""
    handler.set_status(503)
    handler.set_header("Retry-After", str(RETRY_SECONDS))
    handler.set_header("Cache-Control", "no-store")
    handler.set_header("Content-Type", "text/html; charset=utf-8")
    raise Finish(BUSY_PAGE)
