"""Text as it is: no Markdown, no HTML."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent


class PlainText(JSComponent):
    """A piece of text, shown to the letter."""

    text = param.String(default="", doc="What is shown; line breaks are kept")
    look: Any = param.Selector(
        default="body",
        objects=["title", "heading", "body", "quiet", "error", "report"],
        doc="How it is set",
    )

    _esm = Path(__file__).with_name("text.js")

    def __init__(self, text: str = "", **parameters: Any) -> None:
        super().__init__(text=text, **parameters)
