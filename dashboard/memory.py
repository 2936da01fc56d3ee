"""Lets closed pages go without holding up those that are open.

A page is some forty thousand objects in a knot that only the garbage collector unties. A full
collection goes through all objects of all pages, for more than a second when twenty are open, and
the server does nothing else meanwhile. So a closed page is taken apart by hand, pages that are open
are kept out of the collector's sight, and what is left is looked for when nobody is there.
"""

import gc
from collections.abc import Callable, Iterable
from typing import cast

from bokeh.document import Document
from panel.io import document as panel_document
from panel.io.state import state
from panel.viewable import Viewable

# Each leaves about a megabyte until it is looked for.
_MOST_CLOSED = 200


def parts_of(doc: Document) -> list[object]:
    """All models of a document, and what on the server goes with them."""
    panes = [cast(Viewable, pane) for pane, _, owner, _ in state._views.values() if owner is doc]
    return [*doc.models, *(part for pane in panes for part in pane.select())]


def take_apart(parts: Iterable[object]) -> None:
    """Empty objects that nobody will use again."""
    for part in parts:
        vars(part).clear()


class Collector:
    """Decides when to go through all objects; Panel would do so after every page that is closed.

    Parameters
    ----------
    is_empty : callable
        Whether nobody has a page open.
    """

    def __init__(self, is_empty: Callable[[], bool]) -> None:
        self._is_empty = is_empty
        self._closed = 0

    def take_over(self) -> None:
        """Be called in place of Panel's collection, some seconds after pages were closed."""
        panel_document._garbage_collect = self.collect_after_closing

    def note_closed(self) -> None:
        """Count a page that was closed."""
        self._closed += 1

    def collect_after_closing(self) -> None:
        """Look for what closed pages left, if that holds up nobody or must be."""
        if self._is_empty() or self._closed >= _MOST_CLOSED:
            self._closed = 0
            gc.unfreeze()
            gc.collect()
            gc.freeze()


def keep_out_of_sight() -> None:
    """Let the collector pass over what is there now."""
    gc.collect(1)  # what is young and dead already
    gc.freeze()
