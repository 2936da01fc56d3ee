"""Parts one upon the other, as behind tabs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import param
from panel.custom import Children, JSComponent
from panel.viewable import Viewable


class Stack(JSComponent):
    """Parts of which one is seen, and the others keep their size behind it."""

    parts = Children(doc="What lies one upon the other")
    names = param.List(default=[], doc="What the parts are called")
    active = param.Integer(default=0, bounds=(0, None), doc="The part that is seen")

    _esm = Path(__file__).with_name("stack.js")

    def __init__(self, parts: Sequence[Viewable], **parameters: Any) -> None:
        super().__init__(
            **{"parts": list(parts), "sizing_mode": "stretch_width", "margin": 0, **parameters}
        )
