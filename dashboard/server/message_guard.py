"""What a page may send over its websocket: bounds that hold before Bokeh decodes a message.

Bokeh unpacks gzipped bytes, makes arrays of any type and builds nested values in the event loop,
without a limit, and answers an error with the value that it refused. Here a message is measured
first; one that is too large or holds what no page sends is refused, and its connection is closed.
"""

import logging
from typing import Any

from bokeh.protocol.message import Message
from bokeh.server.urls import per_app_patterns
from bokeh.server.views.ws import WSHandler as BokehSocket
from panel.io.server import WSHandler

from dashboard.failures import report_failure

_log = logging.getLogger(__name__)

# A piece of an uploaded file has 1 MiB, and is the largest that a page of ours sends.
MAXIMUM_FRAGMENT_BYTES = 4 * 2**20
# All fragments of one message: header, metadata, content, and buffers with their headers.
MAXIMUM_MESSAGE_BYTES = 16 * 2**20
MAXIMUM_FRAGMENTS = 2_000
# Values in the JSON of one message; the largest honest ones are lassos and selections.
MAXIMUM_VALUES = 100_000
MAXIMUM_DEPTH = 200
# What JavaScript can count to. Larger ones are slow to compare, and can be made to share a hash.
MAXIMUM_INTEGER = 2**53

# All that a page asks for. PUSH-DOC would replace the whole document.
_MESSAGE_TYPES = frozenset({"PULL-DOC-REQ", "PATCH-DOC"})
_ARRAY_TYPES = frozenset(
    {"bool", "object", "int8", "int16", "int32", "uint8", "uint16", "uint32"}
    | {"float32", "float64"}
)
_NUMBER_NAMES = frozenset({"nan", "+inf", "-inf"})
_REFUSED = 1008  # "policy violation", of RFC 6455


class RefusedMessageError(Exception):
    """A message that no page of ours sends; says what is wrong without quoting it."""


class MessageSize:
    """Measures the fragments of one message after the other."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin with the next message."""
        self._bytes = self._fragments = 0

    def add(self, fragment: str | bytes) -> None:
        """Add a fragment, or refuse it."""
        self._bytes += len(fragment)
        self._fragments += 1
        if self._bytes > MAXIMUM_MESSAGE_BYTES or self._fragments > MAXIMUM_FRAGMENTS:
            raise RefusedMessageError("the message is too large")
        if isinstance(fragment, str):
            # Every value but the first follows one of these; those inside texts count as well.
            values = sum(map(fragment.count, ",[{"))
            if values > MAXIMUM_VALUES:
                raise RefusedMessageError("the message has too many values")


def check_message(message: Message[Any]) -> None:
    """Refuse a message whose decoding could take more than it weighs."""
    if message.msgtype not in _MESSAGE_TYPES:
        raise RefusedMessageError("a page does not send such messages")
    check_content(message.content)


def check_content(content: Any) -> None:
    """Refuse values, at any depth, that are not sent by pages and expensive to decode."""
    waiting = [(content, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAXIMUM_DEPTH:
            raise RefusedMessageError("the message is nested too deeply")
        if isinstance(value, dict):
            _check_object(value)
            waiting += [(each, depth + 1) for each in value.values()]
        elif isinstance(value, list):
            waiting += [(each, depth + 1) for each in value]
        elif isinstance(value, int) and abs(value) > MAXIMUM_INTEGER:
            raise RefusedMessageError("the message has an integer that is too large")


def _check_object(value: dict[str, Any]) -> None:
    kind = value.get("type")
    if kind == "bytes" and not isinstance(value.get("data"), dict):
        # Gzipped in a text; a page sends them in a buffer, as they are.
        raise RefusedMessageError("the message has packed bytes")
    if kind in ("ndarray", "typed_array"):
        # A type such as U99999999 would make room for that many letters in every element.
        dtype = value.get("dtype")
        if not isinstance(dtype, str) or dtype not in _ARRAY_TYPES:
            raise RefusedMessageError("the message has an array of an unknown type")
        shape = value.get("shape", [])
        if not isinstance(shape, list) or len(shape) > 8:
            raise RefusedMessageError("the message has an array of an unknown shape")
    number = value.get("value")
    if kind == "number" and isinstance(number, str) and number not in _NUMBER_NAMES:
        raise RefusedMessageError("the message has a number in an unknown form")


class GuardedSocket(WSHandler):
    """The websocket of a page, with bounds on what it takes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._size = MessageSize()

    async def on_message(self, fragment: str | bytes) -> None:
        """Take a fragment, and handle the message that it completes."""
        if self.receiver is None:
            self._refuse("the message came before the session was open")
            return
        try:
            self._size.add(fragment)
            message = await self.receiver.consume(fragment)
            if message is None:
                return
            self._size.start()
            check_message(message)
        except RefusedMessageError as refused:
            self._refuse(str(refused))
        except Exception as error:  # what Bokeh's parser says of it may quote it
            self._refuse(f"the message cannot be read ({type(error).__name__})")
        else:
            await self._answer(message)

    def _refuse(self, reason: str) -> None:
        _log.warning("refused a message of a page", extra={"reason": reason})
        self.close(_REFUSED, reason)

    async def _answer(self, message: Message[Any]) -> None:
        connection = self.connection
        if connection is None or self.handler is None:  # it was closed meanwhile
            return
        try:
            answer = await self.handler.handle(message, connection)
        except Exception as error:
            report_failure(_log, "cannot handle a message", error)
            self.close(_REFUSED, "the message cannot be handled")
            return
        if answer is None:
            return
        if answer.msgtype == "ERROR":
            # Bokeh has logged why. Its text holds the value that was refused.
            answer = connection.error(message, "the server refused this change")
        await self.send_message(answer)


def guard_messages() -> None:
    """Have all servers that are made from now on take messages through a guarded socket.

    The routes of an application are a list that Bokeh documents and Panel fills.
    """
    for place, (path, handler, *_) in enumerate(per_app_patterns):
        if issubclass(handler, BokehSocket):
            per_app_patterns[place] = (path, GuardedSocket)
