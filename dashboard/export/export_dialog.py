"""The Export dialog: files to take away, how to reproduce the run, and the way back."""

from collections.abc import Callable

import panel_material_ui as pmui

from dashboard.compare import Comparison
from dashboard.export._export_form import ExportForm
from dashboard.export._import_file import ImportPanel
from dashboard.export._reproduce_panel import ReproducePanel
from dashboard.export.file_job import FileJob
from dashboard.jobs import SessionFolder
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.state import Explorer
from dashboard.theme import NOT_ON_PHONES
from dashboard.widgets import Download, make_dialog


class ExportDialog:
    """The button in the bar and its dialog, whose widgets are made when it is first opened.

    Put ``button``, ``dialog`` and ``download`` on the page.
    """

    def __init__(
        self,
        workspace: Workspace,
        folder: SessionFolder,
        explorer: Explorer,
        comparison: Comparison,
        *,
        closed: Callable[[], None],
    ) -> None:
        self.workspace = workspace
        self.folder = folder
        self.explorer = explorer
        self.comparison = comparison
        self.download = Download()
        self.button = pmui.Button(
            label="Export",
            icon="download",
            variant="text",
            size="small",
            margin=(0, 6),
            align="center",
            sx={"color": "var(--wf-ink)"},
            stylesheets=[NOT_ON_PHONES],
        )
        on_click(self.button, self.open)
        self.dialog = make_dialog("Export", closed=closed)

    def _fill(self) -> None:
        job = FileJob(self.folder, self.download)
        self.form = ExportForm(self.workspace, self.explorer, job, self.comparison)
        self.reproduce = ReproducePanel(self.explorer)
        self.restore = ImportPanel(self.explorer, self.folder, done=self.close)
        self.dialog.objects = [
            pmui.Tabs(
                ("File", self.form.panel),
                ("Reproduce", self.reproduce.panel),
                ("Restore", self.restore.panel),
                sizing_mode="stretch_width",
                margin=0,
            )
        ]

    def open(self) -> None:
        """Show the dialog for what is on the map now."""
        if not self.dialog.objects:
            self._fill()
        self.form.refresh()
        self.reproduce.refresh()
        self.restore.clear()
        self.dialog.open = True

    def close(self) -> None:
        """Hide the dialog."""
        self.dialog.open = False
