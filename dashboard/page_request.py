"""Answers whoever asks for the page."""

import logging
from collections.abc import Awaitable
from typing import Any, cast

from panel.io.server import DocHandler
from tornado.web import authenticated

from dashboard.admission import Admission, Refusal
from dashboard.manners import somebody_waits
from dashboard.spare_pages import ReadyPage, SparePages

_TICKET = "wattfold-ticket"

_log = logging.getLogger(__name__)


class PageRequest(DocHandler):
    """Answers with a page that is ready, with one that is made now, or that the server is busy."""

    def initialize(
        self, *args: Any, spares: SparePages, admission: Admission, **kwargs: Any
    ) -> None:
        """Know where pages are, and who gets one."""
        super().initialize(*args, **kwargs)
        self._spares = spares
        self._admission = admission
        self._ticket = self.get_cookie(_TICKET)
        self._is_waiting = False
        self._has_left = False

    @authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Answer with the page, or with one that asks again."""
        if not self.request.path.endswith("/"):  # below a prefix: Panel leads there
            await cast(Awaitable[None], super().get(*args, **kwargs))
            return
        self.set_header("Cache-Control", "no-store")  # for the token's sake
        self.set_header("Content-Type", "text/html")
        if refusal := self._admission.ask(self._ticket):
            self._refuse(refusal)
            return
        self._is_waiting = True
        with somebody_waits():
            page = await self._page()
        self._is_waiting = False
        if self._has_left:
            self._spares.put_back(page)
            return
        self.write(self._spares.hand_out(page, self._generate_token_payload()))
        _log.info("session opened")

    async def _page(self) -> ReadyPage:
        page = None if self.request.arguments else await self._spares.take()
        # Without data to show, the page says so.
        return page or await self._spares.make_for(self.request, self._generate_token_payload())

    def _refuse(self, refusal: Refusal) -> None:
        self.set_status(503)
        self.set_header("Retry-After", str(refusal.seconds))
        self.set_cookie(_TICKET, refusal.ticket, httponly=True, samesite="Lax")
        self.write(refusal.page)

    def on_connection_close(self) -> None:
        """Keep the turn of whoever did not wait, as by a reload; the page is for the next."""
        super().on_connection_close()
        self._has_left = True
        if self._is_waiting:
            self._admission.line.put_back(self._ticket)
