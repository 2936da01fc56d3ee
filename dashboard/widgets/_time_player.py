"""A slider that moves points from date to date."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from dashboard.page_schedule import act


class TimePlayer(JSComponent):
    """Plays the columns ``x0``, ``y0``, ``x1``, … of a Bokeh source, and what is between them.

    The browser does all of it: it moves the points of the source by writing its ``x`` and ``y``.
    """

    source = param.String(default="", doc="The name of the source")
    dates = param.List(default=[], doc="What the dates are called; none until they are known")
    is_open = param.Boolean(default=False, doc="Whether points follow the slider")
    note = param.String(default="", doc="Beside the button, as while the dates are computed")

    _esm = Path(__file__).with_name("time_player.js")

    def __init__(self, toggled: Callable[[bool], None], **parameters: Any) -> None:
        super().__init__(**parameters)
        self._toggled = toggled

    def _handle_msg(self, message: Any) -> None:
        is_open = message is True
        act(lambda: self._toggled(is_open))
