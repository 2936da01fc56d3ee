import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.server.tornado import BokehTornado
from bokeh.util.token import check_token_signature, generate_session_id, get_session_id
from page_client import run_alone, token_in
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from dashboard import application, fits, spare_pages
from dashboard.application import PageApplication
from dashboard.components import PlainText
from dashboard.spare_pages import SparePages, fresh_token


@pytest.fixture
def shown(monkeypatch) -> list[str | None]:
    """The digest of the data that the server shows, as the only element."""
    digest: list[str | None] = ["first"]
    monkeypatch.setattr(spare_pages, "_shown_digest", lambda: digest[0])
    monkeypatch.setattr(spare_pages, "_have_first_map", partial(asyncio.sleep, 0))
    monkeypatch.setattr(spare_pages, "_COUNT", 2)
    monkeypatch.setattr(spare_pages, "_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(application, "create_page", lambda: PlainText("the page"))
    # What is kept from the collector would be there at the very end, and libraries complain.
    monkeypatch.setattr(application, "keep_out_of_sight", lambda: None)
    return digest


def with_spares(work: Callable[[SparePages, BokehTornado], Coroutine[Any, Any, None]]) -> None:
    """Do something in an event loop that serves pages."""

    async def serve() -> None:
        server = BokehTornado({"/": PageApplication()}, secret_key=b"secret", sign_sessions=True)
        await work(SparePages(server), server)

    run_alone(serve())


def request(path: str) -> HTTPServerRequest:
    headers = HTTPHeaders({"Host": "localhost"})
    return HTTPServerRequest(start_line=RequestStartLine("GET", path, "HTTP/1.1"), headers=headers)


async def filled(spares: SparePages) -> None:
    spares.fill()
    assert spares._filling is not None
    await spares._filling


def sessions(server: BokehTornado) -> list[Any]:
    return server.get_sessions("/")


def test_pages_wait_for_visitors_and_are_replaced(shown):
    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await filled(spares)
        assert len(spares) == len(sessions(server)) == 2
        first, second = await spares.take(), await spares.take()
        assert first is not None and second is not None and first is not second
        assert [
            model.text for model in first.session.document.models if "text" in model.properties()
        ] == ["the page"]
        # Until it is connected it must not be swept away.
        assert first.session.expiration_blocked
        await filled(spares)
        assert len(spares) == 2
        assert len(sessions(server)) == 4

    with_spares(visit)


def test_a_page_that_is_being_made_is_for_whoever_comes(shown, monkeypatch):
    begun, go = threading.Event(), threading.Event()
    made = []

    def make() -> PlainText:
        begun.set()
        assert go.wait(20)
        made.append(1)
        return PlainText("the page")

    monkeypatch.setattr(application, "create_page", make)

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        spares.fill()
        await asyncio.to_thread(begun.wait, 20)
        waiting = asyncio.create_task(spares.take())
        await asyncio.sleep(0.05)
        assert not waiting.done()
        go.set()
        assert await waiting is not None
        assert len(made) == 1
        await spares._filling

    with_spares(visit)


def test_where_none_is_ready_pages_are_made_in_turn(shown):
    async def visit(spares: SparePages, server: BokehTornado) -> None:
        first, second, third = await asyncio.gather(*(spares.take() for _ in range(3)))
        assert None not in (first, second, third)
        opened = [page.session for page in (first, second, third)]
        assert sessions(server)[:3] == opened
        await spares._filling
        assert len(spares) == 2

    with_spares(visit)


def test_who_waits_for_a_page_is_a_visitor(shown, monkeypatch):
    go = threading.Event()

    def make() -> PlainText:
        assert go.wait(20)
        return PlainText("the page")

    monkeypatch.setattr(application, "create_page", make)

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        waiting = [asyncio.create_task(spares.take()) for _ in range(2)]
        linked = asyncio.create_task(spares.make_for(request("/?view=x"), {}))
        await asyncio.sleep(0)
        assert spares.visitors == 3
        go.set()
        pages = [await each for each in (*waiting, linked)]
        assert spares.visitors == 3
        await spares._filling
        assert (spares.visitors, len(spares)) == (3, 2)
        spares.put_back(pages[0])
        assert spares.visitors == 2

    with_spares(visit)


def test_who_waits_in_vain_is_a_visitor_no_longer(shown, monkeypatch):
    async def fail(*_: Any) -> None:
        raise RuntimeError("no session")

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        monkeypatch.setattr(spares._context, "create_session_if_needed", fail)
        for asking in (spares.take(), spares.make_for(request("/?view=x"), {})):
            with pytest.raises(RuntimeError):
                await asking
        assert spares.visitors == 0

    with_spares(visit)


def test_pages_of_other_data_are_not_handed_out(shown):
    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await filled(spares)
        old = sessions(server)
        shown[0] = "second"
        page = await spares.take()
        assert page is not None and page.session not in old
        assert all(session.expiration_requested for session in old)
        assert not any(session.expiration_blocked for session in old)

    with_spares(visit)


def test_without_data_no_page_is_made(shown):
    shown[0] = None

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await filled(spares)
        assert await spares.take() is None
        assert sessions(server) == []

    with_spares(visit)


def test_a_page_that_could_not_be_made_is_not_kept(shown, monkeypatch):
    def fail() -> PlainText:
        raise RuntimeError("no fonts")

    monkeypatch.setattr(application, "create_page", fail)

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await filled(spares)
        assert len(spares) == 0
        (session,) = sessions(server)
        assert session.expiration_requested

    with_spares(visit)


def test_a_session_that_cannot_be_made_is_not_kept(shown, monkeypatch, caplog):
    async def fail(*_: Any) -> None:
        raise RuntimeError("no session")

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        monkeypatch.setattr(spares._context, "create_session_if_needed", fail)
        await filled(spares)
        assert len(spares) == 0
        assert "a spare page could not be made" in caplog.text
        with pytest.raises(RuntimeError):
            await spares.take()

    with_spares(visit)


def test_a_page_that_cannot_be_written_leaves_no_session(shown, monkeypatch):
    def fail(*_: Any) -> str:
        raise MemoryError

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        monkeypatch.setattr(SparePages, "_write", fail)
        await filled(spares)
        with pytest.raises(MemoryError):
            await spares.take()
        assert len(spares) == 0
        assert len(sessions(server)) == 2
        for session in sessions(server):
            assert session.expiration_requested
            assert not session.expiration_blocked

    with_spares(visit)


def test_who_comes_first_does_not_wait_for_the_others(shown, monkeypatch):
    done: list[str] = []

    def make() -> PlainText:
        done.append("made")
        return PlainText("the page")

    write = SparePages._write

    def note(spares: SparePages, session: Any) -> str:
        done.append("written")
        return write(spares, session)

    monkeypatch.setattr(application, "create_page", make)
    monkeypatch.setattr(SparePages, "_write", note)

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await asyncio.gather(spares.take(), spares.take())
        assert done[:4] == ["made", "written", "made", "written"]

    with_spares(visit)


def test_a_page_whose_visitor_left_is_for_the_next(shown):
    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await filled(spares)
        page = await spares.take()
        spares.put_back(page)
        assert page.session.expiration_blocked
        assert await spares.take() is page

    with_spares(visit)


def test_a_page_made_for_a_visitor_who_left_goes(shown):
    async def visit(spares: SparePages, server: BokehTornado) -> None:
        payload = {"arguments": {"view": [b"x"]}}
        page = await spares.make_for(request("/?view=x"), payload)
        (session,) = sessions(server)
        assert session.document.session_context.request.arguments == {"view": [b"x"]}
        spares.put_back(page)
        assert session.expiration_requested and not session.expiration_blocked

    with_spares(visit)


def test_a_page_is_handed_out_with_a_token_of_its_session(shown, monkeypatch):
    monkeypatch.setattr(spare_pages, "_CONNECT_SECONDS", 0.0)

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        page = await spares.take()
        text = spares.hand_out(page, {"arguments": {}})
        token = token_in(text)
        assert get_session_id(token) == page.session.id
        assert page.session.token == token
        assert check_token_signature(token, secret_key=b"secret", signed=True)
        # Whoever does not connect is not waited for.
        await asyncio.sleep(0.05)
        assert not page.session.expiration_blocked

    with_spares(visit)


def test_pages_are_made_when_their_first_map_is(monkeypatch, demo_path):
    monkeypatch.setenv("WATTFOLD_DATA", str(demo_path))
    monkeypatch.setattr(spare_pages, "_LOOK_SECONDS", 0.01)
    job = SimpleNamespace(state="queued")
    asked = []

    def fetch(*_: Any) -> "Future[None]":
        found: Future[None] = Future()
        found.set_result(None)
        return found

    def submit(session: str, *_: Any) -> SimpleNamespace:
        asked.append(session)
        return job

    monkeypatch.setattr(fits, "fetch", fetch)
    monkeypatch.setattr(fits, "submit", submit)

    async def wait() -> None:
        waiting = asyncio.create_task(spare_pages._have_first_map())
        for job.state in ("queued", "running"):
            await asyncio.sleep(0.1)
            assert not waiting.done()
        job.state = "done"
        await waiting

    run_alone(wait())
    assert asked == [spare_pages._NOBODY]


def test_a_first_map_that_cannot_be_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.setenv("WATTFOLD_DATA", str(tmp_path / "gone"))
    run_alone(spare_pages._have_first_map())


def test_a_fresh_token_is_signed_for_its_session():
    server = BokehTornado({"/": PageApplication()}, secret_key=b"secret", sign_sessions=True)
    session = generate_session_id(secret_key=b"secret", signed=True)
    token = fresh_token(server, session, {"arguments": {}})
    assert get_session_id(token) == session
    assert check_token_signature(token, secret_key=b"secret", signed=True)
    assert not check_token_signature(token, secret_key=b"other", signed=True)


def test_the_first_map_is_looked_for_once(shown, monkeypatch):
    looks: list[str | None] = []

    async def look() -> None:
        looks.append(shown[0])

    monkeypatch.setattr(spare_pages, "_have_first_map", look)

    async def visit(spares: SparePages, server: BokehTornado) -> None:
        await filled(spares)
        assert looks == ["first"]
        shown[0] = "second"
        await spares.take()
        await filled(spares)
        assert looks == ["first", "second"]

    with_spares(visit)
