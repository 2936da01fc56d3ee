"""What the browser keeps: the address of the page, its title, and notes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.jobs import Schedule


class _Unseen(JSComponent):
    """A component that shows nothing; what the browser tells goes to ``told`` by ``schedule``."""

    __abstract = True

    def __init__(self, told: Callable[[Any], None], schedule: Schedule, **parameters: Any) -> None:
        super().__init__(width=0, height=0, margin=0, **parameters)
        self._told = told
        self._schedule = schedule

    def _handle_msg(self, message: Any) -> None:
        # Scheduled: Panel hands messages on without the lock that changing Bokeh models needs, and
        # the first come while the page is still being drawn.
        self._schedule(partial(self._told, message))


class PageAddress(_Unseen):
    """The query of the page's address, and its title.

    ``told`` is called with the query that the visitor goes back or forward to.
    """

    query = param.String(default="", doc="What the address has after its path, from `?` on")
    title = param.String(default="Wattfold", doc="Of the window")

    _esm = Path(__file__).with_name("address.js")


class BrowserStore(_Unseen):
    """An object that the browser keeps under a key, for all pages that name it.

    ``told`` is called with ``{"new": …}``, what it kept before, and with ``{"old": …, "new": …}``
    when another page has changed that. What this page changes is added to what others changed.
    """

    key = param.String(default="", doc="The name of the object")
    content = param.Dict(default={}, doc="What to keep from now on")

    _esm = Path(__file__).with_name("store.js")
