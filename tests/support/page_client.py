"""A page without a browser: its session, spoken to in the protocol of Bokeh.

It may send what no browser would.
"""

import asyncio
import itertools
import json
import re
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email.message import Message
from http.client import HTTPConnection
from types import TracebackType
from typing import Any, Self, TypeVar

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

Result = TypeVar("Result")

_LARGEST = 200 * 2**20


def fetch(host: str, path: str = "/", method: str = "GET", **headers: str):
    """Ask for a path; return the status, the headers and the body."""
    connection = HTTPConnection(host, timeout=120)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode(errors="replace")
    finally:
        connection.close()


def token_in(page: str) -> str:
    """The token of the session that a page was made for."""
    match = re.search(r'"token":"([^"]+)"', page)
    assert match, page[:500]
    return match[1]


async def connect(
    host: str, token: str, *, path: str = "", **headers: str
) -> WebSocketClientConnection:
    """Open the connection of a page."""
    headers = {"Origin": f"http://{host}", **headers}
    request = HTTPRequest(f"ws://{host}{path}/ws", headers=headers)
    connection = await websocket_connect(
        request, subprotocols=["bokeh", token], max_message_size=_LARGEST
    )
    connection.protocol.set_nodelay(True)  # as browsers do
    return connection


def run_alone(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in a thread of its own: a browser that is open has a loop in this one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, work).result()


async def leave(connection: WebSocketClientConnection) -> None:
    """Close a connection, and give its socket the time to end."""
    connection.close()
    for _ in range(100):
        if connection.protocol is None or connection.protocol.stream.closed():
            break
        await asyncio.sleep(0.05)


class BusyError(Exception):
    """The server has no room for another page; it says after how many seconds to ask again."""

    def __init__(self, headers: Message) -> None:
        self.seconds = int(headers["Retry-After"])
        super().__init__(f"ask again in {self.seconds} s")


class PageClient:
    """One session: ``async with PageClient(host) as page``."""

    def __init__(self, host: str, path: str = "", *, cookie: str = "") -> None:
        self.host = host
        self.path = path
        self.cookie = cookie
        self._numbers = itertools.count(1)
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self.events = 0

    async def __aenter__(self) -> Self:
        status, headers, page = await asyncio.to_thread(
            fetch, self.host, self.path or "/", Cookie=self.cookie
        )
        if status == 503:
            raise BusyError(headers)
        assert status == 200, status
        given = [cookie.partition(";")[0] for cookie in headers.get_all("Set-Cookie") or []]
        self.cookie = "; ".join(filter(None, [self.cookie, *given]))
        folder = self.path.partition("?")[0].rstrip("/")
        self._connection = await connect(self.host, token_in(page), path=folder, Cookie=self.cookie)
        header, _ = await self._receive()
        assert header["msgtype"] == "ACK"
        self._listener = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._listener.cancel()
        with suppress(asyncio.CancelledError):
            await self._listener
        await leave(self._connection)

    async def pull(self) -> dict[str, Any]:
        """Fetch the whole document, as the browser does first."""
        answer = await self._ask("PULL-DOC-REQ", {})
        return dict(answer["doc"])

    async def tell_ready(self) -> None:
        """Say that the page is drawn: from then on the server looks after its jobs."""
        event = {
            "type": "event",
            "name": "document_ready",
            "values": {"type": "map", "entries": []},
        }
        message = {"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}
        answer = await self._ask("PATCH-DOC", {"events": [message]})
        assert answer["msgtype"] == "OK", answer

    async def patch(self, model: str, attribute: str, value: Any) -> dict[str, Any]:
        """Set a property of a model; return what the server answers."""
        event = {
            "kind": "ModelChanged",
            "model": {"id": model},
            "attr": attribute,
            "new": value,
        }
        return await self._ask("PATCH-DOC", {"events": [event]})

    async def _ask(self, kind: str, content: dict[str, Any]) -> dict[str, Any]:
        number = f"client-{next(self._numbers)}"
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        for part in ({"msgid": number, "msgtype": kind}, {}, content):
            await self._connection.write_message(json.dumps(part))
        return await asyncio.wait_for(answer, timeout=120)

    async def _listen(self) -> None:
        with suppress(ConnectionError):
            while True:
                header, content = await self._receive()
                answer = self._answers.pop(header.get("reqid", ""), None)
                if answer is not None and not answer.done():
                    answer.set_result({"msgtype": header["msgtype"], **content})
                else:
                    self.events += 1
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ConnectionError("the server closed the connection"))

    async def _receive(self) -> tuple[dict[str, Any], dict[str, Any]]:
        header, _, content = [json.loads(await self._read()) for _ in range(3)]
        for _ in range(2 * header.get("num_buffers", 0)):
            await self._read()
        return header, content

    async def _read(self) -> Any:
        message = await self._connection.read_message()
        if message is None:
            raise ConnectionError("the server closed the connection")
        return message


def models_in(node: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """All models of a document as JSON: id, type and attributes."""
    if isinstance(node, dict):
        if node.get("type") == "object" and "id" in node:
            yield node["id"], node.get("name", ""), node.get("attributes", {})
        for value in node.values():
            yield from models_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from models_in(value)
