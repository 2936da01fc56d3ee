"""Undo, redo, a link to the view, and the session as a file."""

import io
from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from dashboard.export._import_file import ImportPanel
from dashboard.jobs import SessionFolder, coalesced
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer, Step, UndoHistory, ViewState
from dashboard.state.session_file import write_session
from dashboard.state.view_state import REMEMBERED
from dashboard.theme import NOT_ON_PHONES
from dashboard.widgets import CopyText, PlainText, column, make_dialog

# The library puts the tooltip to the right, over the next button: put it below.
_BELOW = """
.MuiTooltip-popper {pointer-events: none; margin: 38px 0 0 -52px !important}
.MuiTooltip-arrow {display: none}
"""
_ABOUT_LINK = (
    "Opens this view: settings, colours, zoom, and the selected points. It holds no readings, no "
    "notes and no household ids; whoever opens it needs this server and its data."
)
_ABOUT_FILE = (
    "Keeps the view, your notes, the worklist and the saved groups, to continue another day or on "
    "another machine. Worklists of several people are put together when their files are restored."
)


class Sharing:
    """The buttons in the bar, and a dialog whose widgets are made when it is first opened.

    ``link`` is what the query of a link has before the view; None for data without a link.
    """

    def __init__(
        self,
        workspace: Workspace,
        folder: SessionFolder,
        explorer: Explorer,
        link: str | None = "",
        *,
        closed: Callable[[], None],
    ) -> None:
        self.folder = folder
        self.explorer = explorer
        self._link = link
        self.history = UndoHistory()
        # What one action changes is one step.
        remember = coalesced(workspace.pool.schedule, self._remember)
        explorer.param.watch(remember, list(REMEMBERED))
        explorer.flagged.param.watch(remember, "worklist")
        self.bar = pn.Row(
            pn.Row(
                self._button("undo", "Undo (Ctrl+Z)", self.undo, self.history.param.can_undo),
                self._button("redo", "Redo (Ctrl+Shift+Z)", self.redo, self.history.param.can_redo),
                margin=0,
                stylesheets=[NOT_ON_PHONES],
            ),
            self._button("share", "Share or save", self.open),
            margin=0,
            align="center",
        )
        self.dialog = make_dialog("Share or save", closed=closed)

    def _fill(self) -> None:
        self.link = CopyText(
            label="Link", is_query=True, sizing_mode="stretch_width", margin=(4, 0)
        )
        self.problem = PlainText(look="error", visible=False, sizing_mode="stretch_width", margin=0)
        self.notice = PlainText(look="quiet", visible=False, sizing_mode="stretch_width", margin=0)
        self.saved = pmui.FileDownload(
            callback=self._session_file,
            filename="wattfold-session.json",
            label="Save session",
            size="small",
            variant="outlined",
            margin=(4, 8, 4, 0),
        )
        self.restore = ImportPanel(self.explorer, self.folder, done=self._close)
        self.dialog.objects = [
            column(
                PlainText("Link", look="heading", margin=0),
                PlainText(_ABOUT_LINK, look="quiet", sizing_mode="stretch_width", margin=0),
                self.link,
                pn.Spacer(height=14),
                PlainText("Session file", look="heading", margin=0),
                PlainText(_ABOUT_FILE, look="quiet", sizing_mode="stretch_width", margin=0),
                self.saved,
                self.problem,
                self.notice,
                pn.Spacer(height=14),
                PlainText("Go back to something saved", look="heading", margin=0),
                self.restore.panel,
            )
        ]

    def _button(
        self,
        icon: str,
        text: str,
        action: Callable[[], None],
        enabled: param.Parameter | None = None,
    ) -> pmui.IconButton:
        button = pmui.IconButton(
            icon=icon,
            description=text,
            size="small",
            margin=(0, 2),
            disabled=False if enabled is None else enabled.rx.not_(),
            stylesheets=[_BELOW],
        )
        on_click(button, action)
        return button

    # Undo and redo

    def _remember(self) -> None:
        """Add what is seen to the history, if its run is there and its first point is known."""
        view = self.explorer.view_state()
        if view is not None and view.selected is not None:
            self.history.add(Step(view, self.explorer.flagged.own))
            if self.dialog.open:
                self._offer(view)

    def undo(self) -> None:
        """Go back one step; or drop settings whose run is not on the map."""
        self._remember()
        explorer, current = self.explorer, self.history.current
        is_new = explorer.run is not None and explorer.view_state() is None
        if is_new and not explorer.is_restoring:
            if current is not None:
                explorer.restore(current.view)
        else:
            self._go(self.history.undo())

    def redo(self) -> None:
        """Take the step that was undone last."""
        self._go(self.history.redo())

    def _go(self, step: Step | None) -> None:
        if step is not None:
            self.explorer.restore(step.view)
            self.explorer.flagged.restore(step.flags)

    # Links and files

    def open(self) -> None:
        """Show the dialog with a link to the current view."""
        if not self.dialog.objects:
            self._fill()
        self.restore.clear()
        self._offer(self.explorer.view_state())
        self.dialog.open = True

    def _offer(self, view: ViewState | None) -> None:
        link = notice = problem = ""
        if view is None:
            notice = "The link and the file are ready as soon as the map shows your settings."
        elif self._link is None:
            notice = "There is no link to your own data: save a session file instead."
        else:
            try:
                link = f"?{self._link}view={view.to_token(self.explorer.dataset)}"
            except WattfoldError as error:
                problem = str(error)
        self.link.text = link
        self.notice.say(notice)
        self.problem.say(problem)
        self.saved.disabled = view is None

    def _session_file(self) -> io.BytesIO:
        view = self.explorer.view_state()
        if view is None:  # it was there when the button was drawn
            view = ViewState(config=self.explorer.config())
        explorer = self.explorer
        content = write_session(
            view,
            explorer.notes,
            explorer.dataset,
            worklist=explorer.flagged.worklist,
            groups=explorer.groups.groups,
        )
        return io.BytesIO(content)

    def _close(self) -> None:
        self.dialog.open = False
