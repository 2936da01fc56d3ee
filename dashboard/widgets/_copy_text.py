"""A text to copy."""

from pathlib import Path

import param
from panel.custom import JSComponent


class CopyText(JSComponent):
    """A text that can be read and copied, not changed."""

    text = param.String(default="", doc="What is copied")
    label = param.String(default="Text", doc="The accessible name")
    is_query = param.Boolean(
        default=False, doc="Whether the text is the query of a link to this page, as ``?a=b``"
    )
    lines = param.Integer(default=1, bounds=(1, 20), doc="How many lines are seen")

    _esm = Path(__file__).with_name("copy.js")
