"""A notice when the connection to the server is lost."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent


class ConnectionNotice(JSComponent):
    """A line at the bottom of the window, once the connection to the server is lost."""

    text = param.String(
        default="The connection to the server is lost. What is on the screen stays, but answers "
        "no more; a reload starts afresh.",
        doc="What is said",
    )

    _esm = Path(__file__).with_name("connection.js")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(width=0, height=0, margin=0, **parameters)
