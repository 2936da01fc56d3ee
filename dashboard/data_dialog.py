"""Where other data come from: those of the server, or a file of the analyst's own."""

from collections.abc import Callable
from pathlib import Path

import panel as pn
import panel_material_ui as pmui

from core.commands.accounts import accounts_text
from core.errors import WattfoldError
from core.readings import Dataset
from dashboard import fits, uploads
from dashboard.components import FileDrop, PlainText
from dashboard.datasets import Catalogue
from dashboard.dialogs import make_dialog
from dashboard.job_line import JobLine
from dashboard.jobs import Job

_ABOUT = (
    "Your file is read on the server and is yours alone: nobody else can open it, and it goes, "
    "with everything made from it, when you close the page."
)
_PLACE = (
    "Drop a file of meter readings here, or click to choose one.\n"
    "CSV or text, plain, .gz or .zip, or Parquet, at most {megabytes:,.0f} MB: one row a reading "
    "(household, time, kWh), or one column a household."
)


class DataDialog:
    """Chooses a dataset; made when it is first asked for.

    ``chosen(dataset, link)`` is called with it, and with what a link to it has in its query; None
    for a file of the analyst's own, which no link leads to.
    """

    def __init__(
        self,
        session: str,
        chosen: Callable[[Dataset, str | None], None],
        *,
        closed: Callable[[], None],
    ) -> None:
        self.session = session
        self.folder = uploads.UploadFolder()
        self.job: Job | None = None
        self._chosen = chosen
        self._uploaded: Path | None = None
        self._file_name = ""
        self._received_path: Path | None = None
        self.dialog = make_dialog("Open data", closed=closed)

    def _fill(self) -> None:
        limit = uploads.maximum_bytes()
        self.drop = FileDrop(
            place=self._place,
            received=self._received,
            refused=self._fail,
            limit_bytes=limit,
            text=_PLACE.format(megabytes=limit / 1e6),
            accept=",".join(uploads.SUFFIXES),
            sizing_mode="stretch_width",
            margin=(6, 0),
        )
        self.line = JobLine(side=0)
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
            self.line.panel,
            self.problem,
            self.report,
            pn.Row(self.use, self.cancel, margin=0),
        ]
        self.dialog.objects = [
            pn.Column(
                *self._server_parts(),
                *(own if limit else []),
                sizing_mode="stretch_width",
                margin=0,
            )
        ]

    def _server_parts(self) -> list[pn.viewable.Viewable]:
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
                self._fail(str(error))
                return
            self._take(dataset, f"data={choice.value}&")

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
        self._file_name = name
        return self.folder.new() / f"received{suffix}"

    def _received(self, file: Path) -> None:
        self._received_path = file
        try:
            self.job = uploads.submit(self.session, file)
        except WattfoldError as error:
            self._fail(str(error))
            return
        self.line.say("Starting")
        self.cancel.visible = True

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something."""
        return self.job is not None

    def poll(self) -> None:
        """See how the reading goes; called a few times a second."""
        job = self.job
        if job is None or self.line.follow(job):
            return
        self._clear()
        if job.state == "failed":
            self._fail(self._in_their_words(job.error))
        elif job.state == "done":
            self._uploaded = Path(job.result["path"])
            text = accounts_text(job.result).partition("\n")[2]
            self.report.param.update(text=self._in_their_words(text), visible=True)
            self.use.visible = True

    def _in_their_words(self, text: str) -> str:
        """Call the file what the analyst calls it, and nothing by its place on the server."""
        if self._received_path is None:
            return text
        text = text.replace(str(self._received_path), self._file_name)
        return text.replace(self._received_path.name, self._file_name)

    def _use_upload(self) -> None:
        if self._uploaded is not None:
            try:
                dataset = Dataset.open(self._uploaded)
            except WattfoldError as error:
                self._fail(str(error))
                return
            self._take(dataset, None)

    def _take(self, dataset: Dataset, link: str | None) -> None:
        self.dialog.open = False
        self._chosen(dataset, link)

    def _cancel(self) -> None:
        if self.job is not None:
            fits.pool().cancel(self.session, self.job)
        self._clear()

    def _clear(self) -> None:
        self.job = None
        self.line.say("")
        for part in (self.cancel, self.problem, self.report, self.use):
            part.visible = False

    def _fail(self, reason: str) -> None:
        self._clear()
        self.problem.param.update(text=reason, visible=True)
