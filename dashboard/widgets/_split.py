"""Two panes, the smaller of which folds and drags."""

from pathlib import Path
from typing import Any

import param
from panel.custom import Child, JSComponent


class SplitPane(JSComponent):
    """A main pane and one beside or below it; one below the other in a narrow window.

    Its size, and whether it is open, are kept in the browser under the name ``keep``.
    """

    main = Child(doc="What has the rest of the room")
    side = Child(doc="What folds and drags")
    place: Any = param.Selector(
        default="right", objects=["left", "right", "bottom"], doc="Where the side pane is"
    )
    size = param.Integer(default=300, bounds=(0, 10_000), doc="Of the side pane, in pixels")
    minimum = param.Integer(default=120, doc="The least size, in pixels")
    open = param.Boolean(default=True, doc="Whether the side pane is seen")
    scrolls = param.Boolean(default=True, doc="Whether the side pane scrolls as a whole")
    label = param.String(default="", doc="What the side pane is called")
    keep = param.String(default="", doc="The name under which the browser keeps size and fold")

    _esm = Path(__file__).with_name("split.js")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_both", "margin": 0, **parameters})
