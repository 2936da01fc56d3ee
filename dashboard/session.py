"""A visitor's session: a frame that stays, and the page of one dataset in it."""

import logging
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, cast

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.document import Document
from jinja2 import Template
from panel.io.resources import get_dist_path
from panel.util import edit_readonly

from core.errors import WattfoldError
from core.readings import Dataset
from core.readings.dataset import DatasetChangedError
from dashboard.catalogue import Catalogue
from dashboard.data import OpenDataDialog
from dashboard.failures import report_failure
from dashboard.jobs import SessionFolder, SessionPool, run_jobs
from dashboard.jobs.session_folder import remove_abandoned_folders
from dashboard.jobs.workspace import CHANGED, Workspace
from dashboard.page import DatasetPage
from dashboard.page_schedule import schedule_on
from dashboard.theme import MATERIAL, PAGE_CSS
from dashboard.widgets import Appearance, PageNotice, PlainText

_log = logging.getLogger(__name__)

# How long a new page waits for a stored first map. The server blocks for that time.
_FIRST_MAP_SECONDS = 0.3

_NOT_HERE = (
    "The data of this link are not on this server, or not any more. These are other data: {name}."
)

# From one look whether the dataset is still what it was to the next.
_LOOK_MILLISECONDS = 10_000


class Session:
    """What one visitor has open, until it is disposed of.

    Its frame is there at once; all that is in it is made by :meth:`fill`.
    """

    page: DatasetPage

    def __init__(self) -> None:
        self.doc = pn.state.curdoc
        self.view = _make_frame()
        self.notice = PageNotice()
        self._at_end = ExitStack()

    def fill(self, dataset: Dataset, *, link: str = "") -> None:
        """Make the page of a dataset, without a map."""
        self.folder = SessionFolder()
        self._at_end.callback(self.folder.remove)
        self.pool = SessionPool(run_jobs.pool(), schedule_on(self.doc))
        self._at_end.callback(self.pool.cancel_all)
        self.appearance = Appearance()
        self.data = OpenDataDialog(
            self.pool, self.folder, self._show_other, closed=lambda: self.page.keys.restore_focus()
        )
        self.page = self._make_page(Workspace.of_server(dataset, self.pool), link)
        # Panel does not get to the map: Bokeh has emptied the models between by then.
        self._at_end.callback(lambda: self.page.map.streams.close())
        self.view.param.update(header=self.page.header(), main=self._main())
        # Scheduled: a browser that prefers dark says so while its page is still being drawn.
        self.view.param.watch(lambda _: self.pool.schedule(self._follow_theme), "dark_theme")
        self._follow_theme()

    def _follow_theme(self, *_: object) -> None:
        self.page.explorer.dark = self.view.dark_theme

    def _make_page(self, workspace: Workspace, link: str | None) -> DatasetPage:
        return DatasetPage(workspace, self.folder, link=link, open_data=self.data.open)

    def _main(self) -> list[pn.viewable.Viewable]:
        return [*self.page.main(), self.data.dialog, self.notice, self.appearance]

    def _show_other(self, workspace: Workspace, link: str | None) -> None:
        """Show another dataset in place of this one."""
        self.pool.cancel_all()
        self.page = self._make_page(workspace, link)
        self.view.param.update(header=self.page.header(), main=self._main())
        self._follow_theme()
        self.page.run_controller.follow_settings()

    def look_at_dataset(self) -> None:
        """Say so if the dataset is no longer what the page shows."""
        if not self.page.dataset.is_unchanged():
            self.notice.tell(CHANGED, offers_reload=True)

    def tell_failure(self, error: BaseException) -> None:
        """Say what went wrong on the page."""
        if isinstance(error, DatasetChangedError):
            self.look_at_dataset()
        elif isinstance(error, WattfoldError):
            self.notice.tell(str(error))
        else:
            self.notice.tell(report_failure(_log, "an action on a page failed", error))

    def dispose(self) -> None:
        """Cancel the session's jobs and remove its files."""
        _open_sessions.discard(self)
        self._at_end.close()


_open_sessions: set[Session] = set()


def count_sessions() -> int:
    """How many sessions are open in this process."""
    return len(_open_sessions)


def tell_failure(error: BaseException) -> None:
    """Say on the page of the session that is served what went wrong there; Panel calls this."""
    for session in _open_sessions:
        if session.doc is pn.state.curdoc:
            session.tell_failure(error)
            return
    report_failure(_log, "an action failed", error)


def dispose_all_sessions() -> None:
    """End all sessions, as when the server stops."""
    for session in list(_open_sessions):
        try:
            session.dispose()
        except Exception as error:
            report_failure(_log, "cannot end a session", error)


# The library's page with all files that it loads at its end: there, they do not keep the browser
# from painting the empty panes that stand before them. In a layer, because the colours of Panel's
# style sheets must not win over those of the theme, which stand before them now.
_FILES_LAST = Template("""
{%- extends library_page %}
{%- block css_resources %}{% endblock %}
{%- block js_resources %}{% endblock %}
{%- block postamble %}
{%- for css in resources.raw_css %}<style>{{ css }}</style>{% endfor %}
{%- endblock %}
{%- block contents %}
{{- super() }}
{{- bokeh_css if bokeh_css }}
{%- for url in resources.css.values() %}
<style>@import url("{{ url }}") layer(library);</style>
{%- endfor %}
{{- bokeh_js if bokeh_js }}
{%- for url in resources.js.values() %}<script src="{{ url }}"></script>{% endfor %}
{%- for url in resources.js_modules.values() %}
<script src="{{ url }}" type="module"></script>
{%- endfor %}
{%- endblock %}
""")


class PageFrame(pmui.Page):
    """The library's frame, painted before its files are loaded."""

    def server_doc(self, *arguments: Any, **options: Any) -> Document:
        """Fill a document with the page."""
        doc = super().server_doc(*arguments, **options)
        doc.template_variables["library_page"] = doc.template
        doc.template = _FILES_LAST
        return doc


def _make_frame(**parts: list[pn.viewable.Viewable]) -> pmui.Page:
    """Make the frame, and cut its tie to what all sessions share.

    The library's frame refers to ``pn.state.param.busy``, which would keep every frame for ever
    (holoviz/param#963) and goes through all its models twice for every click. A reference to
    something of its own takes the place of that one; what takes long here has a progress bar.
    """
    frame = PageFrame(
        title="",
        meta_title="Wattfold",
        meta_viewport="width=device-width, initial-scale=1",
        busy_indicator=None,
        raw_css=[PAGE_CSS],
        theme_config=MATERIAL,
        **parts,
    )
    with edit_readonly(frame):
        frame.busy = param.rx(False)
    return frame


@cache
def _sweep_once() -> None:
    remove_abandoned_folders()


def create_page(root: Path | None = None) -> pmui.Page:
    """Make the page of a new session, or one that says what is wrong.

    Parameters
    ----------
    root : path, optional
        A dataset directory, or a folder of them; by default what the server shows.
    """
    doc = cast(Document, pn.state.curdoc)
    # Where style sheets are. The library learns it from the request for the page, which is missing
    # if the browser connects so late that its session has ended and is made anew.
    doc.template_variables["dist_url"] = get_dist_path(cdn=False)
    # The page has a notice of its own, and a session that is gone does not come back.
    pn.config.exception_handler = tell_failure
    doc.config.update(reconnect_session=False, notifications=None, notify_connection_status=False)
    try:
        return _create_page(doc, Catalogue(root) if root else Catalogue.of_server())
    except Exception as error:
        if not (_is_served(doc) or isinstance(error, WattfoldError)):
            raise  # made to get warm: a server that cannot make its page does not start
        return _make_frame(main=_error_text(_words_of(error)))


def _is_served(doc: Document) -> bool:
    """Whether a browser has asked for the page; else it is made to get warm, or by a test."""
    return doc.session_context is not None and doc.session_context.server_context is not None


def _words_of(error: Exception) -> str:
    """Why there is no page."""
    if isinstance(error, WattfoldError):
        return str(error)
    return report_failure(_log, "cannot make a page", error)


def _error_text(text: str) -> list[pn.viewable.Viewable]:
    return [PlainText(text, look="error", margin=30)]


def _create_page(doc: Document, catalogue: Catalogue) -> pmui.Page:
    arguments = {
        name: values[0].decode(errors="replace") for name, values in pn.state.session_args.items()
    }
    data = arguments.get("data")
    is_here = data is None or data in catalogue.paths()
    _sweep_once()
    dataset = catalogue.open(data if is_here else None)
    session = Session()

    def fill() -> None:
        session.fill(dataset, link=f"data={data}&" if data and is_here else "")
        doc.add_periodic_callback(session.look_at_dataset, _LOOK_MILLISECONDS)

    def show_map() -> None:
        if not is_here:
            warning = _NOT_HERE.format(name=dataset.path.name)
            session.page.run_controller.warning.say(warning)
        elif "view" in arguments:
            session.page.open_link(arguments["view"])
        # A first map that is stored comes with the page; any other when the browser has it.
        session.page.run_controller.follow_settings(wait_seconds=_FIRST_MAP_SECONDS)

    def fill_served() -> None:
        try:
            fill()
        except Exception as error:
            session.view.main = [*_error_text(_words_of(error)), session.notice]
        else:
            doc.add_next_tick_callback(show_map_served)

    def show_map_served() -> None:
        try:
            show_map()
        except Exception as error:
            session.tell_failure(error)

    if _is_served(doc):
        # While the browser loads its files; its websocket is answered after that. In two steps, so
        # that the pages of others are served between them.
        doc.add_next_tick_callback(fill_served)
    else:
        fill()
        show_map()
    pn.state.on_session_destroyed(lambda _: _close(session))
    _open_sessions.add(session)
    _log.info("session opened", extra={"sessions": count_sessions()})
    return session.view


def _close(session: Session) -> None:
    session.dispose()
    _log.info("session closed", extra={"sessions": count_sessions()})
