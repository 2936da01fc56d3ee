"""What the browser keeps: the address of the page, its title, and notes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
import param
from panel.custom import JSComponent


class _Unseen(JSComponent):
    """A component that shows nothing; messages from the browser go to ``told``."""

    __abstract = True

    def __init__(self, told: Callable[[Any], None], **parameters: Any) -> None:
        super().__init__(width=0, height=0, margin=0, **parameters)
        self._told = told

    def _handle_msg(self, message: Any) -> None:
        # Scheduled: Panel hands messages on without the lock that changing Bokeh models needs.
        pn.state.execute(partial(self._told, message), schedule=True)


class PageAddress(_Unseen):
    """The query of the page's address, and its title.

    ``told`` is called with the query that the visitor goes back or forward to.
    """

    query = param.String(default="", doc="What the address has after its path, from `?` on")
    title = param.String(default="Wattfold", doc="Of the window")

    _esm = Path(__file__).with_name("address.js")


class BrowserStore(_Unseen):
    """An object that the browser keeps under a key; ``told`` is called with what it kept before."""

    key = param.String(default="", doc="The name of the object")
    content = param.Dict(default={}, doc="What to keep from now on")

    _esm = Path(__file__).with_name("store.js")
