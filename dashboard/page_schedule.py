"""How what users ask for and what jobs bring reaches the page of a session, in order."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import panel as pn
from bokeh.document import Document
from tornado.ioloop import IOLoop

from dashboard.jobs import Schedule


@contextmanager
def sent_together(doc: Document | None) -> Iterator[None]:
    """Send all changes of a page at the end, in their order and under the document's lock.

    On its own Panel sends its changes past that lock: they overtake those of Bokeh, and while the
    connection is busy some are kept back until something else changes.
    """
    if doc is None or doc.callbacks.hold_value:
        yield
        return
    doc.hold("combine")
    try:
        yield
    finally:
        doc.unhold()


def _change(doc: Document | None, change: Callable[[], None]) -> None:
    """Change a page; errors go where those of widgets go: to ``pn.config.exception_handler``."""
    try:
        with sent_together(doc):
            change()
    except Exception as error:
        if pn.config.exception_handler is None:
            raise
        pn.config.exception_handler(error)


def act(action: Callable[[], None]) -> None:
    """Do what a click or a message of the browser asks for, in a turn of the event loop of its own.

    There the document is locked, which Panel does not see to for messages, and what changes is sent
    before that which a job changes later.
    """
    doc = pn.state.curdoc
    if doc is None or doc.session_context is None or not pn.state.loaded:
        action()
    else:
        doc.add_next_tick_callback(lambda: _change(doc, action))


def on_click(button: Any, action: Callable[[], None]) -> None:
    """Have an action done when a button is clicked, see :func:`act`."""
    button.on_click(lambda _: act(action))


def in_next_turn(callback: Callable[[], None]) -> Callable[..., None]:
    """Return a function that has a callback called in the next turn of the event loop.

    Once, however often it is asked for until then, and under the document's lock. Where no browser
    shows the page yet, at once. The function ignores its arguments: it can watch parameters.
    """
    is_due = False

    def call() -> None:
        nonlocal is_due
        is_due = False  # first: a change from now on needs another call
        _change(pn.state.curdoc, callback)

    def ask(*_: object) -> None:
        nonlocal is_due
        doc = pn.state.curdoc
        if doc is None or doc.session_context is None or not pn.state.loaded:
            call()
        elif not is_due:
            is_due = True
            doc.add_next_tick_callback(call)

    return ask


def schedule_on(doc: Document | None) -> Schedule:
    """Return a function that has callbacks called on the page of a document, from any thread.

    They wait until the browser has drawn the page: Panel drops what changes between sending the
    page and then. Without a document, as in a script, they are called at once. What one raises goes
    where errors of widgets go: to ``pn.config.exception_handler``.
    """
    if doc is None:
        return lambda callback: callback()
    loop = IOLoop.current()

    def schedule(callback: Callable[[], None]) -> None:
        def ask() -> None:
            if doc.session_context is not None:  # None once the session is closed
                doc.add_next_tick_callback(lambda: pn.state.onload(partial(_change, doc, callback)))

        # From the loop: a document that is on hold there keeps the news of a callback in a list
        # which it may be about to replace.
        loop.add_callback(ask)

    return schedule
