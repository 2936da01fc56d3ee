"""The state of the page, without widgets: settings, views, undo, session files."""

from dashboard.state._undo_history import UndoHistory
from dashboard.state.explorer import Explorer
from dashboard.state.view_state import ViewState

__all__ = ["Explorer", "UndoHistory", "ViewState"]
