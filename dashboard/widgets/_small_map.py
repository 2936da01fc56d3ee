"""One of many maps of the same points: a heading that opens it, figures, and a picture."""

import math
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.page_schedule import act


class SmallMap(JSComponent):
    """A map that answers clicks and shows where the point under the pointer is on all the others.

    Places are in a frame of their own, from (0, 0) to ``extent``, as float32 pairs; points are
    drawn in their order, the last on top.

    Parameters
    ----------
    opened : callable
        Called when the heading is clicked.
    tapped : callable
        Called with ``(x, y, reach)``, in the frame, when the map is clicked.
    """

    heading = param.String(default="", doc="What is clicked to open the map")
    hint = param.String(default="", doc="The heading in full words")
    opens = param.Boolean(default=False, doc="Whether there is something to open")
    figures = param.List(default=[], doc="Lists of a name, a text, its meaning, and if it is best")
    state: Any = param.Selector(
        default="absent", objects=["absent", "waiting", "failed", "drawn"], doc="What to show"
    )
    message = param.String(default="", doc="What is said in place of a map")
    fraction = param.Number(default=0.0, doc="How much of a map that is waited for is done")
    shape = param.String(default="1.15", doc="Width to height, as in CSS")
    extent = param.List(default=[1.0, 1.0], doc="Width and height of the frame")
    places = param.Bytes(default=b"", doc="x and y of each marker, float32")
    rows = param.Bytes(default=b"", doc="The point of each marker, int32")
    names = param.List(default=[], doc="What the markers are called")
    codes = param.Bytes(default=b"", doc="The colour of each marker, uint8")
    colors = param.List(default=[], doc="As #rrggbb")
    shown = param.Integer(default=0, doc="How many of the last markers are seen")
    marked = param.Integer(default=0, doc="How many of the last markers are diamonds")
    ink = param.String(default="#1f2328", doc="The outline of diamonds")
    outline = param.String(default="#7d828b", doc="The outline of other markers")
    size = param.Number(default=5.0, doc="Diameter of a marker in pixels")
    image = param.Bytes(default=b"", doc="A PNG of the frame, below the markers")
    links = param.Bytes(default=b"", doc="Pairs of markers that are joined, uint32")
    wrong_links = param.Bytes(default=b"", doc="The same, drawn so that they stand out")
    key = param.String(default="", doc="What `MapMarks` calls it")

    _esm = Path(__file__).with_name("small_map.js")

    def __init__(
        self,
        *,
        opened: Callable[[], None] | None = None,
        tapped: Callable[[float, float, float], None] | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__(key=uuid.uuid4().hex, **parameters)
        self._opened = opened
        self._tapped = tapped

    def _handle_msg(self, message: Any) -> None:
        # Messages come from the browser: only what it can rightly say counts.
        action: Callable[[], None] | None = None
        match message:
            case {"open": True} if self.opens:
                action = self._opened
            case {"tap": [float() | int() as x, float() | int() as y, float() | int() as reach]}:
                if self._tapped and all(math.isfinite(value) for value in (x, y, reach)):
                    action = partial(self._tapped, float(x), float(y), float(reach))
        if action is not None:
            act(action)


class MapMarks(JSComponent):
    """The rings and lines of all small maps; one change marks a point on every one of them."""

    marks = param.List(
        default=[],
        doc="For each map its key, its rings (x, y, radius in pixels) and its lines (x, y, x, y)",
    )

    _esm = Path(__file__).with_name("map_marks.js")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**{"width": 0, "height": 0, "margin": 0, **parameters})
