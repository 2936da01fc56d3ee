"""The window: a frame that stays, and the page of one dataset in it."""

import logging
import uuid
from functools import cache
from typing import Any, cast

import panel as pn
import panel_material_ui as pmui
from bokeh.document import Document, without_document_lock
from panel.util import edit_readonly

from core.errors import WattfoldError
from core.readings import Dataset
from dashboard import fits, uploads
from dashboard.components import ConnectionNotice, PlainText
from dashboard.data_dialog import DataDialog
from dashboard.datasets import Catalogue
from dashboard.manners import take_turn
from dashboard.memory import belong_together, take_apart
from dashboard.page import Page

_log = logging.getLogger(__name__)

_POLL_MILLISECONDS = 200
_PATIENCE_SECONDS = 1.0

# The library greys the page out until its last plot is drawn: let the wheel turn in the bar, and
# the page be seen. What is clicked before that would be lost, so the cover stays.
_LOADER = """
#loader {background: none; cursor: progress}
#loader .spinner {position: fixed; left: 185px; top: 23px; width: 22px; height: 22px;
                  border-width: 3px}
"""


class Shell:
    """One session's window."""

    def __init__(self, dataset: Dataset, *, link: str = "") -> None:
        self.session = uuid.uuid4().hex
        self.connection = ConnectionNotice()
        self.data = DataDialog(
            self.session, self._show_other, closed=lambda: self.page.keys.give_back()
        )
        self.page = Page(dataset, session=self.session, link=link, open_data=self.data.open)
        self.view = _make_frame(
            header=self.page.header(),
            sidebar=self.page.sidebar(),
            main=[*self.page.main(), self.data.dialog, self.connection],
        )

    def _show_other(self, dataset: Dataset, link: str | None) -> None:
        """Put the page of another dataset in place of this one."""
        self.page.end()
        fits.pool().cancel_session(self.session)
        self.page = Page(dataset, session=self.session, link=link, open_data=self.data.open)
        self.view.param.update(
            header=self.page.header(),
            sidebar=self.page.sidebar(),
            main=[*self.page.main(), self.data.dialog, self.connection],
        )

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something."""
        return self.page.expects_news or self.data.expects_news

    def poll(self) -> None:
        """See how jobs are; called a few times a second."""
        self.page.poll()
        self.data.poll()

    def end(self) -> None:
        """Let go of what the session holds."""
        _log.info("session closed")
        self.page.end()
        fits.pool().cancel_session(self.session)
        self.data.folder.remove()
        take_apart([self.page, self])  # their parts call back to them


def _make_frame(**parts: list[pn.viewable.Viewable]) -> pmui.Page:
    """Make the frame, and cut its tie to what all sessions share.

    A frame that tells when the server is busy walks through all its models twice for every click,
    for seconds in all, and would be kept for ever by what it listens to. What takes long here has
    a progress bar.
    """
    before = _busy_watchers()
    frame = pmui.Page(
        title="Wattfold", busy_indicator=None, raw_css=[_LOADER], sidebar_width=280, **parts
    )
    with edit_readonly(frame):
        frame.busy = False
    for watcher in _busy_watchers():
        if watcher not in before:
            pn.state.param.unwatch(watcher)
    return frame


def _busy_watchers() -> list[Any]:
    return list(pn.state.param.watchers.get("busy", {}).get("value", []))


@cache
def _sweep_once() -> None:
    uploads.sweep()


def create_page() -> pmui.Page:
    """Make the window of a new session."""
    arguments = {
        name: values[0].decode(errors="replace") for name, values in pn.state.session_args.items()
    }
    data = arguments.get("data")
    _sweep_once()
    try:
        dataset = Catalogue.of_server().open(data)
    except WattfoldError as error:
        return pmui.Page(title="Wattfold", main=[PlainText(str(error), look="error", margin=30)])
    shell = Shell(dataset, link=f"data={data}&" if data else "")
    if "view" in arguments:
        shell.page.open_link(arguments["view"])

    def keep_polling() -> None:
        doc = cast(Document, pn.state.curdoc)

        # Without the document's lock, which costs far more than this look.
        @without_document_lock
        async def look() -> None:
            if shell.expects_news:
                await take_turn()
                if doc.session_context is not None:  # it may have been closed meanwhile
                    doc.add_next_tick_callback(shell.poll)

        doc.add_periodic_callback(look, _POLL_MILLISECONDS)  # type: ignore[arg-type]  # async is fine

    # A first map that is in the store comes with the page. Any other is shown when the browser has
    # the page: Panel drops what changes between sending it and hearing that it is drawn.
    shell.poll()
    shell.page.fitting.wait(_PATIENCE_SECONDS)
    shell.poll()
    belong_together(cast(Document, pn.state.curdoc), shell)
    pn.state.onload(keep_polling)
    pn.state.on_session_destroyed(lambda _: shell.end())
    return shell.view
