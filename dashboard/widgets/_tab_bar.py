"""A row of tabs whose contents are somewhere else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent
from panel.viewable import Viewable

from dashboard.widgets._layout import column
from dashboard.widgets._stack import Stack


class TabBar(JSComponent):
    """Tabs by name. What they show is put together by :meth:`stack`."""

    names = param.List(default=[], doc="What the tabs are called")
    counts = param.List(default=[], doc="A number beside each name, as text; empty for none")
    active = param.Integer(default=0, bounds=(0, None), doc="The tab that is shown")
    label = param.String(default="", doc="What the tabs are for")

    _esm = Path(__file__).with_name("tabs.js")

    def __init__(self, names: Sequence[str], **parameters: Any) -> None:
        counts = [""] * len(names)
        super().__init__(**{"names": list(names), "counts": counts, "margin": 0, **parameters})

    def stack(self, parts: Sequence[Viewable], **layout: Any) -> Stack:
        """Return the parts one upon the other, that of the active tab in view.

        The browser builds a part when it is first shown.
        """
        places = [column(**layout) for _ in parts]
        stack = Stack(places, names=self.names, **layout)

        def show(*_: param.parameterized.Event) -> None:
            place = places[self.active]
            if not place.objects:
                place.objects = [parts[self.active]]
            stack.active = self.active

        self.param.watch(show, "active")
        show()
        return stack
