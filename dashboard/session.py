"""A visitor's session: a frame that stays, and the page of one dataset in it."""

import logging
from functools import cache
from typing import cast

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.document import Document
from panel.util import edit_readonly

from core.errors import WattfoldError
from core.readings import Dataset
from dashboard.catalogue import Catalogue
from dashboard.data import OpenDataDialog
from dashboard.jobs import SessionFolder, SessionPool, run_jobs
from dashboard.jobs.session_folder import remove_abandoned_folders
from dashboard.jobs.workspace import Workspace
from dashboard.page import DatasetPage
from dashboard.page_schedule import schedule_on
from dashboard.widgets import ConnectionNotice, PlainText

_log = logging.getLogger(__name__)

# How long a new page waits for a first map that is stored.
_FIRST_MAP_SECONDS = 1.0

_FAILED = "The page could not be made; the server's log says why. Reload it to try again."

# The library greys the page out until its last plot is drawn: let the wheel turn in the bar, and
# the page be seen. What is clicked before that would be lost, so the cover stays, unless the server
# is gone: then the notice offers a reload.
_LOADER = """
#loader {background: none; cursor: progress}
#loader.error {pointer-events: none}
#loader .spinner {position: fixed; left: 185px; top: 23px; width: 22px; height: 22px;
                  border-width: 3px}
"""


class Session:
    """What one visitor has open, until it is disposed of."""

    def __init__(self, dataset: Dataset, *, link: str = "") -> None:
        self.pool = SessionPool(run_jobs.pool(), schedule_on(pn.state.curdoc))
        self.folder = SessionFolder()
        self.connection = ConnectionNotice()
        self.data = OpenDataDialog(
            self.pool, self.folder, self._show_other, closed=lambda: self.page.keys.restore_focus()
        )
        self.page = self._make_page(Workspace.of_server(dataset, self.pool), link)
        self.view = _make_frame(
            header=self.page.header(), sidebar=self.page.sidebar(), main=self._main()
        )
        self.view.param.watch(self._follow_theme, "dark_theme")
        self._follow_theme()

    def _follow_theme(self, *_: object) -> None:
        self.page.explorer.dark = self.view.dark_theme

    def _make_page(self, workspace: Workspace, link: str | None) -> DatasetPage:
        return DatasetPage(workspace, self.folder, link=link, open_data=self.data.open)

    def _main(self) -> list[pn.viewable.Viewable]:
        return [*self.page.main(), self.data.dialog, self.connection]

    def _show_other(self, workspace: Workspace, link: str | None) -> None:
        """Show another dataset in place of this one."""
        self.pool.cancel_all()
        self.page = self._make_page(workspace, link)
        self.view.param.update(
            header=self.page.header(), sidebar=self.page.sidebar(), main=self._main()
        )
        self._follow_theme()
        self.page.run_controller.follow_settings()

    def dispose(self) -> None:
        """Cancel the session's jobs and remove its files."""
        _open_sessions.discard(self)
        self.pool.cancel_all()
        self.folder.remove()


_open_sessions: set[Session] = set()


def count_sessions() -> int:
    """How many sessions are open in this process."""
    return len(_open_sessions)


def dispose_all_sessions() -> None:
    """End all sessions, as when the server stops."""
    for session in list(_open_sessions):
        session.dispose()


def _make_frame(**parts: list[pn.viewable.Viewable]) -> pmui.Page:
    """Make the frame, and cut its tie to what all sessions share.

    The library's frame refers to ``pn.state.param.busy``, which would keep every frame for ever
    (holoviz/param#963) and goes through all its models twice for every click. A reference to
    something of its own takes the place of that one; what takes long here has a progress bar.
    """
    frame = pmui.Page(
        title="Wattfold", busy_indicator=None, raw_css=[_LOADER], sidebar_width=280, **parts
    )
    with edit_readonly(frame):
        frame.busy = param.rx(False)
    return frame


@cache
def _sweep_once() -> None:
    remove_abandoned_folders()


def create_page() -> pmui.Page:
    """Make the page of a new session, or one that says what is wrong."""
    doc = cast(Document, pn.state.curdoc)
    # The page has a notice of its own, and a session that is gone does not come back.
    doc.config.update(reconnect_session=False, notifications=None, notify_connection_status=False)
    try:
        return _create_page(doc)
    except WattfoldError as error:
        return _page_with_error(str(error))
    except Exception:
        if doc.session_context is None or doc.session_context.server_context is None:
            raise  # made to get warm: a server that cannot make its page does not start
        _log.exception("cannot make a page")
        return _page_with_error(_FAILED)


def _page_with_error(text: str) -> pmui.Page:
    return _make_frame(main=[PlainText(text, look="error", margin=30)])


def _create_page(doc: Document) -> pmui.Page:
    arguments = {
        name: values[0].decode(errors="replace") for name, values in pn.state.session_args.items()
    }
    data = arguments.get("data")
    _sweep_once()
    dataset = Catalogue.of_server().open(data)
    session = Session(dataset, link=f"data={data}&" if data else "")
    if "view" in arguments:
        session.page.open_link(arguments["view"])

    # A first map that is stored comes with the page. Any other is shown when the browser has it.
    session.page.run_controller.follow_settings(wait_seconds=_FIRST_MAP_SECONDS)
    pn.state.on_session_destroyed(lambda _: _close(session))
    _open_sessions.add(session)
    _log.info("session opened", extra={"sessions": count_sessions()})
    return session.view


def _close(session: Session) -> None:
    session.dispose()
    _log.info("session closed", extra={"sessions": count_sessions()})
