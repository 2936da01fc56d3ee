"""A file that a worker makes: its progress, and its way to the browser."""

import shutil
from pathlib import Path

import panel_material_ui as pmui

from dashboard.jobs import FollowedJob, SessionFolder
from dashboard.page_schedule import on_click
from dashboard.widgets import Download, JobStatus, PlainText, column

# More than a browser handles well.
MOST_BYTES = 500_000_000


class FileJob:
    """Waits for one file at a time, and sends it to the browser."""

    def __init__(self, folder: SessionFolder, download: Download) -> None:
        self.folder = folder
        self.job: FollowedJob | None = None
        self.download = download
        self._directory: Path | None = None
        self.status = JobStatus(side=8)
        self.error = PlainText(
            look="error", margin=(2, 8), sizing_mode="stretch_width", visible=False
        )
        self.cancel = pmui.Button(
            label="Cancel", variant="outlined", visible=False, margin=(10, 6, 4, 6)
        )
        on_click(self.cancel, self._cancel)
        self.panel = column(self.status.panel, self.error)

    def new_directory(self) -> Path:
        """Return a directory for the next file; that of the last one is removed."""
        self._stop()
        self._directory = self.folder.new("export")
        return self._directory

    def start(self, job: FollowedJob) -> None:
        """Wait for a job that makes a file in the new directory; its result is the path."""
        self.show_error("")
        self.job = job
        self.cancel.visible = True
        self.status.follow(self.job)
        self.job.on_end(self._on_end)

    def show_error(self, text: str) -> None:
        """Show what is wrong; nothing for an empty text."""
        self.error.say(text)
        if text:
            self.status.say("")

    def clear(self) -> None:
        """Forget what was said about the last file."""
        if self.job is None:
            self.status.say("")
            self.show_error("")

    def _on_end(self, job: FollowedJob) -> None:
        self.job = None
        self.cancel.visible = False
        if job.state == "done":
            self._send(Path(job.result))
        else:
            self.show_error(job.error)
            self._remove_file()

    def _send(self, path: Path) -> None:
        size = path.stat().st_size
        if size > MOST_BYTES:
            self.show_error(
                f"the file has {size / 1e6:,.0f} MB, too much for a browser; "
                "choose Parquet, or make it with the command under Reproduce"
            )
            self._remove_file()
            return
        self.status.say(f"Saved as {path.name}, {_size(size)}")
        self.download.start(path, path.name, sent=self._remove_file)

    def _cancel(self) -> None:
        self._stop()
        self.status.say("Cancelled.")

    def _stop(self) -> None:
        if self.job is not None:
            self.job.cancel()
            self.job = None
        self.status.bar.visible = self.cancel.visible = False
        self._remove_file()

    def _remove_file(self) -> None:
        self.download.stop()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 0.1):,.1f} kB"
