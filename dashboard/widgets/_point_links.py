"""A list of points to go to, each with a bar."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.page_schedule import act


class PointLinks(JSComponent):
    """Points by name; a click calls ``go(row)``."""

    items = param.List(
        default=[], doc="A dict each: row, text, note, and bar (0 to 1) for how long its bar is"
    )

    _esm = Path(__file__).with_name("links.js")

    def __init__(self, go: Callable[[int], None], **parameters: Any) -> None:
        super().__init__(**parameters)
        self._go = go

    def _handle_msg(self, message: Any) -> None:
        # Messages come from the browser: only rows that are in the list count.
        if any(item["row"] == message for item in self.items):
            act(partial(self._go, int(message)))
