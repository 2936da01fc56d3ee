"""Pages that are there before anybody asks for them.

The models of a page take a second or two of the processor to make and to write. Whoever opens the
page as it is at first, without a link to a view or to another dataset, gets one that waits for
them, with its first map on it.
"""

import asyncio
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from bokeh.server.session import ServerSession
from bokeh.server.tornado import BokehTornado
from bokeh.util.token import generate_jwt_token, generate_session_id
from panel.io.resources import Resources
from panel.io.server import server_html_page_for_session
from panel.io.state import set_curdoc
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from core.errors import WattfoldError
from dashboard import fits
from dashboard.application import PageApplication
from dashboard.datasets import Catalogue
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
    """A session and the text that opens it in a browser.

    Attributes
    ----------
    digest : str, optional
        Of the data that it shows; None if it is what one visitor asked for.
    """

    session: ServerSession
    html: str
    digest: str | None


@dataclass(frozen=True)
class _Spare:
    """A page that is made, or is being made, of a dataset."""

    digest: str
    making: asyncio.Future[ReadyPage]


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
        self._without_session = 0  # pages that are being made or wait for their turn
        self._filling: asyncio.Task[None] | None = None
        # Each is made and written before the next: who comes first does not wait for the others.
        self._one_at_a_time = asyncio.Lock()
        self._looked_for: str | None = None  # the data whose first map was made or looked up

    def __len__(self) -> int:
        """How many pages nobody has."""
        return len(self._spares)

    @property
    def visitors(self) -> int:
        """How many people have a page or wait for one that is being made."""
        return len(list(self._context.sessions)) + self._without_session - len(self._spares)

    def fill(self, pause: float = 0.0) -> None:
        """Make pages until there are enough, one after the other."""
        if self._filling is None or self._filling.done():
            self._filling = asyncio.get_running_loop().create_task(self._fill(pause))

    async def take(self) -> ReadyPage | None:
        """Return a page of the data that the server shows now; None if it has none to show.

        Where none is ready, one is made for whoever asks, in turn.
        """
        shown = _shown_digest()
        found = None
        while found is None and shown is not None:
            spare = self._spares.popleft() if self._spares else self._begin(shown)
            page = await spare.making
            if spare.digest == shown:
                found = page
            else:
                _drop(page.session)
        self.fill(_PAUSE_SECONDS if self._spares else 0.0)
        return found

    async def make_for(self, request: HTTPServerRequest, payload: Any) -> ReadyPage:
        """Make the page that somebody asks for in particular, as a link does."""
        self._without_session += 1
        return await self._make(request, payload)

    def hand_out(self, page: ReadyPage, payload: Any) -> str:
        """Return the text of a page for its visitor, who now has to open the connection."""
        server, session = self._tornado, page.session
        # Bokeh has the token of a session from its start; that of a spare one may be too old.
        session._token = fresh_token(server, session.id, payload)
        asyncio.get_running_loop().call_later(_CONNECT_SECONDS, session.unblock_expiration)
        return page.html.replace(_PLACEHOLDER, session._token)

    def put_back(self, page: ReadyPage) -> None:
        """Take a page that its visitor did not wait for."""
        if page.digest is None:
            _drop(page.session)
            return
        made = asyncio.get_running_loop().create_future()
        made.set_result(page)
        self._spares.appendleft(_Spare(page.digest, made))

    def _begin(self, digest: str) -> _Spare:
        server = self._tornado
        line = RequestStartLine("GET", f"{server.prefix}/", "HTTP/1.1")
        headers = HTTPHeaders({"Host": "localhost"})
        request = HTTPServerRequest(start_line=line, headers=headers)
        self._without_session += 1
        making = asyncio.get_running_loop().create_task(self._make(request, {}, digest))
        return _Spare(digest, making)

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
            try:
                page = await spare.making
                failed = self._application.failed(page.session.document)
            except Exception:
                _log.exception("a spare page could not be made")
                failed = True
            if failed:
                if spare in self._spares:
                    self._spares.remove(spare)
                    if spare.making.exception() is None:
                        _drop(page.session)
                return  # the next who comes may have more luck

    async def _make(
        self, request: HTTPServerRequest, payload: Any, digest: str | None = None
    ) -> ReadyPage:
        """Make a session for a request, and write down all of it."""
        async with self._one_at_a_time:
            token = fresh_token(self._tornado, id := _new_id(self._tornado), payload)
            try:
                session = await self._context.create_session_if_needed(id, request, token)
            finally:
                self._without_session -= 1
            session.block_expiration()
            try:
                html = await self._application.in_thread(self._write, session)
            except BaseException:
                _drop(session)
                raise
            return ReadyPage(session, html, digest)

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
