"""How work of other threads reaches the page of a session."""

from collections.abc import Callable

import panel as pn
from bokeh.document import Document

from dashboard.jobs import Schedule


def schedule_on(doc: Document | None) -> Schedule:
    """Return a function that has callbacks called on the page of a document, from any thread.

    They wait until the browser has drawn the page: Panel drops what changes between sending the
    page and then. Without a document, as in a script, they are called at once. What one raises goes
    where errors of widgets go: to ``pn.config.exception_handler``.
    """
    if doc is None:
        return lambda callback: callback()

    def schedule(callback: Callable[[], None]) -> None:
        def call() -> None:
            try:
                # As Panel sends its own changes: what goes to the browser another way can overtake
                # them, and then changes a model that the browser has not heard of.
                with pn.io.unlocked():
                    callback()
            except Exception as error:
                if pn.config.exception_handler is None:
                    raise
                pn.config.exception_handler(error)

        if doc.session_context is not None:  # None once the session is closed
            doc.add_next_tick_callback(lambda: pn.state.onload(call))

    return schedule
