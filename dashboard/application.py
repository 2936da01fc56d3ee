"""Makes the pages of new sessions in a thread of its own.

The models of a page take most of a second to make. In the server's event loop, where Bokeh makes
them, everybody who is on the server would wait for whoever opens a page.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

from bokeh.application.application import SessionContext
from bokeh.application.handlers.handler import Handler
from bokeh.document import Document
from bokeh.server.contexts import BokehSessionContext
from panel.io.application import Application
from panel.io.document import init_doc
from panel.io.state import set_curdoc

from dashboard.components import PlainText
from dashboard.manners import give_way
from dashboard.memory import keep_out_of_sight, parts_of, take_apart
from dashboard.shell import create_page

TITLE = "Wattfold"
_FAILED = "The page could not be made; the server's log says why. Reload it to try again."

Result = TypeVar("Result")

_log = logging.getLogger(__name__)


class PageHandler(Handler):
    """Puts the page in a document."""

    def modify_document(self, doc: Document) -> None:
        """Put the page in."""
        with set_curdoc(doc):
            create_page().server_doc(doc, title=TITLE)
            # The page has a notice of its own, and a session that is gone does not come back.
            doc.config.update(
                reconnect_session=False, notifications=None, notify_connection_status=False
            )


class PageApplication(Application):
    """An application whose documents are there before Bokeh asks for them.

    Parameters
    ----------
    on_closed : callable, optional
        Called for every page that is closed.
    """

    def __init__(self, on_closed: Callable[[], None] = lambda: None) -> None:
        super().__init__(PageHandler())
        self._on_closed = on_closed
        self._made: WeakSet[Document] = WeakSet()
        self._failed: WeakSet[Document] = WeakSet()
        self._closed: WeakKeyDictionary[Document, list[object]] = WeakKeyDictionary()
        # One at a time: more threads would take the processor from those who wait for less.
        self._maker = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="page", initializer=give_way
        )

    async def on_session_created(self, session_context: SessionContext) -> None:
        """Make the page of a session; the loop goes on meanwhile."""
        await super().on_session_created(session_context)
        doc = cast(BokehSessionContext, session_context)._document
        await self.in_thread(self._make, doc)

    async def in_thread(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Do something in the thread in which pages are made."""
        return await asyncio.get_running_loop().run_in_executor(self._maker, work, *arguments)

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Do something in that thread when nothing else is done there."""
        return self._maker.submit(work)

    def _make(self, doc: Document) -> None:
        try:
            super().initialize_document(doc)
        except Exception:
            _log.exception("the page could not be made")
            self._failed.add(doc)
            doc.clear()
            with set_curdoc(doc):
                PlainText(_FAILED, look="error", margin=30).server_doc(doc, title=TITLE)
        self._made.add(doc)
        self._remember_parts(doc)
        keep_out_of_sight()

    def _remember_parts(self, doc: Document) -> None:
        """Note what a document consists of when it is about to forget that."""
        destroy = doc.destroy

        def remember_and_destroy(session: object) -> None:
            self._closed[doc] = parts_of(doc)
            destroy(session)

        doc.destroy = remember_and_destroy  # type: ignore[method-assign]  # as Panel does

    async def on_session_destroyed(self, session_context: SessionContext) -> None:
        """Let the page of a session go."""
        await super().on_session_destroyed(session_context)
        take_apart(self._closed.pop(cast(BokehSessionContext, session_context)._document, ()))
        self._on_closed()
        await asyncio.sleep(0)  # many may end at once, one after the other

    def failed(self, doc: Document) -> bool:
        """Whether a document says that the page could not be made."""
        return doc in self._failed

    def initialize_document(self, doc: Document) -> None:
        """Make the page here and now, unless it is there."""
        if doc in self._made:
            init_doc(doc)  # from here on it belongs to the loop's thread
        else:
            super().initialize_document(doc)
