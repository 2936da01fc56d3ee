"""From a file that was exported or saved back to what it shows."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import panel as pn

from core.errors import InputError, WattfoldError
from core.export import Provenance, read_provenance
from core.export.reading import KINDS
from dashboard.components import FileDrop, PlainText
from dashboard.scene import Scene
from dashboard.session_file import is_session, read_session
from dashboard.state import Explorer

MOST_BYTES = 64_000_000
_SESSION_BYTES = 200  # a session file says so at its beginning
_ABOUT = (
    "Every figure, table and report that was exported here knows how it was made. Settings and "
    "view become those of the file; Undo takes them back."
)


class Restoring:
    """A place to drop a file on.

    Parameters
    ----------
    done : callable
        Called when there is nothing more to say.
    """

    def __init__(self, explorer: Explorer, *, done: Callable[[], None]) -> None:
        self.explorer = explorer
        self._done = done
        self.drop = FileDrop(
            place=self._place,
            received=self._received,
            refused=self._fail,
            limit_bytes=MOST_BYTES,
            text="Drop a figure, a table, a report or a session file here, or choose one",
            accept=",".join(KINDS),
            sizing_mode="stretch_width",
            margin=(6, 8),
        )
        self.error = PlainText(
            look="error", visible=False, margin=(4, 8), sizing_mode="stretch_width"
        )
        self.notice = PlainText(
            look="quiet", visible=False, margin=(4, 8), sizing_mode="stretch_width"
        )
        self.panel = pn.Column(
            PlainText(_ABOUT, look="quiet", margin=(12, 8, 6, 8), sizing_mode="stretch_width"),
            self.drop,
            self.error,
            self.notice,
            sizing_mode="stretch_width",
            margin=0,
        )

    def clear(self) -> None:
        """Forget what was said of the last file."""
        self.error.visible = self.notice.visible = False

    def _place(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix="wattfold-restore-")) / "file"

    def _received(self, path: Path) -> None:
        self.clear()
        try:
            notice = self.restore(path)
        except WattfoldError as error:
            self._fail(str(error))
            return
        finally:
            path.unlink(missing_ok=True)
            path.parent.rmdir()
        if notice:
            self.notice.param.update(text=notice, visible=True)
        else:
            self._done()

    def _fail(self, text: str) -> None:
        self.error.param.update(text=text, visible=True)

    def restore(self, path: Path) -> str:
        """Show what a file shows; return what the analyst should know."""
        with path.open("rb") as file:
            if is_session(file.read(_SESSION_BYTES)):
                return self._open_session(path.read_bytes())
        found = read_provenance(path)
        scene = _scene(found)
        notices = []
        if found.dataset != self.explorer.dataset.digest:
            scene = scene.without_points()
            notices.append(
                "The file was made of other data: its settings are here, its points are not."
            )
        if found.withheld:
            notices.append(f"Withheld in the file: {'; '.join(found.withheld)}.")
        self.explorer.restore(scene)
        return " ".join(notices)

    def _open_session(self, content: bytes) -> str:
        scene, notes, notice = read_session(content, self.explorer.dataset)
        self.explorer.restore(scene)
        self.explorer.notes = {**self.explorer.notes, **notes}
        return notice


def _scene(found: Provenance) -> Scene:
    try:
        return Scene.from_json({**found.view, "config": found.config.to_json()})
    except InputError:  # of another version, or meddled with: the run is still what counts
        return Scene(config=found.config)
