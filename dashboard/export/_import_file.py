"""From a file that was exported or saved back to the view that it shows."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import panel_material_ui as pmui

from core.errors import InputError, WattfoldError
from core.export import read_provenance
from core.export.read_back import KINDS
from core.worklist import Worklist, merge, read_worklist
from core.worklist.flags import FORMAT as WORKLIST_FORMAT
from dashboard.jobs import SessionFolder
from dashboard.page_schedule import on_click
from dashboard.state import Explorer, ViewState
from dashboard.state.session_file import is_session, read_session
from dashboard.widgets import FilesDrop, PlainText, column

MOST_BYTES = 64_000_000
_SESSION_BYTES = 200  # a session file and a worklist say so at their beginning
_ABOUT = (
    "Every figure, table and report that was exported here holds the settings and the view that it "
    "was made from. Undo takes them back."
)


@dataclass(frozen=True)
class SavedView:
    """What a file holds.

    Attributes
    ----------
    view : ViewState, optional
        None for a file that holds a worklist alone.
    notes, worklist, groups
        See :class:`dashboard.state.session_file.SavedSession`.
    problems : tuple of str
        What of the file cannot be restored here, or would be replaced here.
    """

    view: ViewState | None
    notes: Mapping[str, str] = field(default_factory=dict)
    worklist: Worklist = field(default_factory=Worklist)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_saved_view(path: Path, explorer: Explorer) -> SavedView:
    """Read a file and check all of it against the data; raise if nothing can be restored."""
    with path.open("rb") as file:
        beginning = file.read(_SESSION_BYTES)
    if f'"{WORKLIST_FORMAT}"'.encode() in beginning:
        return _read_worklist(path, explorer)
    found = _read_session(path, explorer) if is_session(beginning) else _read_export(path, explorer)
    if found.view is not None:
        explorer.check(found.view)
    return found


def _read_worklist(path: Path, explorer: Explorer) -> SavedView:
    """Read a list that was kept with ``wattfold worklist``."""
    worklist = read_worklist(path)
    merge([explorer.flagged.worklist, worklist])  # raises where it is of other data
    return SavedView(None, worklist=worklist)


def _read_session(path: Path, explorer: Explorer) -> SavedView:
    saved = read_session(path.read_bytes(), explorer.dataset)
    problems = [saved.problem] if saved.problem else []
    replaced = sum(explorer.notes.get(name, text) != text for name, text in saved.notes.items())
    if replaced:
        problems.append(f"{replaced:,} of your notes would be replaced by those of the file.")
    return SavedView(saved.view, saved.notes, saved.worklist, saved.groups, tuple(problems))


def _read_export(path: Path, explorer: Explorer) -> SavedView:
    found = read_provenance(path)
    problems = []
    try:
        view = ViewState.from_json({**found.view, "config": found.config.to_json()})
    except InputError as error:
        view = ViewState(config=found.config)
        problems.append(f"How the map was shown cannot be read: {error}.")
    if found.dataset != explorer.dataset.digest:
        view = view.without_points()
        problems.append("The file was made from other data: its points cannot be shown.")
    if found.withheld:
        problems.append(f"Withheld in the file: {'; '.join(found.withheld)}.")
    return SavedView(view, problems=tuple(problems))


class ImportPanel:
    """A place to drop a file on. Nothing changes before all of the file is checked.

    Where something of the file does not fit, it is named, and the rest is restored on a click.

    Parameters
    ----------
    done : callable
        Called when a file is restored.
    """

    def __init__(
        self, explorer: Explorer, folder: SessionFolder, *, done: Callable[[], None]
    ) -> None:
        self.explorer = explorer
        self.folder = folder
        self._done = done
        self._found: SavedView | None = None
        self.drop = FilesDrop(
            place=lambda: self.folder.new("restore"),
            received=self._received,
            refused=lambda reason: self.error.say(reason),
            limit_bytes=MOST_BYTES,
            single=True,
            text="Drop a figure, table, report, session file or worklist here, or choose one",
            accept=",".join(KINDS),
            sizing_mode="stretch_width",
            margin=(6, 8),
        )
        text: dict[str, Any] = {"visible": False, "margin": (4, 8), "sizing_mode": "stretch_width"}
        self.error = PlainText(look="error", **text)
        self.problems = PlainText(look="body", **text)
        self.accept = pmui.Button(
            label="Restore the rest", size="small", visible=False, margin=(4, 8)
        )
        on_click(self.accept, self._restore)
        self.panel = column(
            PlainText(_ABOUT, look="quiet", margin=(12, 8, 6, 8), sizing_mode="stretch_width"),
            self.drop,
            self.error,
            self.problems,
            self.accept,
        )

    def clear(self) -> None:
        """Forget the last file."""
        self._found = None
        self.error.visible = self.problems.visible = self.accept.visible = False

    def _received(self, folder: Path) -> None:
        self.clear()
        (path,) = folder.iterdir()
        try:
            self._found = read_saved_view(path, self.explorer)
        except WattfoldError as error:
            self.error.say(str(error))
            return
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.problems.say("\n".join(self._found.problems))
        self.accept.visible = self.problems.visible
        if not self._found.problems:
            self._restore()

    def _restore(self) -> None:
        if self._found is None:
            return
        try:
            if self._found.view is not None:
                self.explorer.restore(self._found.view, notes=self._found.notes)
        except WattfoldError as error:
            self.clear()
            self.error.say(f"{error}; nothing was changed")
            return
        self.explorer.flagged.merge(self._found.worklist)
        self.explorer.groups.merge(self._found.groups)
        self.clear()
        self._done()
