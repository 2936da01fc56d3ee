"""The state of the page, without widgets: settings, views, undo, session files."""

from dashboard.state._undo_history import Step, UndoHistory
from dashboard.state.explorer import Explorer
from dashboard.state.unusual_homes import UnusualHomes
from dashboard.state.view_state import ViewState

__all__ = ["Explorer", "Step", "UndoHistory", "UnusualHomes", "ViewState"]
