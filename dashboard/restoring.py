"""From a file that was exported or saved back to what it shows."""

from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui
import param

from core.errors import InputError, WattfoldError
from core.export import read_provenance
from core.export.reading import KINDS
from dashboard.components import PlainText
from dashboard.scene import Scene
from dashboard.session_file import is_session, read_session
from dashboard.state import Explorer

MOST_BYTES = 12_000_000
_ABOUT = (
    "Every figure, table and report that was exported here knows how it was made. Drop one, or a "
    "session file, on the button or choose it: settings and view become those of the file."
)


class Restoring:
    """A place to drop a file."""

    def __init__(self, explorer: Explorer, *, done: Callable[[], None]) -> None:
        self.explorer = explorer
        self._done = done
        self.file = pmui.FileInput(
            accept=",".join(KINDS),
            label="Drop a file here, or choose one",
            variant="outlined",
            max_file_size=MOST_BYTES,
            sizing_mode="stretch_width",
            height=72,
            margin=(6, 8),
        )
        self.file.param.watch(self._take, "value")
        self.error = PlainText(
            look="error", visible=False, margin=(4, 8), sizing_mode="stretch_width"
        )
        self.notice = PlainText(
            look="quiet", visible=False, margin=(4, 8), sizing_mode="stretch_width"
        )
        self.panel = pn.Column(
            PlainText(_ABOUT, look="quiet", margin=(12, 8, 6, 8), sizing_mode="stretch_width"),
            self.file,
            self.error,
            self.notice,
            sizing_mode="stretch_width",
            margin=0,
        )

    def clear(self) -> None:
        """Forget what was said of the last file."""
        self.error.visible = self.notice.visible = False

    def _take(self, event: param.parameterized.Event) -> None:
        if not event.new:
            return
        self.clear()
        try:
            notice = self.restore(event.new)
        except WattfoldError as error:
            self.error.param.update(text=str(error), visible=True)
            return
        if notice:
            self.notice.param.update(text=notice, visible=True)
        else:
            self._done()

    def restore(self, content: bytes) -> str:
        """Show what a file shows; return what the analyst should know."""
        if len(content) > MOST_BYTES:
            raise InputError(
                f"the file has {len(content) / 1e6:,.0f} MB; at most {MOST_BYTES // 10**6} MB are "
                "read here: choose a figure, or the .json beside a table"
            )
        explorer = self.explorer
        if is_session(content):
            scene, notes, notice = read_session(content, explorer.dataset)
            explorer.restore(scene)
            explorer.notes = {**explorer.notes, **notes}
            return notice
        found = read_provenance(content)
        notices = []
        try:
            scene = Scene.from_json({**found.view, "config": found.config.to_json()})
        except InputError:
            scene = Scene(config=found.config)
        if found.dataset != explorer.dataset.digest:
            scene = scene.without_points()
            notices.append(
                "The file was made of other data: its settings are here, its points are not."
            )
        if found.withheld:
            notices.append(f"Withheld in the file: {'; '.join(found.withheld)}.")
        explorer.restore(scene)
        return " ".join(notices)
