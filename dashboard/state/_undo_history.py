"""Undo and redo: the views that were shown, in order."""

import param

from dashboard.state.view_state import ViewState

_LONGEST = 200


class UndoHistory(param.Parameterized):
    """A list of views and a place in it."""

    can_undo: bool = param.Boolean(default=False)  # type: ignore[assignment]
    can_redo: bool = param.Boolean(default=False)  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self._views: list[ViewState] = []
        self._at = -1

    def add(self, view: ViewState) -> None:
        """Add a view after the current one, unless it is the same."""
        if self._views and view == self._views[self._at]:
            return
        self._views = [*self._views[: self._at + 1], view][-_LONGEST:]
        self._go(len(self._views) - 1)

    def undo(self) -> ViewState | None:
        """Step back; the view to show, or None at the first."""
        return self._go(self._at - 1) if self._at > 0 else None

    def redo(self) -> ViewState | None:
        """Step forward; the view to show, or None at the last."""
        return self._go(self._at + 1) if self._at + 1 < len(self._views) else None

    @property
    def current(self) -> ViewState | None:
        """The view that was added or stepped to last."""
        return self._views[self._at] if self._views else None

    def _go(self, at: int) -> ViewState:
        self._at = at
        self.param.update(can_undo=at > 0, can_redo=at + 1 < len(self._views))
        return self._views[at]
