"""The dialog that opens other data: a dataset of the server, or files of the analyst's own."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from core.errors import WattfoldError
from core.readings import Choice, Dataset, Doubt, IngestOptions, Inspection
from dashboard.catalogue import Catalogue
from dashboard.data import _import_review
from dashboard.jobs import FollowedJob, SessionFolder, SessionPool, uploads
from dashboard.jobs.workspace import Workspace
from dashboard.page_schedule import on_click
from dashboard.widgets import FilesDrop, ImportForm, JobStatus, PlainText, column, make_dialog

_ABOUT = (
    "Your files are read on the server. Nobody else can open them, and they are removed, with "
    "everything computed from them, when you close the page."
)
_PLACE = (
    "Drop files or a folder of meter readings here\n"
    "CSV, text, Excel, JSON or Parquet, plain or packed, at most {megabytes:,.0f} MB together"
)


class OpenDataDialog:
    """Opens a dataset; its widgets are made when it is first shown.

    Files are received, looked at, reviewed by the analyst, imported, and then explored.

    Parameters
    ----------
    chosen : callable
        Called with the workspace of the dataset, and with what a link to it has in its query: None
        for files of the analyst's own, which have no link.
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
        self._upload: Path | None = None  # the folder of the last files
        self._open_upload: Path | None = None  # the folder of the dataset that is shown
        self._options = IngestOptions()
        self._found: Inspection | None = None
        self._doubts: tuple[Doubt, ...] = ()
        self.dialog = make_dialog("Open data", closed=closed)
        self.dialog.width_option = "md"

    def _fill(self) -> None:
        limit = uploads.maximum_bytes()
        stretched: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.drop = FilesDrop(
            place=self._place,
            received=lambda _: self._look(IngestOptions()),
            refused=self._show_refusal,
            limit_bytes=limit,
            text=_PLACE.format(megabytes=limit / 1e6),
            accept=",".join(uploads.SUFFIXES),
            margin=(6, 0),
            **stretched,
        )
        self.status = JobStatus(side=0)
        self.problem = PlainText(look="error", visible=False, margin=(6, 0), **stretched)
        self.form = ImportForm(
            self._take_change, zones=_import_review.zones(), visible=False, margin=(8, 0),
            **stretched,
        )  # fmt: skip
        small: dict[str, Any] = {"size": "small", "visible": False}
        self.start = pmui.Button(label="Import", margin=(4, 8, 4, 0), **small)
        self.use = pmui.Button(label="Explore it", margin=(4, 8, 4, 0), **small)
        self.cancel = pmui.Button(label="Cancel", variant="outlined", margin=(4, 0), **small)
        on_click(self.start, self._import)
        on_click(self.use, self._use_upload)
        on_click(self.cancel, self._cancel)
        own = [
            PlainText("Files of your own", look="heading", margin=0),
            PlainText(_ABOUT, look="quiet", margin=0, **stretched),
            self.drop,
            self.problem,
            self.form,
            self.status.panel,
            pn.Row(self.start, self.use, self.cancel, margin=0),
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

        def use() -> None:
            try:
                dataset = catalogue.open(choice.value)
            except WattfoldError as error:
                self._show_error(str(error))
                return
            self._open(Workspace.of_server(dataset, self.pool), f"data={choice.value}&")

        on_click(take, use)
        return [PlainText("On this server", look="heading", margin=0), choice, take]

    def open(self) -> None:
        """Show the dialog."""
        if not self.dialog.objects:
            self._fill()
        self.dialog.open = True

    # Files are received and looked at

    def _place(self) -> Path:
        self._discard()
        self._upload = self.folder.new("upload")
        files = self._upload / uploads.FILES
        files.mkdir()
        return files

    def _look(self, options: IngestOptions) -> None:
        """Have the files looked at under these options."""
        self._options = options
        self._submit(uploads.submit_look, self._show_look)

    def _submit(
        self,
        submit: Callable[[SessionPool, Path, IngestOptions], FollowedJob],
        show: Callable[[FollowedJob], None],
    ) -> None:
        if self.job is not None:
            self.job.cancel()
        if self._upload is None:
            return
        self.problem.visible = self.start.visible = self.use.visible = False
        self.form.busy = True
        try:
            self.job = submit(self.pool, self._upload, self._options)
        except WattfoldError as error:
            self._show_error(str(error))
            return
        self.status.follow(self.job)
        self.cancel.visible = True
        self.job.on_end(show)

    def _show_look(self, job: FollowedJob) -> None:
        self._end_job()
        if job.state != "done":
            self._show_error(job.error or "the files could not be looked at")
            return
        look: uploads.Look = job.result
        # Where they cannot be read under the last change, its columns are still offered.
        self._found = look.inspection or self._found
        self._doubts = look.inspection.doubts if look.inspection else ()
        shown = _import_review.review(look.inspection, self._options, look.problem)
        self._show_review(shown, ready=not look.problem and not self._doubts)

    def _show_review(self, review: dict[str, Any], *, ready: bool) -> None:
        self.form.param.update(review=review, busy=False, visible=True)
        self.drop.compact = True
        self.start.visible = True
        self.start.disabled = not ready
        if review["questions"]:
            self.status.say("Answer the question above, then import.")

    # What the analyst changes

    def _take_change(self, message: Mapping[str, Any]) -> None:
        """Take a change in the form, which may hold anything."""
        try:
            options = self._changed_options(message)
        except (WattfoldError, TypeError, ValueError, IndexError) as error:
            self.form.busy = False
            self.problem.say(str(error) if isinstance(error, WattfoldError) else "no such choice")
            return
        self._look(options)

    def _changed_options(self, message: Mapping[str, Any]) -> IngestOptions:
        if "set" in message:
            name, value = message["set"]
            return _import_review.change(self._options, name, value, self._found)
        if "leave_out" in message:
            return _import_review.leave_out(self._options, message["leave_out"], self._found)
        if "forget" in message:
            return _import_review.forget(self._options, message["forget"])
        question, choice = message["answer"]
        answer: Choice = self._doubts[question].choices[choice]
        return replace(self._options, **answer.options)

    # The dataset is made and opened

    def _import(self) -> None:
        self._submit(uploads.submit_import, self._show_import)

    def _show_import(self, job: FollowedJob) -> None:
        self._end_job()
        if job.state != "done":
            self.start.visible = True
            self._show_error(job.error or "the import ended early")
            return
        done: uploads.Import = job.result
        if done.doubt is not None:
            # Only all rows could raise it.
            self._doubts = (done.doubt,)
            asked = _import_review.review(None, self._options, "")
            asked["questions"] = [_import_review.question(done.doubt)]
            self._show_review(asked, ready=False)
        elif done.accounts is not None:
            self._show_review(_import_review.imported(done.accounts), ready=True)
            self.start.visible = False
            self.use.visible = True

    def _use_upload(self) -> None:
        if self._upload is None:
            return
        try:
            dataset = Dataset.open(self._upload / uploads.DATASET)
        except WattfoldError as error:
            self._show_error(str(error))
            return
        uploads.remove_files(self._upload)
        self._open(Workspace.of_upload(dataset, self.pool), None)

    def _open(self, workspace: Workspace, link: str | None) -> None:
        self.dialog.open = False
        self._clear()
        before, self._open_upload = self._open_upload, None if link is not None else self._upload
        self._chosen(workspace, link)
        if before is not None and before != self._open_upload:
            shutil.rmtree(before, ignore_errors=True)

    # Ends

    def _cancel(self) -> None:
        """Stop the job; what was reviewed before stays."""
        has_review = bool(self.form.review)
        self._end_job()
        self.form.busy = False
        self.start.visible = has_review

    def _end_job(self) -> None:
        if self.job is not None:
            self.job.cancel()
        self.job = None
        self.status.say("")
        self.cancel.visible = False

    def _discard(self) -> None:
        """Forget the last files, unless what was made of them is shown on the page."""
        self._clear()
        if self._upload is not None and self._upload != self._open_upload:
            shutil.rmtree(self._upload, ignore_errors=True)
        self._upload = None

    def _clear(self) -> None:
        self._end_job()
        self._found, self._doubts = None, ()
        self.form.param.update(review={}, busy=False, visible=False)
        self.drop.compact = False
        for part in (self.problem, self.start, self.use):
            part.visible = False

    def _show_refusal(self, reason: str) -> None:
        """Say why files are not taken; nothing where the analyst stopped them."""
        self._discard()
        if reason:
            self._show_error(reason)

    def _show_error(self, reason: str) -> None:
        self.form.busy = False
        self.problem.say(reason)
