"""The server of the page: its settings, its limits, its start and its stop."""

import asyncio
import logging
import os
import secrets
import signal
from contextlib import suppress
from dataclasses import dataclass

from panel.io.server import Server, get_server

from core.runs import Store
from core.version import describe
from dashboard.jobs import run_jobs
from dashboard.server import health
from dashboard.server.connection_limit import bound_connections
from dashboard.server.logs import log_request
from dashboard.server.loop_lag import loop_lag
from dashboard.server.message_guard import MAXIMUM_FRAGMENT_BYTES, guard_messages
from dashboard.server.security import SecurityHeaders
from dashboard.server.session_limit import SessionLimit
from dashboard.session import count_sessions, create_page, dispose_all_sessions

# A page has no form; nothing large comes by HTTP.
_MAXIMUM_BODY_BYTES = 2**20
# A connection that sends no whole request for so long is closed; websockets are pinged instead.
_IDLE_SECONDS = 30
# Looked at every so often, a session whose page was closed so long ago ends: within 35 s.
CHECK_SESSIONS_MILLISECONDS = 10_000
UNUSED_SESSION_MILLISECONDS = 20_000
# A page must open its connection within that time, or ask for another token by a reload.
_TOKEN_SECONDS = 300

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Where the server listens, to whom, and how much it takes on.

    Attributes
    ----------
    address, port
        What to listen on; ``localhost`` is this machine alone.
    origins : tuple of str
        Hosts, beside the server's own, whose pages may open a connection; see
        :func:`dashboard.server.security.check_origins`.
    prefix : str
        The path below which a reverse proxy shows the server.
    """

    port: int = 5006
    address: str = "localhost"
    origins: tuple[str, ...] = ()
    prefix: str = ""
    behind_proxy: bool = False


def make_server(settings: ServerSettings) -> Server:
    """Make the server, with all its limits, ready to start."""
    with suppress(OSError):  # whether results can be kept is told by /readyz
        Store.default().sweep()
    here = [f"{name}:{settings.port}" for name in ("localhost", "127.0.0.1")]
    secret = os.environ.get("BOKEH_SECRET_KEY", "").encode() or secrets.token_bytes(32)
    # From the start on, so that workers are warm when somebody wants a map.
    run_jobs.pool()
    guard_messages()
    bound_connections()
    server = get_server(
        create_page,
        title="Wattfold",
        address=settings.address,
        port=settings.port,
        websocket_origin=[*here, *settings.origins],
        prefix=settings.prefix,
        # The page is made once before anybody asks for it: that imports all it needs.
        warm=True,
        auth_provider=SessionLimit(),
        transforms=[SecurityHeaders],
        extra_patterns=health.ROUTES,
        secret_key=secret,
        sign_sessions=True,
        session_token_expiration=_TOKEN_SECONDS,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict"},
        # Headers and cookies of a request would go into a token that the page's scripts can read.
        include_headers=["Host"],
        include_cookies=[],
        websocket_max_message_size=MAXIMUM_FRAGMENT_BYTES,
        http_server_kwargs={
            "max_body_size": _MAXIMUM_BODY_BYTES,
            "idle_connection_timeout": _IDLE_SECONDS,
            "body_timeout": _IDLE_SECONDS,
        },
        use_xheaders=settings.behind_proxy,
        log_function=log_request,
        check_unused_sessions_milliseconds=CHECK_SESSIONS_MILLISECONDS,
        unused_session_lifetime_milliseconds=UNUSED_SESSION_MILLISECONDS,
    )
    server.io_loop.add_callback(loop_lag.start)
    return server


def run_until_stopped(server: Server) -> None:
    """Serve until SIGTERM or SIGINT; then take no more requests and end all sessions and jobs.

    The finished stages of a job are in the store: the same map, asked for again, goes on from
    there.
    """
    loop = asyncio.get_event_loop()

    def stop(name: str) -> None:
        _log.info("stopping", extra={"signal": name, "sessions": count_sessions()})
        for each in _STOP_SIGNALS:
            loop.remove_signal_handler(each)  # a second one ends the process at once
        server.unlisten()
        server.io_loop.stop()

    for each in _STOP_SIGNALS:
        loop.add_signal_handler(each, stop, each.name)
    server.start()
    _log.info("serving", extra={"version": describe(), "port": server.port})
    server.io_loop.start()
    dispose_all_sessions()
    run_jobs.pool().close()
    server.stop()
    _log.info("stopped")
