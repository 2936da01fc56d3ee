"""Undo and redo: the scenes that were looked at, in order."""

import param

from dashboard.scene import Scene

_LONGEST = 200


class History(param.Parameterized):
    """Scenes, and where in them the analyst is."""

    can_undo: bool = param.Boolean(default=False)  # type: ignore[assignment]
    can_redo: bool = param.Boolean(default=False)  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self._scenes: list[Scene] = []
        self._at = -1

    def note(self, scene: Scene) -> None:
        """Take a scene as the next one, unless it is the one that was noted last."""
        if self._scenes and scene == self._scenes[self._at]:
            return
        self._scenes = [*self._scenes[: self._at + 1], scene][-_LONGEST:]
        self._go(len(self._scenes) - 1)

    def undo(self) -> Scene | None:
        """Step back; the scene to show, or None at the first."""
        return self._go(self._at - 1) if self._at > 0 else None

    def redo(self) -> Scene | None:
        """Step forward; the scene to show, or None at the last."""
        return self._go(self._at + 1) if self._at + 1 < len(self._scenes) else None

    @property
    def current(self) -> Scene | None:
        """The scene that was noted or stepped to last."""
        return self._scenes[self._at] if self._scenes else None

    def _go(self, at: int) -> Scene:
        self._at = at
        self.param.update(can_undo=at > 0, can_redo=at + 1 < len(self._scenes))
        return self._scenes[at]
