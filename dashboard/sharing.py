"""Back, forward, a link to the picture, and the session as a file."""

import io
from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui
import param

from core.errors import WattfoldError
from dashboard.components import CopyText, PlainText
from dashboard.dialogs import make_dialog
from dashboard.history import History
from dashboard.restoring import Restoring
from dashboard.scene import Scene
from dashboard.session_file import write_session
from dashboard.state import Explorer

# What a step back takes back. Zoom is not among them: the map's own reset does that.
_REMEMBERED = (
    *("run", "selected", "pins", "chosen"),
    *("color_by", "safe_colors", "hidden", "layers"),
)
_ON_BAR = {"color": "#fff", "&.Mui-disabled": {"color": "#fff", "opacity": 0.4}}
# The library puts what a button says at its right, over the next button: let it be below.
_BELOW = """
.MuiTooltip-popper {pointer-events: none; margin: 38px 0 0 -52px !important}
.MuiTooltip-arrow {display: none}
"""
_ABOUT_LINK = (
    "Opens this very picture: settings, colours, zoom, and the points that are looked at. It holds "
    "no readings, no notes and no household ids; whoever opens it needs this server and its data."
)
_ABOUT_FILE = "Keeps the picture and your notes, to go on another day or on another machine."


class Sharing:
    """The buttons in the bar, and the dialog behind one of them, made when it is first asked for.

    ``link`` is what the query of a link has before the scene; None for data that no link leads to.
    """

    def __init__(
        self, explorer: Explorer, link: str | None = "", *, closed: Callable[[], None]
    ) -> None:
        self.explorer = explorer
        self._link = link
        self.history = History()
        self._changed = False
        explorer.param.watch(self._note_change, list(_REMEMBERED))
        self.bar = pn.Row(
            self._button("undo", "Undo (Ctrl+Z)", self.undo, self.history.param.can_undo),
            self._button("redo", "Redo (Ctrl+Shift+Z)", self.redo, self.history.param.can_redo),
            self._button("share", "Share or save", self.open),
            margin=0,
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
        self.restoring = Restoring(self.explorer, done=self._close)
        self.dialog.objects = [
            pn.Column(
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
                self.restoring.panel,
                sizing_mode="stretch_width",
                margin=0,
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
            sx=_ON_BAR,
            stylesheets=[_BELOW],
        )
        button.on_click(lambda _: action())
        return button

    # Undo and redo

    def _note_change(self, *_: param.parameterized.Event) -> None:
        self._changed = True

    @property
    def expects_news(self) -> bool:
        """Whether a poll may find something."""
        return self._changed

    def poll(self) -> None:
        """Remember what is looked at, if it has changed and its run is on the map."""
        if not self._changed:
            return
        scene = self.explorer.scene()
        if scene is not None:
            self._changed = False
            self.history.note(scene)
            if self.dialog.open:
                self._offer(scene)

    def undo(self) -> None:
        """Go to the scene before; give up settings whose run is not on the map."""
        self.poll()
        explorer = self.explorer
        tried = explorer.run is not None and explorer.scene() is None and not explorer.is_restoring
        self._go(self.history.current if tried else self.history.undo())

    def redo(self) -> None:
        """Go to the scene that was undone last."""
        self._go(self.history.redo())

    def _go(self, scene: Scene | None) -> None:
        if scene is not None:
            self.explorer.restore(scene)

    # Links and files

    def open(self) -> None:
        """Show the dialog with a link to what is looked at now."""
        if not self.dialog.objects:
            self._fill()
        self.restoring.clear()
        self._offer(self.explorer.scene())
        self.dialog.open = True

    def _offer(self, scene: Scene | None) -> None:
        self._say("")
        self.link.text = ""
        if scene is None:
            self._say("The link and the file are there as soon as the map shows your settings.")
        elif self._link is None:
            self._say("These data are yours alone, so no link leads here; save a session instead.")
        else:
            try:
                self.link.text = f"?{self._link}view={scene.to_token(self.explorer.dataset)}"
            except WattfoldError as error:
                self._fail(str(error))
        self.saved.disabled = scene is None

    def _session_file(self) -> io.BytesIO:
        scene = self.explorer.scene()
        if scene is None:  # it was there when the button was drawn
            scene = Scene(config=self.explorer.config())
        return io.BytesIO(write_session(scene, self.explorer.notes, self.explorer.dataset))

    def _close(self) -> None:
        self.dialog.open = False

    def _say(self, text: str) -> None:
        self.problem.visible = False
        self.notice.param.update(text=text, visible=bool(text))

    def _fail(self, text: str) -> None:
        self.notice.visible = False
        self.problem.param.update(text=text, visible=True)
