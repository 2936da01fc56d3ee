"""The server of the page: its settings, its routes, its start and its stop."""

import asyncio
import logging
import os
import secrets
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass

from bokeh.settings import settings as bokeh_settings
from panel.io.server import Server, get_server
from tornado.web import ErrorHandler

from core.build import describe
from core.runs import Store
from dashboard import fits, health
from dashboard.admission import DEFAULT_MAXIMUM_SESSIONS, Admission
from dashboard.application import TITLE, PageApplication
from dashboard.heartbeat import heartbeat
from dashboard.logs import log_request
from dashboard.manners import give_way_no_longer, make_loop, people_waiting
from dashboard.memory import Collector, keep_out_of_sight
from dashboard.page_request import PageRequest
from dashboard.page_socket import PageSocket
from dashboard.security import SecurityHeaders
from dashboard.spare_pages import SparePages

# A chunk of an uploaded file is the largest message that a page sends.
_MAXIMUM_MESSAGE_BYTES = 20 * 2**20
# A page has no form; nothing large comes by HTTP.
_MAXIMUM_BODY_BYTES = 2**20
# Looked at every so often, a session whose page was closed so long ago ends: within 35 s.
_CHECK_SESSIONS_MILLISECONDS = 10_000
_UNUSED_SESSION_MILLISECONDS = 20_000
# A page must open its connection within that time, or ask for another token by a reload.
_TOKEN_SECONDS = 300

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_STOP_SECONDS = 8.0

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
        :func:`dashboard.security.check_origins`.
    prefix : str
        The path below which a reverse proxy shows the server.
    maximum_sessions : int
        Beyond them, the page says that it is busy.
    """

    port: int = 5006
    address: str = "localhost"
    origins: tuple[str, ...] = ()
    prefix: str = ""
    maximum_sessions: int = DEFAULT_MAXIMUM_SESSIONS
    behind_proxy: bool = False


def make_server(settings: ServerSettings) -> Server:
    """Make the server, with all its limits, ready to start."""
    with suppress(OSError):  # whether results can be kept is told by /readyz
        Store.default().sweep()
    asyncio.set_event_loop(make_loop())
    here = [f"{name}:{settings.port}" for name in ("localhost", "127.0.0.1")]
    secret = os.environ.get("BOKEH_SECRET_KEY", "").encode() or secrets.token_bytes(32)
    # From the start on, so that workers are warm when somebody wants a map.
    fits.pool()
    # Every page is the same; to look each through for mistakes would take a tenth of its time.
    bokeh_settings.perform_document_validation = False
    application = PageApplication(on_closed=lambda: collector.note_closed())
    collector = Collector(lambda: spares.visitors == 0, application.submit)
    server = get_server(
        {"/": application},  # type: ignore[dict-item]  # Panel takes Bokeh's applications too
        address=settings.address,
        port=settings.port,
        websocket_origin=[*here, *settings.origins],
        prefix=settings.prefix,
        # The page is made once before anybody asks for it: that imports all it needs.
        warm=True,
        title=TITLE,
        extra_patterns=health.ROUTES,
        secret_key=secret,
        sign_sessions=True,
        session_token_expiration=_TOKEN_SECONDS,
        xsrf_cookies=True,
        xsrf_cookie_kwargs={"httponly": True, "samesite": "Strict"},
        # Headers and cookies of a request would go into a token that the page's scripts can read.
        include_headers=["Host"],
        include_cookies=[],
        websocket_max_message_size=_MAXIMUM_MESSAGE_BYTES,
        http_server_kwargs={"max_body_size": _MAXIMUM_BODY_BYTES},
        use_xheaders=settings.behind_proxy,
        log_function=log_request,
        check_unused_sessions_milliseconds=_CHECK_SESSIONS_MILLISECONDS,
        unused_session_lifetime_milliseconds=_UNUSED_SESSION_MILLISECONDS,
    )
    tornado = server._tornado
    tornado.add_transform(SecurityHeaders)

    spares = SparePages(tornado)

    collector.take_over()
    context = {
        "application_context": tornado.applications["/"],
        "bokeh_websocket_path": f"{tornado.prefix}/ws",
    }
    admission = Admission(
        visitors=lambda: spares.visitors,
        waiting=people_waiting,
        maximum=settings.maximum_sessions,
    )
    page = {**context, "spares": spares, "admission": admission}
    tornado.add_handlers(
        ".*",
        [
            (f"{tornado.prefix}/?", PageRequest, page),
            (f"{tornado.prefix}/ws", PageSocket, context),
            # Makes a page that nobody has asked admission for, to be put in a page of another host.
            (f"{tornado.prefix}/autoload.js", ErrorHandler, {"status_code": 404}),
        ],
    )
    server.io_loop.add_callback(heartbeat.start)
    server.io_loop.add_callback(spares.fill)
    return server


def run_until_stopped(server: Server) -> None:
    """Serve until SIGTERM or SIGINT; then take no more requests and end all jobs.

    What the stages of a job have come to is in the store: the same map, asked for again, goes on
    from there.
    """
    loop = asyncio.get_event_loop()

    def stop(name: str) -> None:
        _log.info("stopping", extra={"signal": name, "sessions": len(server.get_sessions())})
        for each in _STOP_SIGNALS:
            loop.remove_signal_handler(each)  # a second one ends the process at once
        server.unlisten()
        server.io_loop.stop()

    for each in _STOP_SIGNALS:
        loop.add_signal_handler(each, stop, each.name)
    server.start()
    keep_out_of_sight()
    _log.info("serving", extra={"version": describe(), "port": server.port})
    server.io_loop.start()
    give_way_no_longer()
    _end_at_the_latest(_STOP_SECONDS)
    fits.pool().close()
    server.stop()
    _log.info("stopped")


def _end_at_the_latest(seconds: float) -> None:
    """Do not let a thread that reads or draws keep the process from ending."""
    timer = threading.Timer(seconds, os._exit, args=(0,))
    timer.daemon = True
    timer.start()
