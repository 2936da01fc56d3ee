"""Keys that work all over the page."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.page_schedule import act


class PageKeys(JSComponent):
    """Listens for keys, except in text fields; remembers which element had the focus."""

    names = param.List(
        default=[],
        doc="The keys, as the browser names them; those with Control as ``Control+Shift+z``",
    )

    _esm = Path(__file__).with_name("keys.js")

    def __init__(self, actions: Mapping[str, Callable[[], None]]) -> None:
        super().__init__(names=list(actions), width=0, height=0, margin=0)
        self._actions = actions

    def restore_focus(self) -> None:
        """Return the focus to the element that had it before a dialog."""
        self._send_msg({"action": "give back"})

    def _handle_msg(self, message: Any) -> None:
        # Messages come from the browser: only the keys that are listened for count.
        if isinstance(message, str) and message in self._actions:
            act(self._actions[message])
