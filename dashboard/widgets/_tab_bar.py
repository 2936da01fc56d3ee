"""A row of tabs whose contents are somewhere else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent
from panel.viewable import Viewable


class TabBar(JSComponent):
    """Tabs by name. What they show is made visible and hidden by :meth:`switch`."""

    names = param.List(default=[], doc="What the tabs are called")
    counts = param.List(default=[], doc="A number beside each name, as text; empty for none")
    active = param.Integer(default=0, bounds=(0, None), doc="The tab that is shown")
    label = param.String(default="", doc="What the tabs are for")

    _esm = Path(__file__).with_name("tabs.js")

    def __init__(self, names: Sequence[str], **parameters: Any) -> None:
        counts = [""] * len(names)
        super().__init__(**{"names": list(names), "counts": counts, "margin": 0, **parameters})

    def switch(self, parts: Sequence[Viewable]) -> None:
        """Show the part of the active tab and hide the others, from now on."""

        def show(*_: param.parameterized.Event) -> None:
            for place, part in enumerate(parts):
                part.visible = place == self.active

        self.param.watch(show, "active")
        show()
