"""A slow walk around points of more than two dimensions."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.page_schedule import act


class TourPlayer(JSComponent):
    """Turns the columns ``c0``, ``c1``, … of a Bokeh source and writes their projection, x and y.

    The browser does all of it. ``told`` is called with what the visitor does: ``{"tour": True}``,
    ``{"axes": choice}``, or ``{"basis": rows}`` where the tour is paused.
    """

    source = param.String(default="", doc="The name of the source")
    choices = param.List(default=[], doc="Pairs of axes, by what they are called")
    chosen = param.String(default="", doc="The pair that is seen")
    basis = param.List(default=[], doc="Where the tour starts: two numbers per axis")
    is_open = param.Boolean(default=False, doc="Whether points move")
    note = param.String(default="", doc="Beside the button")

    _esm = Path(__file__).with_name("tour_player.js")

    def __init__(self, told: Callable[[Any], None], **parameters: Any) -> None:
        super().__init__(**parameters)
        self._told = told

    def _handle_msg(self, message: Any) -> None:
        act(partial(self._told, message))
