"""Undo and redo: the views that were shown, and the flags of this visit, in order."""

from dataclasses import dataclass

import param

from core.worklist import Flag
from dashboard.state.view_state import ViewState

_LONGEST = 200


@dataclass(frozen=True)
class Step:
    """What the analyst saw, and what was flagged by then, in this visit."""

    view: ViewState
    flags: frozenset[Flag] = frozenset()


class UndoHistory(param.Parameterized):
    """A list of steps and a place in it."""

    can_undo: bool = param.Boolean(default=False)  # type: ignore[assignment]
    can_redo: bool = param.Boolean(default=False)  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[Step] = []
        self._at = -1

    def add(self, step: Step) -> None:
        """Add a step after the current one, unless it is the same."""
        if self._steps and step == self._steps[self._at]:
            return
        self._steps = [*self._steps[: self._at + 1], step][-_LONGEST:]
        self._go(len(self._steps) - 1)

    def undo(self) -> Step | None:
        """Step back; what to show, or None at the first."""
        return self._go(self._at - 1) if self._at > 0 else None

    def redo(self) -> Step | None:
        """Step forward; what to show, or None at the last."""
        return self._go(self._at + 1) if self._at + 1 < len(self._steps) else None

    @property
    def current(self) -> Step | None:
        """The step that was added or stepped to last."""
        return self._steps[self._at] if self._steps else None

    def _go(self, at: int) -> Step:
        self._at = at
        self.param.update(can_undo=at > 0, can_redo=at + 1 < len(self._steps))
        return self._steps[at]
