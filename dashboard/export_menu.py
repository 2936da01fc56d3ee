"""The Export dialog: files to take away, how to repeat the run, and the way back from a file."""

from collections.abc import Callable

import panel_material_ui as pmui

from core.readings import Dataset
from dashboard.compare_board import Board
from dashboard.components.download import Download
from dashboard.dialogs import make_dialog
from dashboard.export_form import ExportForm
from dashboard.export_jobs import ExportJobs
from dashboard.repeating import Repeating
from dashboard.restoring import Restoring
from dashboard.state import Explorer

_ON_BAR = {"color": "#fff", "textTransform": "none"}


class ExportMenu:
    """The button in the bar and its dialog, which is made when it is first asked for.

    Put ``button``, ``dialog`` and ``download`` on the page and call :meth:`poll` a few times a
    second.
    """

    def __init__(
        self,
        dataset: Dataset,
        explorer: Explorer,
        session: str,
        board: Board,
        *,
        closed: Callable[[], None],
    ) -> None:
        self.dataset = dataset
        self.explorer = explorer
        self.session = session
        self.board = board
        self.download = Download()
        self.button = pmui.Button(
            label="Export",
            icon="download",
            variant="text",
            size="small",
            margin=(0, 6),
            description="Export figures, tables or a report; repeat the run; restore one",
            sx=_ON_BAR,
        )
        self.button.on_click(lambda _: self.open())
        self.dialog = make_dialog("Export", closed=closed)

    def _fill(self) -> None:
        self.jobs = ExportJobs(self.session, self.download)
        self.form = ExportForm(self.dataset, self.explorer, self.jobs, self.board)
        self.repeating = Repeating(self.explorer)
        self.restoring = Restoring(self.explorer, done=self.close)
        self.dialog.objects = [
            pmui.Tabs(
                ("File", self.form.panel),
                ("Repeat", self.repeating.panel),
                ("Restore", self.restoring.panel),
                sizing_mode="stretch_width",
                margin=0,
            )
        ]

    def open(self) -> None:
        """Show the dialog for what is on the map now."""
        if not self.dialog.objects:
            self._fill()
        self.jobs.get_ready()
        self.form.fit()
        self.repeating.tell()
        self.restoring.clear()
        self.dialog.open = True

    def close(self) -> None:
        """Hide the dialog."""
        self.dialog.open = False

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something."""
        return bool(self.dialog.objects)

    def poll(self) -> None:
        """See how the file is."""
        if self.dialog.objects:
            self.form.poll()

    def end(self) -> None:
        """Give up what is being made: the session is over."""
        if self.dialog.objects:
            self.jobs.end()
