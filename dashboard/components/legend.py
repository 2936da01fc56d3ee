"""The legend of the map: categories that can be switched off, or a scale."""

from pathlib import Path

import param
from panel.custom import JSComponent


class ColorKey(JSComponent):
    """What the colours say.

    It is not called a legend: panel-material-ui takes whatever's name ends so for Bokeh's, and sets
    properties on it that it does not have.
    """

    title = param.String(default="", doc="What is coloured")
    entries = param.List(default=[], doc="Categories: a dict of name, color and note each")
    hidden = param.List(default=[], doc="Names of the categories that are switched off")
    scale = param.List(default=[], doc="The colours of a scale from its low to its high end")
    ticks = param.List(default=[], doc="Pairs of a place on the scale, 0 to 1, and its label")
    missing = param.String(default="", doc="How many points have no value, in words")

    _esm = Path(__file__).with_name("legend.js")
