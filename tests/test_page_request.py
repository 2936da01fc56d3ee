import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest
from bokeh.server.tornado import BokehTornado
from bokeh.util.token import get_session_id
from page_client import fetch, run_alone, token_in
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from dashboard import application, spare_pages
from dashboard.admission import Admission
from dashboard.application import PageApplication
from dashboard.components import PlainText
from dashboard.manners import people_waiting
from dashboard.page_request import PageRequest
from dashboard.spare_pages import SparePages


class Making:
    """The making of pages, which a test may hold up."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()
        self.go.set()

    def __call__(self) -> PlainText:
        self.begun.set()
        assert self.go.wait(20)
        return PlainText("the page")


@pytest.fixture
def making(monkeypatch) -> Making:
    made = Making()
    monkeypatch.setattr(spare_pages, "_shown_digest", lambda: "data")
    monkeypatch.setattr(spare_pages, "_have_first_map", partial(asyncio.sleep, 0))
    monkeypatch.setattr(spare_pages, "_COUNT", 0)
    monkeypatch.setattr(application, "create_page", made)
    monkeypatch.setattr(application, "keep_out_of_sight", lambda: None)
    return made


class Served:
    """A server of pages in the loop that runs."""

    def __init__(self) -> None:
        self.tornado = BokehTornado(
            {"/": PageApplication()}, secret_key=b"secret", sign_sessions=True
        )
        self.spares = SparePages(self.tornado)
        self.visitors = 0
        self.admission = Admission(
            visitors=lambda: self.visitors, waiting=people_waiting, maximum=10
        )
        settings = {
            "application_context": self.tornado.applications["/"],
            "bokeh_websocket_path": "/ws",
            "spares": self.spares,
            "admission": self.admission,
        }
        self.tornado.add_handlers(".*", [("/", PageRequest, settings)])
        sockets = bind_sockets(0, "127.0.0.1")
        self.port = sockets[0].getsockname()[1]
        self.http = HTTPServer(self.tornado)
        self.http.add_sockets(sockets)

    async def ask(self, query: str = "", ticket: str = "") -> Any:
        return await asyncio.to_thread(fetch, f"127.0.0.1:{self.port}", f"/{query}", Cookie=ticket)


def serve(work: Callable[[Served], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        served = Served()
        await work(served)
        served.http.stop()
        await served.http.close_all_connections()

    run_alone(run())


@pytest.mark.parametrize("query", ["", "?view=x"])
def test_who_asks_gets_a_page_of_their_own(making, query):
    async def visit(served: Served) -> None:
        pages = [await served.ask(query) for _ in range(2)]
        assert [status for status, _, _ in pages] == [200, 200]
        opened = {get_session_id(token_in(text)) for _, _, text in pages}
        assert opened == {session.id for session in served.tornado.get_sessions("/")}
        assert pages[0][1]["Cache-Control"] == "no-store"
        assert people_waiting() == 0

    serve(visit)


def test_who_is_refused_gets_a_ticket_and_with_it_a_page(making):
    async def visit(served: Served) -> None:
        served.visitors = 10
        status, headers, _ = await served.ask()
        ticket = headers["Set-Cookie"].partition(";")[0]
        assert status == 503
        assert served.tornado.get_sessions("/") == []
        status, headers, _ = await served.ask(ticket=ticket)
        assert (status, headers["Set-Cookie"].partition(";")[0]) == (503, ticket)
        served.visitors = 9
        assert (await served.ask())[0] == 503  # somebody else was there before
        assert (await served.ask(ticket=ticket))[0] == 200

    serve(visit)


async def leave_while_it_is_made(served: Served, making: Making, query: str, ticket: str) -> None:
    """Ask for a page, and close the window before it is there."""
    making.begun.clear()
    making.go.clear()
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(f"GET /{query} HTTP/1.1\r\nHost: x\r\nCookie: {ticket}\r\n\r\n".encode())
    await asyncio.to_thread(making.begun.wait, 20)
    assert people_waiting() == 1
    writer.close()
    await writer.wait_closed()
    await asyncio.sleep(0.1)
    making.go.set()
    while people_waiting():
        await asyncio.sleep(0.01)


def test_the_page_of_somebody_who_left_is_for_the_next(making):
    async def visit(served: Served) -> None:
        await leave_while_it_is_made(served, making, "", "")
        (session,) = served.tornado.get_sessions("/")
        assert len(served.spares) == 1
        _, _, text = await served.ask()
        assert get_session_id(token_in(text)) == session.id

    serve(visit)


def test_the_page_that_only_somebody_who_left_wanted_goes(making):
    async def visit(served: Served) -> None:
        await leave_while_it_is_made(served, making, "?view=x", "")
        (session,) = served.tornado.get_sessions("/")
        assert session.expiration_requested
        assert len(served.spares) == 0

    serve(visit)


def test_a_reload_does_not_cost_the_turn(making):
    async def visit(served: Served) -> None:
        served.visitors = 10
        _, headers, _ = await served.ask()
        ticket = headers["Set-Cookie"].partition(";")[0]
        served.visitors = 9
        await leave_while_it_is_made(served, making, "", ticket)
        assert (await served.ask())[0] == 503
        assert (await served.ask(ticket=ticket))[0] == 200

    serve(visit)
