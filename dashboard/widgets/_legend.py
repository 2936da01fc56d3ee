"""The legend of the map: categories that can be switched off, or a scale."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from core.scene import Coloring, MapScene
from core.scene.coloring import HDR_TITLE
from dashboard.page_schedule import act

# Of a scale that every map has its own values on.
_LOW_TO_HIGH = ((0.0, "low"), (1.0, "high"))


class ColorKey(JSComponent):
    """What the colours say; ``choose`` is called with a category that is clicked with Shift.

    Not called a legend: panel-material-ui takes any class whose name ends in Legend for Bokeh's,
    and sets properties that it does not have.
    """

    title = param.String(default="", doc="What is coloured")
    entries = param.List(default=[], doc="Categories: a dict of name, color and note each")
    mark = param.Dict(default={}, doc="Name and note of the points that are marked by their shape")
    hidden = param.List(default=[], doc="Names of the categories that are switched off")
    scale = param.List(default=[], doc="The colours of a scale from its low to its high end")
    ticks = param.List(default=[], doc="Pairs of a place on the scale, 0 to 1, and its label")
    missing = param.String(default="", doc="How many points have no value, in words")

    _esm = Path(__file__).with_name("legend.js")

    def __init__(self, *, choose: Callable[[str], None] | None = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._choose = choose

    def _handle_msg(self, message: Any) -> None:
        # Messages come from the browser: only the names of categories count.
        if self._choose is not None and any(each["name"] == message for each in self.entries):
            act(partial(self._choose, message))

    def show_scene(self, scene: MapScene, *, dark: bool = False) -> None:
        """Tell what the colours and shapes of a map say."""
        # How many points are in a region follows from its name.
        self.show_colors(scene.coloring, dark=dark, counted=scene.coloring.title != HDR_TITLE)
        marked = len(scene.marked)
        self.mark = {"name": scene.mark_name, "note": f"{marked:,}"} if marked else {}

    def show_colors(self, coloring: Coloring, *, dark: bool = False, counted: bool = True) -> None:
        """Tell what colours say; how many points have each only where that is one number."""
        colors = coloring.palette(dark=dark)
        entries = [
            {"name": name, "color": color, "note": f"{count:,}" if counted else ""}
            for name, color, count in zip(coloring.names, colors, coloring.counts, strict=False)
            if count or not counted
        ]
        missing = f"{coloring.missing:,} not known (grey)" if coloring.missing else ""
        self.param.update(
            title=coloring.title,
            entries=entries,
            scale=list(colors[: coloring.scale_length : 4]),
            ticks=[list(tick) for tick in (coloring.ticks if counted else _LOW_TO_HIGH)],
            missing="" if coloring.names else missing,
        )
