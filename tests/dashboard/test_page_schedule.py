"""What other threads change on a page arrives whole and in order."""

import asyncio

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.document.events import ModelChangedEvent
from bokeh.models import Div
from page_client import run_alone

from dashboard.page_schedule import act, in_next_turn, on_click, schedule_on, sent_together


@pytest.fixture
def page():
    """A document, a model in it, and the list of what it tells the browser."""
    doc, text, told = Document(), Div(text="old"), []
    doc.add_root(text)
    doc.on_change(lambda event: told.append((event.attr, event.new)))
    return doc, text, told


def test_changes_are_sent_at_the_end_in_their_order(page):
    doc, text, told = page
    with sent_together(doc):
        text.text = "new"
        text.width = 10
        assert told == []
    assert told == [("text", "new"), ("width", 10)]


def test_the_outermost_block_sends(page):
    doc, text, told = page
    with sent_together(doc):
        with sent_together(doc):
            text.text = "new"
        assert told == []
    assert told == [("text", "new")]


def test_what_had_changed_before_an_error_is_sent(page):
    doc, text, told = page
    with pytest.raises(ZeroDivisionError), sent_together(doc):
        text.text = "new"
        text.width = 1 // 0
    text.width = 10
    assert told == [("text", "new"), ("width", 10)]


def test_a_script_without_a_page_is_not_kept_waiting():
    called = []
    schedule_on(None)(lambda: called.append(1))
    assert called == [1]


def test_what_is_asked_for_several_times_in_a_turn_is_done_once(monkeypatch):
    doc, called = ServedDocument(), []
    ask = in_next_turn(lambda: called.append(1))
    ask()
    assert called == [1]  # no browser waits
    monkeypatch.setattr(type(pn.state), "curdoc", doc)
    monkeypatch.setattr(type(pn.state), "loaded", True)
    ask()
    ask()
    assert called == [1]
    (asked,) = doc.session_callbacks
    asked.callback()
    assert called == [1, 1]
    ask()
    assert len(doc.session_callbacks) == 1


def test_what_a_click_changes_is_sent_whole_in_a_turn_of_its_own(monkeypatch):
    """Or Panel may keep it back until after what a job changes."""
    doc, told = ServedDocument(), []
    text = Div(text="old")
    doc.add_root(text)
    doc.on_change(lambda event: isinstance(event, ModelChangedEvent) and told.append(event.new))
    button = pn.widgets.Button()
    on_click(button, lambda: text.update(text="clicked", width=10))
    button.clicks += 1
    assert told == ["clicked", 10]  # no browser waits
    monkeypatch.setattr(type(pn.state), "curdoc", doc)
    monkeypatch.setattr(type(pn.state), "loaded", True)
    text.text = "old"
    button.clicks += 1
    assert text.text == "old"
    (asked,) = doc.session_callbacks
    doc.hold("combine")  # as where a job's changes are being made
    asked.callback()
    assert text.text == "clicked"
    assert told[-1] == "old"
    doc.unhold()
    assert told[-1] == "clicked"


def test_errors_of_a_click_go_where_those_of_widgets_go(monkeypatch):
    doc, failures = ServedDocument(), []
    monkeypatch.setattr(type(pn.state), "curdoc", doc)
    monkeypatch.setattr(type(pn.state), "loaded", True)
    monkeypatch.setattr(pn.config, "exception_handler", failures.append)
    act(lambda: 1 // 0)
    doc.session_callbacks[0].callback()
    assert [type(failure) for failure in failures] == [ZeroDivisionError]


class ServedDocument(Document):
    """A document of a session that is open."""

    session_context = object()


@pytest.mark.parametrize(("doc", "asked"), [(ServedDocument(), 1), (Document(), 0)])
def test_only_a_session_that_is_open_is_given_work(doc, asked):
    async def ask() -> None:
        schedule_on(doc)(lambda: None)
        for _ in range(5):
            await asyncio.sleep(0)

    run_alone(ask())
    assert len(doc.session_callbacks) == asked
