"""The connection of a page: sends what the page consists of without holding up the others."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from weakref import WeakKeyDictionary

from bokeh.document import Document
from bokeh.document.events import DocumentChangedEvent
from bokeh.protocol.message import Message
from bokeh.protocol.messages.pull_doc_reply import pull_doc_reply
from bokeh.server.connection import ServerConnection
from bokeh.server.protocol_handler import ProtocolHandler
from panel.io.server import WSHandler

from dashboard.manners import give_way, take_turn

# Apart from the one in which pages are made: who waits for a page that is there comes first.
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="page-writer", initializer=give_way)


class WrittenDocument:
    """A document as it is sent, which takes a quarter of a second to write.

    Attributes
    ----------
    is_stale : bool
        Whether the document has changed since.
    """

    def __init__(self, document: Document) -> None:
        self.is_stale = False
        document.on_change(self._note_change)
        self._reply = pull_doc_reply.create("", document)  # type: ignore[arg-type]  # a string
        self._reply.content_json  # noqa: B018 (from now on the message has it)

    def _note_change(self, _: DocumentChangedEvent) -> None:
        self.is_stale = True

    def as_answer(self, request: Message[Any]) -> Message[Any]:
        """The message that answers a page that asks for its document."""
        self._reply.header = {**self._reply.header, "reqid": request.header["msgid"]}
        return self._reply


_written: WeakKeyDictionary[Document, WrittenDocument] = WeakKeyDictionary()


def write_ahead(document: Document) -> None:
    """Write a document before its page asks for it."""
    _written[document] = WrittenDocument(document)


class PageSocket(WSHandler):
    """Answers a page that asks for its document at once, or from a thread.

    Bokeh writes it in the event loop.
    """

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Send every part of a message at once, not when the one before has arrived."""
        self.set_nodelay(True)
        return super().open(*args, **kwargs)

    async def _handle(self, message: Message[Any]) -> Any:
        cast(ProtocolHandler, self.handler)._handlers["PULL-DOC-REQ"] = _send_document
        if message.msgtype == "PATCH-DOC":
            leave_looks_alone(message.content)
        await take_turn()
        return await super()._handle(message)


def leave_looks_alone(patch: Any) -> None:
    """Take out of what a browser changed in the document what it says of style sheets.

    A table puts in its own, which concerns nobody else, and Bokeh would go through all models of
    the page for it. What is no change at all is left to Bokeh to refuse.
    """
    match patch:
        case {"events": [*events]}:
            patch["events"] = [event for event in events if not _is_of_style_sheets(event)]


def _is_of_style_sheets(event: Any) -> bool:
    match event:
        case {"kind": "ModelChanged", "attr": "stylesheets"}:
            return True
    return False


async def _send_document(request: Message[Any], connection: ServerConnection) -> Message[Any]:
    document = connection.session.document

    async def write() -> WrittenDocument:
        written = _written.pop(document, None)
        if written is None or written.is_stale:
            loop = asyncio.get_running_loop()
            written = await loop.run_in_executor(_writer, WrittenDocument, document)
        document.remove_on_change(written._note_change)
        return written

    # Nothing changes the document meanwhile.
    written = await connection.session.with_document_locked(write)
    return written.as_answer(request)
