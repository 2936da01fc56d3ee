import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace

import panel as pn
import pytest
from bokeh.application.handlers.document_lifecycle import DocumentLifecycleHandler
from bokeh.document import Document
from bokeh.plotting import figure
from bokeh.server.contexts import BokehSessionContext
from page_client import run_alone

from core.readings import Dataset
from dashboard import application, memory
from dashboard.application import PageApplication
from dashboard.components import PlainText
from dashboard.history import History
from dashboard.memory import Collector, belong_together, parts_of, take_apart
from dashboard.shell import Shell


@pytest.fixture
def collections(monkeypatch) -> list[str]:
    """What was asked of the garbage collector."""
    asked: list[str] = []
    names = ("collect", "freeze", "unfreeze")
    spies = {name: lambda *_, name=name: asked.append(name) for name in names}
    monkeypatch.setattr(memory, "gc", SimpleNamespace(**spies))
    return asked


def at_once(work: Callable[[], None]) -> None:
    work()


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


class Part:
    """Stands for an object of the page that is neither widget nor plot."""

    __module__ = "dashboard.part"


def test_what_is_made_but_not_shown_goes_with_its_page():
    hidden, inner = PlainText("not shown"), PlainText("within")
    plot = figure()
    line = plot.line([1, 2], [3, 4])
    owner, other = Part(), Part()
    owner.other, other.owner = other, owner
    other.tabs = {"later": [pn.Column(inner)], "pane": pn.pane.Bokeh(plot)}
    owner.hidden = (hidden,)
    owner.history = History()
    document = Document()
    belong_together(document, owner)
    parts = {id(part) for part in parts_of(document)}
    for part in (hidden, inner, plot, line.glyph, line.data_source, owner.history):
        assert id(part) in parts, part
    assert parts_of(document) == []  # it is asked once, and kept by nobody


def test_what_others_may_have_is_left_alone(demo_path):
    owner, shared = Part(), Part()
    shared.data, owner.shared = [1, 2], shared
    owner.dataset = Dataset.open(demo_path)
    document = Document()
    belong_together(document, owner)
    assert parts_of(document) == []


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the widget library's own
def test_a_page_that_is_closed_needs_no_collector(demo_path, monkeypatch):
    monkeypatch.setenv("WATTFOLD_DATA", str(demo_path))
    monkeypatch.setattr(application, "keep_out_of_sight", lambda: None)
    left: list[weakref.ref[object]] = []

    def note_parts(shell: Shell) -> None:
        page = shell.page
        parts = (
            shell.view,
            page.map,
            page.detail,
            page.compare,
            page.fitting,
            page.sharing,
            page.tabs,
        )
        left.extend(weakref.ref(part) for part in parts)

    monkeypatch.setattr(Shell, "poll", note_parts)  # called once the page is put together
    pages = PageApplication()
    pages.add(DocumentLifecycleHandler())  # as Bokeh's server does

    async def visit() -> None:
        session = BokehSessionContext("session", None, Document())
        await pages.on_session_created(session)
        pages.initialize_document(session._document)
        gc.disable()
        session._document.destroy(None)
        await pages.on_session_destroyed(session)

    try:
        run_alone(visit())
        assert left
        assert {type(part()).__name__ for part in left} == {"NoneType"}
    finally:
        gc.enable()


def test_nobody_waits_for_the_collector(collections):
    collector = Collector(lambda: False, at_once)
    for _ in range(memory._MOST_CLOSED - 1):
        collector.note_closed()
        collector.collect_after_closing()
    assert collections == []
    collector.note_closed()
    collector.collect_after_closing()
    assert collections == ["unfreeze", "collect", "freeze"]


def test_all_is_collected_when_nobody_is_there(collections):
    Collector(lambda: True, at_once).collect_after_closing()
    assert collections == ["unfreeze", "collect", "freeze"]
