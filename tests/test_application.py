import asyncio
import threading

import pytest
from bokeh.document import Document
from bokeh.server.contexts import BokehSessionContext
from page_client import run_alone

from dashboard import application
from dashboard.application import PageApplication
from dashboard.components import PlainText


@pytest.fixture(autouse=True)
def seen(monkeypatch) -> None:
    """What is kept from the collector would be there at the very end, and libraries complain."""
    monkeypatch.setattr(application, "keep_out_of_sight", lambda: None)


def context() -> BokehSessionContext:
    return BokehSessionContext("session", None, Document())


def texts(doc: Document) -> list[str]:
    return [model.text for model in doc.models if "text" in model.properties()]


def test_the_loop_goes_on_while_a_page_is_made(monkeypatch):
    turned = threading.Event()
    threads = []

    def make() -> PlainText:
        threads.append(threading.current_thread())
        assert turned.wait(20)
        return PlainText("the page")

    monkeypatch.setattr(application, "create_page", make)
    pages, session = PageApplication(), context()

    async def open_page() -> None:
        making = asyncio.create_task(pages.on_session_created(session))
        while not threads:
            await asyncio.sleep(0.01)
        turned.set()
        await making
        assert threads != [threading.current_thread()]

    run_alone(open_page())
    pages.initialize_document(session._document)
    assert texts(session._document) == ["the page"]
    assert len(threads) == 1


def test_a_page_that_cannot_be_made_says_so_and_no_more(monkeypatch, caplog):
    def make() -> PlainText:
        raise RuntimeError("of meter 1234")

    monkeypatch.setattr(application, "create_page", make)
    pages, session = PageApplication(), context()
    run_alone(pages.on_session_created(session))
    pages.initialize_document(session._document)
    (text,) = texts(session._document)
    assert "could not be made" in text
    assert "1234" not in text
    assert "of meter 1234" in caplog.text


def test_a_server_whose_page_cannot_be_made_does_not_start(monkeypatch):
    def make() -> PlainText:
        raise RuntimeError("no fonts")

    monkeypatch.setattr(application, "create_page", make)
    with pytest.raises(RuntimeError, match="no fonts"):
        PageApplication().initialize_document(Document())
