"""The dialog that opens other data: a dataset of the server, or a file of the analyst's own."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import panel as pn
import panel_material_ui as pmui

from core.errors import WattfoldError
from core.readings import Dataset
from core.readings.accounts import accounts_text
from dashboard.catalogue import Catalogue
from dashboard.jobs import FollowedJob, SessionFolder, SessionPool, uploads
from dashboard.jobs.workspace import Workspace
from dashboard.widgets import FileDrop, JobStatus, PlainText, column, make_dialog

_ABOUT = (
    "Your file is read on the server. Nobody else can open it, and it is removed, with everything "
    "computed from it, when you close the page."
)
_PLACE = (
    "Drop a file of meter readings here, or click to choose one.\n"
    "CSV or text, plain, .gz or .zip, or Parquet, at most {megabytes:,.0f} MB: one row per reading "
    "(household, time, kWh), or one column per household."
)


class OpenDataDialog:
    """Opens a dataset; its widgets are made when it is first shown.

    Parameters
    ----------
    chosen : callable
        Called with the workspace of the dataset, and with what a link to it has in its query: None
        for a file of the analyst's own, which has no link.
    closed : callable
        Called when the dialog is closed.
    """

    def __init__(
        self,
        pool: SessionPool,
        folder: SessionFolder,
        chosen: Callable[[Workspace, str | None], None],
        *,
        closed: Callable[[], None],
    ) -> None:
        self.pool = pool
        self.folder = folder
        self.job: FollowedJob | None = None
        self._chosen = chosen
        self._file_name = ""
        self._upload: Path | None = None  # the folder of the last file
        self._open_upload: Path | None = None  # the folder of the dataset that is shown
        self.dialog = make_dialog("Open data", closed=closed)

    def _fill(self) -> None:
        limit = uploads.maximum_bytes()
        self.drop = FileDrop(
            place=self._place,
            received=self._received,
            refused=self._show_error,
            limit_bytes=limit,
            text=_PLACE.format(megabytes=limit / 1e6),
            accept=",".join(uploads.SUFFIXES),
            sizing_mode="stretch_width",
            margin=(6, 0),
        )
        self.status = JobStatus(side=0)
        self.problem = PlainText(look="error", visible=False, sizing_mode="stretch_width", margin=0)
        self.report = PlainText(
            look="report", visible=False, sizing_mode="stretch_width", margin=(6, 0)
        )
        self.use = pmui.Button(label="Explore it", size="small", visible=False, margin=(4, 8, 4, 0))
        self.cancel = pmui.Button(
            label="Cancel", size="small", variant="outlined", visible=False, margin=(4, 0)
        )
        self.use.on_click(lambda _: self._use_upload())
        self.cancel.on_click(lambda _: self._cancel())
        own = [
            PlainText("A file of your own", look="heading", margin=0),
            PlainText(_ABOUT, look="quiet", sizing_mode="stretch_width", margin=0),
            self.drop,
            self.status.panel,
            self.problem,
            self.report,
            pn.Row(self.use, self.cancel, margin=0),
        ]
        self.dialog.objects = [column(*self._datasets_of_server(), *(own if limit else []))]

    def _datasets_of_server(self) -> list[pn.viewable.Viewable]:
        """A choice among the server's datasets, if there are several."""
        catalogue = Catalogue.of_server()
        paths = catalogue.paths()
        if len(paths) < 2:
            return []
        choice = pmui.Select(
            label="Dataset",
            options={path.name: id for id, path in paths.items()},
            size="small",
            sizing_mode="stretch_width",
            margin=(8, 0),
        )
        take = pmui.Button(label="Open", size="small", margin=(4, 0, 16, 0))

        def use(_: object) -> None:
            try:
                dataset = catalogue.open(choice.value)
            except WattfoldError as error:
                self._show_error(str(error))
                return
            self._open(Workspace.of_server(dataset, self.pool), f"data={choice.value}&")

        take.on_click(use)
        return [PlainText("On this server", look="heading", margin=0), choice, take]

    def open(self) -> None:
        """Show the dialog."""
        if not self.dialog.objects:
            self._fill()
        self.dialog.open = True

    # From a file to a dataset

    def _place(self, name: str) -> Path:
        self._cancel()
        suffix = uploads.suffix_of(name)
        if self._upload is not None and self._upload != self._open_upload:
            shutil.rmtree(self._upload, ignore_errors=True)
        self._file_name = name
        self._upload = self.folder.new("upload")
        return self._upload / f"received{suffix}"

    def _received(self, file: Path) -> None:
        try:
            self.job = uploads.submit(self.pool, file)
        except WattfoldError as error:
            self._show_error(str(error))
            return
        self.status.follow(self.job)
        self.cancel.visible = True
        self.job.on_end(partial(self._show_accounts, file))

    def _show_accounts(self, file: Path, job: FollowedJob) -> None:
        def with_own_name(text: str) -> str:
            """Name the file as the analyst does, without its path on the server."""
            return text.replace(str(file), self._file_name).replace(file.name, self._file_name)

        self._clear()
        if job.state == "failed":
            self._show_error(with_own_name(job.error))
        elif job.state == "done":
            text = accounts_text(job.result).partition("\n")[2]
            self.report.say(with_own_name(text))
            self.use.visible = True

    def _use_upload(self) -> None:
        if self._upload is None:
            return
        try:
            workspace = Workspace.of_upload(Dataset.open(self._upload / "dataset"), self.pool)
        except WattfoldError as error:
            self._show_error(str(error))
            return
        self._open(workspace, None)

    def _open(self, workspace: Workspace, link: str | None) -> None:
        self.dialog.open = False
        self._clear()
        before, self._open_upload = self._open_upload, None if link is not None else self._upload
        self._chosen(workspace, link)
        if before is not None and before != self._open_upload:
            shutil.rmtree(before, ignore_errors=True)

    def _cancel(self) -> None:
        if self.job is not None:
            self.job.cancel()
        self._clear()

    def _clear(self) -> None:
        self.job = None
        self.status.say("")
        for part in (self.cancel, self.problem, self.report, self.use):
            part.visible = False

    def _show_error(self, reason: str) -> None:
        self._clear()
        self.problem.say(reason)
