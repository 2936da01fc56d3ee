import gc
import weakref
from types import SimpleNamespace

import pytest
from bokeh.document import Document
from bokeh.server.contexts import BokehSessionContext
from page_client import run_alone

from dashboard import application, memory
from dashboard.application import PageApplication
from dashboard.components import PlainText
from dashboard.memory import Collector, take_apart


@pytest.fixture
def collections(monkeypatch) -> list[str]:
    """What was asked of the garbage collector."""
    asked: list[str] = []
    names = ("collect", "freeze", "unfreeze")
    spies = {name: lambda *_, name=name: asked.append(name) for name in names}
    monkeypatch.setattr(memory, "gc", SimpleNamespace(**spies))
    return asked


def test_what_is_taken_apart_needs_no_collector():
    class Knot:
        pass

    one, other = Knot(), Knot()
    one.other, other.one = other, one
    seen = weakref.ref(one)
    gc.disable()
    try:
        take_apart([one, other])
        del one, other
        assert seen() is None
    finally:
        gc.enable()


def test_a_closed_page_is_taken_apart(monkeypatch):
    monkeypatch.setattr(application, "create_page", lambda: PlainText("the page"))
    monkeypatch.setattr(application, "keep_out_of_sight", lambda: None)
    closed: list[bool] = []
    pages = PageApplication(on_closed=lambda: closed.append(True))
    session = BokehSessionContext("session", None, Document())
    document = session._document

    async def visit() -> None:
        await pages.on_session_created(session)
        pages.initialize_document(document)

    run_alone(visit())
    (model,) = (model for model in document.models if "text" in model.properties())
    document.destroy(None)
    assert vars(model)
    assert not closed
    run_alone(pages.on_session_destroyed(session))
    assert not vars(model)
    assert closed == [True]


def test_nobody_waits_for_the_collector(collections):
    collector = Collector(lambda: False)
    for _ in range(memory._MOST_CLOSED - 1):
        collector.note_closed()
        collector.collect_after_closing()
    assert collections == []
    collector.note_closed()
    collector.collect_after_closing()
    assert collections == ["unfreeze", "collect", "freeze"]


def test_all_is_collected_when_nobody_is_there(collections):
    Collector(lambda: True).collect_after_closing()
    assert collections == ["unfreeze", "collect", "freeze"]
