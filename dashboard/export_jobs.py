"""A file in the making: its job, its progress, its way to the browser."""

import shutil
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import panel_material_ui as pmui
from panel import Column

from core.export.figures import installed_fonts
from dashboard import exports, fits
from dashboard.components import PlainText
from dashboard.components.download import Download
from dashboard.exports import Request
from dashboard.job_line import JobLine
from dashboard.jobs import Job, WorkerPool
from dashboard.manners import give_way

# More goes through no browser in comfort.
MOST_BYTES = 500_000_000


class ExportJobs:
    """Makes one file at a time for a session, and hands it to the browser."""

    def __init__(self, session: str, download: Download) -> None:
        self.session = session
        self.job: Job | None = None
        self.download = download
        self._pool: WorkerPool | None = None
        self._directory: Path | None = None
        self._fonts: Future[list[str]] | None = None
        self.line = JobLine(side=8)
        self.error = PlainText(
            look="error", margin=(2, 8), sizing_mode="stretch_width", visible=False
        )
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", visible=False, margin=(10, 6, 4, 6)
        )
        self.cancel.on_click(lambda _: self._cancelled())
        self.panel = Column(self.line.panel, self.error, sizing_mode="stretch_width", margin=0)

    def get_ready(self) -> None:
        """Let a worker get warm while the analyst fills in the form."""
        exports.pool()
        self._fonts = self._fonts or _reader().submit(installed_fonts)

    def fonts(self) -> list[str]:
        """The fonts that are there; none until they are known."""
        return self._fonts.result() if self._fonts is not None and self._fonts.done() else []

    def new_directory(self) -> Path:
        """A directory for the next file; that of the last one goes."""
        self._tidy()
        self._directory = Path(tempfile.mkdtemp(prefix="wattfold-export-"))
        return self._directory

    def start(self, request: Request) -> None:
        """Have a file made; one that is still being made is given up."""
        self._give_up()
        self.fail("")
        # A report is a matter of minutes, and waits its turn with the maps.
        self._pool = fits.pool() if request.kind == "report" else exports.pool()
        key = ("export", request.directory)
        self.job = self._pool.submit(self.session, key, exports.make_export, request)
        self.cancel.visible = True
        self.line.say("Starting")

    def fail(self, text: str) -> None:
        """Say what is wrong, or that nothing is."""
        self.error.param.update(text=text, visible=bool(text))
        if text:
            self.line.say("")

    def forget(self) -> None:
        """Say nothing more of the last file."""
        if self.job is None:
            self.line.say("")
            self.fail("")

    def poll(self) -> None:
        """See how the job is, and send the next piece of the file."""
        if self.job is not None:
            self._follow(self.job)
        elif self.download.busy:
            self.download.step()
            if not self.download.busy:
                self._tidy()

    def _follow(self, job: Job) -> None:
        if self.line.follow(job):
            return
        self.job = None
        self.cancel.visible = False
        if job.state == "failed":
            self.fail(job.error)
            self._tidy()
        elif job.state == "done":
            self._send(Path(job.result))

    def _send(self, path: Path) -> None:
        size = path.stat().st_size
        if size > MOST_BYTES:
            self.fail(
                f"the file has {size / 1e6:,.0f} MB, too much for a browser; "
                "choose Parquet, or make it with the command under Repeat"
            )
            self._tidy()
            return
        self.line.say(f"Saved as {path.name}, {_size(size)}")
        self.download.start(path, path.name)

    def _cancelled(self) -> None:
        self._give_up()
        self.line.say("Cancelled.")

    def _give_up(self) -> None:
        if self.job is not None and self._pool is not None:
            self._pool.cancel(self.session, self.job)
            self.job = None
        self.line.progress.visible = self.cancel.visible = False

    def end(self) -> None:
        """The session is over."""
        self._give_up()
        self._tidy()

    def _tidy(self) -> None:
        self.download.stop()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None


@cache
def _reader() -> ThreadPoolExecutor:
    """Looks for fonts, which can take seconds on a machine where nobody did before."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="fonts", initializer=give_way)


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 0.1):,.1f} kB"
