"""Pages that are there before anybody asks for them.

The models of a page take a second of the processor to make and to write. Whoever opens the page as
it is at first, without a link to a view or to another dataset, gets one that waits for them, with
its first map on it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from bokeh.server.session import ServerSession
from bokeh.server.tornado import BokehTornado
from bokeh.util.token import generate_jwt_token, generate_session_id
from panel.io.resources import Resources
from panel.io.server import DocHandler, server_html_page_for_session
from panel.io.state import set_curdoc
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import authenticated

from core.errors import WattfoldError
from dashboard import fits
from dashboard.application import PageApplication
from dashboard.datasets import Catalogue
from dashboard.manners import somebody_waits
from dashboard.page_socket import write_ahead
from dashboard.state import Explorer

_COUNT = 3
# Who has just got a page comes first, and asks for much in the first seconds.
_PAUSE_SECONDS = 3.0
# A page that was handed out must open its connection in that time.
_CONNECT_SECONDS = 20.0
# For whom the first map is made when nobody has asked for it yet, and how often to look for it.
_NOBODY = "spare pages"
_LOOK_SECONDS = 0.2

_log = logging.getLogger(__name__)


# Stands for the token, which is made when the page is handed out.
_PLACEHOLDER = "PLACE-OF-THE-TOKEN"


@dataclass(frozen=True)
class ReadyPage:
    """A session and the text that opens it in a browser."""

    session: ServerSession
    html: str

    def open_with(self, token: str) -> str:
        """The text for whoever gets the token."""
        return self.html.replace(_PLACEHOLDER, token)


@dataclass(frozen=True)
class _Spare:
    """A page that is made, or is being made, of a dataset."""

    digest: str
    making: asyncio.Task[ReadyPage]


class SparePages:
    """Keeps some pages ready; all of it happens in the server's event loop.

    Parameters
    ----------
    tornado : BokehTornado
        Whose application at ``/`` is a ``PageApplication``.
    """

    def __init__(self, tornado: BokehTornado) -> None:
        self._tornado = tornado
        self._context = tornado.applications["/"]
        self._application = cast(PageApplication, self._context.application)
        self._spares: deque[_Spare] = deque()
        self._filling: asyncio.Task[None] | None = None
        self._looked_for: str | None = None  # the data whose first map was made or looked up

    def __len__(self) -> int:
        """How many sessions of the server nobody has."""
        return len(self._spares)

    def fill(self, pause: float = 0.0) -> None:
        """Make pages until there are enough, one after the other."""
        if self._filling is None or self._filling.done():
            self._filling = asyncio.get_running_loop().create_task(self._fill(pause))

    async def take(self) -> ReadyPage | None:
        """Return a page of the data that the server shows now; None if there are no data to show.

        Where none is ready, one is made for whoever asks, in turn.
        """
        shown = _shown_digest()
        found = None
        while found is None and shown is not None:
            spare = self._spares.popleft() if self._spares else self._begin(shown)
            try:
                page = await spare.making
            except Exception:  # then the library makes one, and tells what is wrong
                _log.exception("a page could not be made ready")
                break
            if spare.digest == shown:
                found = page
                unblock = page.session.unblock_expiration
                asyncio.get_running_loop().call_later(_CONNECT_SECONDS, unblock)
            else:
                _drop(page.session)
        self.fill(_PAUSE_SECONDS if self._spares else 0.0)
        return found

    def _begin(self, digest: str) -> _Spare:
        return _Spare(digest, asyncio.get_running_loop().create_task(self._make()))

    async def _fill(self, pause: float) -> None:
        await asyncio.sleep(pause)
        while len(self._spares) < _COUNT:
            digest = _shown_digest()
            if digest is None:
                return  # whoever comes is told what is wrong
            if digest != self._looked_for:  # once: one that fails would fail again
                self._looked_for = digest
                await _have_first_map()
            spare = self._begin(digest)
            self._spares.append(spare)
            page = await spare.making
            if self._application.failed(page.session.document):
                if spare in self._spares:
                    self._spares.remove(spare)
                    _drop(page.session)
                return  # the next who comes may have more luck

    async def _make(self) -> ReadyPage:
        """Make a session as if somebody had asked for ``/``, and write down all of it."""
        server = self._tornado
        token = fresh_token(server, id := _new_id(server), {})
        line = RequestStartLine("GET", f"{server.prefix}/", "HTTP/1.1")
        headers = HTTPHeaders({"Host": "localhost"})
        request = HTTPServerRequest(start_line=line, headers=headers)
        session = await self._context.create_session_if_needed(id, request, token)
        session.block_expiration()
        html = await self._application.in_thread(self._write, session)
        return ReadyPage(session, html)

    def _write(self, session: ServerSession) -> str:
        doc = session.document
        with set_curdoc(doc):
            # This first: it changes addresses of style sheets in the models.
            html = server_html_page_for_session(
                session,
                resources=Resources.from_bokeh(self._tornado.resources()),
                title=doc.title,
                token=_PLACEHOLDER,
                template=doc.template,
                template_variables=doc.template_variables,
            )
        write_ahead(doc)
        return html


class SpareHandler(DocHandler):
    """Answers with a page that is ready, or with one that is made now."""

    def initialize(self, *args: Any, spares: SparePages, **kwargs: Any) -> None:
        """Know where ready pages are."""
        super().initialize(*args, **kwargs)
        self._spares = spares

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Answer with the page; who waits for it makes threads hurry."""
        with somebody_waits():
            page = None if self._asks_for_more() else await self._spares.take()
            if page is None:
                await cast(Awaitable[None], super().get(*args, **kwargs))
        if page is not None:
            # Bokeh has the token of a session from its start; that of a spare one may be too old.
            token = fresh_token(self.application, page.session.id, self._generate_token_payload())
            page.session._token = token
            self.set_header("Cache-Control", "no-store")  # for the token's sake
            self.set_header("Content-Type", "text/html")
            self.write(page.open_with(token))
        if self.get_status() == 200:
            _log.info("session opened")

    def _asks_for_more(self) -> bool:
        request = self.request
        return bool(
            request.arguments
            or "Bokeh-Session-Id" in request.headers
            or not request.path.endswith("/")  # below a prefix: led there first
        )


def fresh_token(server: BokehTornado, id: str, payload: Any) -> str:
    """A token that lets whoever has it connect to a session."""
    return generate_jwt_token(
        id,  # type: ignore[arg-type]  # Bokeh's ids are strings
        secret_key=server.secret_key,
        signed=server.sign_sessions,
        extra_payload=payload,
        expiration=server.session_token_expiration,
    )


def _new_id(server: BokehTornado) -> Any:
    return generate_session_id(secret_key=server.secret_key, signed=server.sign_sessions)


def _shown_digest() -> str | None:
    try:
        return Catalogue.of_server().open().digest
    except WattfoldError:
        return None


async def _have_first_map() -> None:
    """Have the map that a page begins with in the store.

    A page that is made without it would be given map and detail in the event loop, for a second.
    """
    with suppress(WattfoldError):  # which the page will tell
        dataset = Catalogue.of_server().open()
        config = Explorer(dataset).config()
        if await asyncio.wrap_future(fits.fetch(dataset, config)) is None:
            job = fits.submit(_NOBODY, dataset, config)
            while job.state in ("queued", "running"):
                await asyncio.sleep(_LOOK_SECONDS)


def _drop(session: ServerSession) -> None:
    session.request_expiration()
    session.unblock_expiration()
