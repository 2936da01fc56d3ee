"""A line that opens what is below it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import param
from panel import Column
from panel.custom import JSComponent
from panel.viewable import Viewable

from dashboard.widgets._layout import column


class Disclosure(JSComponent):
    """A line of text that folds and unfolds a part of the page."""

    text = param.String(default="", doc="What the line says")
    hint = param.String(default="", doc="What is said of it on hover")
    open = param.Boolean(default=False, doc="Whether the part is unfolded")

    _esm = Path(__file__).with_name("disclosure.js")

    def __init__(self, text: str = "", **parameters: Any) -> None:
        super().__init__(
            **{"text": text, "sizing_mode": "stretch_width", "margin": (4, 10), **parameters}
        )

    def part(self, make: Callable[[], Sequence[Viewable]]) -> Column:
        """Return what is unfolded, whose content is made when it is first seen."""
        box = column(visible=self.open)

        def show(*_: param.parameterized.Event) -> None:
            if self.open and not box.objects:
                box.objects = list(make())
            box.visible = self.open

        self.param.watch(show, "open")
        show()
        return box
