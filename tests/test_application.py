import asyncio
import threading

import pytest
from bokeh.document import Document
from bokeh.models import Div
from bokeh.server.contexts import BokehSessionContext
from page_client import models_in, run_alone

from dashboard import application
from dashboard.application import PageApplication
from dashboard.components import PlainText


def context() -> BokehSessionContext:
    return BokehSessionContext("session", None, Document())


def texts(doc: Document) -> list[str]:
    return [model.text for model in doc.models if "text" in model.properties()]


def said(serialized) -> list[str]:
    models = models_in(serialized.content["roots"])
    return [found["text"] for _, _, found in models if "text" in found]


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
        assert pages.pending == 1
        turned.set()
        await making
        assert threads != [threading.current_thread()]

    run_alone(open_page())
    assert pages.pending == 0
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


def test_the_document_is_serialized_ahead_and_anew_after_a_change(monkeypatch):
    monkeypatch.setattr(application, "create_page", lambda: PlainText("the page"))
    pages, session = PageApplication(), context()
    run_alone(pages.on_session_created(session))
    doc = session._document
    pages.initialize_document(doc)
    ahead = doc.to_json()
    assert ahead.content == Document.to_json(doc).content
    assert said(ahead) == ["the page"]

    run_alone(pages.on_session_created(again := context()))
    again._document.add_root(Div(text="another"))
    assert said(again._document.to_json()) == ["the page", "another"]
