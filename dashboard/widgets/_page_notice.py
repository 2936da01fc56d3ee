"""A notice over the page: the connection is lost, the data have changed, something failed."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent


class PageNotice(JSComponent):
    """A line at the bottom of the window; by itself once the connection to the server is lost."""

    lost = param.String(
        default="The connection to the server is lost. What is on the screen stays, but answers "
        "no more; a reload starts afresh.",
        constant=True,
        doc="What is said when the connection is lost",
    )
    text = param.String(default="", doc="What is said now; nothing if empty")
    offers_reload = param.Boolean(default=False, doc="Whether a reload is offered")

    _esm = Path(__file__).with_name("page_notice.js")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(width=0, height=0, margin=0, **parameters)

    def tell(self, text: str, *, offers_reload: bool = False) -> None:
        """Show a sentence until it is closed."""
        self.param.update(text=text, offers_reload=offers_reload)
