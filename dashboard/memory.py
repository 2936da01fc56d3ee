"""Lets closed pages go without holding up those that are open.

A page is some forty thousand objects in a knot that only the garbage collector unties. A full
collection goes through all objects of all pages, for more than a second when twenty are open, and
the server does nothing else meanwhile. So a closed page is taken apart by hand, pages that are open
are kept out of the collector's sight, and what is left is looked for when nobody is there.
"""

import gc
from collections.abc import Callable, Iterable
from typing import cast
from weakref import WeakKeyDictionary

from bokeh.document import Document
from bokeh.model import Model, collect_models
from panel.io import document as panel_document
from panel.io.state import state
from panel.viewable import Viewable
from param import Parameterized

from dashboard.manners import everybody_awake

# Each leaves a quarter of a megabyte until it is looked for.
_MOST_CLOSED = 500


# What a document shows is in it. What is behind it, and what is made but not shown, is only found
# from here.
_owners: WeakKeyDictionary[Document, object] = WeakKeyDictionary()


def belong_together(doc: Document, owner: object) -> None:
    """Let an object go with a document, and with it all that only this object holds."""
    _owners[doc] = owner


def parts_of(doc: Document) -> list[object]:
    """All models of a document, and what on the server goes with them; to be asked once."""
    panes = [pane for pane, _, owner, _ in state._views.values() if owner is doc]
    parts = {id(model): cast(object, model) for model in doc.models}
    _add_held(parts, [*panes, _owners.pop(doc, None)])
    return list(parts.values())


def _add_held(parts: dict[int, object], owners: list[object]) -> None:
    """Add widgets, plots and parameters among the attributes of our own objects, and in them.

    Data and jobs are no page's alone and are not among these.
    """
    waiting, passed = list(owners), set[int]()
    hidden: list[Model] = []
    while waiting:
        item = waiting.pop()
        if id(item) in parts or id(item) in passed:
            continue
        passed.add(id(item))
        match item:
            case Viewable():
                inner = [part for part in item.select() if id(part) not in parts]
                parts |= {id(part): part for part in inner}
                waiting += [getattr(part, "object", None) for part in inner]
            case Model():
                hidden.append(item)
            case dict():
                waiting += item.values()
            case list() | tuple():
                waiting += item
            case _ if type(item).__module__.startswith("dashboard."):
                waiting += getattr(item, "__dict__", {}).values()
                if isinstance(item, Parameterized):
                    parts[id(item)] = item
    parts |= {id(model): model for model in collect_models(*hidden)}


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
    run : callable
        Does some work in the thread in which pages are made.
    """

    def __init__(
        self, is_empty: Callable[[], bool], run: Callable[[Callable[[], None]], object]
    ) -> None:
        self._is_empty = is_empty
        self._run = run
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
            self._run(_collect_all)


def _collect_all() -> None:
    with everybody_awake():
        gc.unfreeze()
        gc.collect()
        gc.freeze()


def keep_out_of_sight() -> None:
    """Let the collector pass over what is there now."""
    with everybody_awake():
        gc.collect(1)  # what is young and dead already
        gc.freeze()
