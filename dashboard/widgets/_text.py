"""Plain text: no Markdown, no HTML."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent


def as_sentence(text: str) -> str:
    """Return a text with a capital first letter, as an error that stands by itself."""
    return text[:1].upper() + text[1:]


class PlainText(JSComponent):
    """A text, shown character by character as it is."""

    text = param.String(default="", doc="Line breaks are kept")
    look: Any = param.Selector(
        default="body",
        objects=["brand", "title", "headline", "heading", "body", "quiet", "error", "report"],
        doc="The style of the text",
    )

    _esm = Path(__file__).with_name("text.js")

    def __init__(self, text: str = "", **parameters: Any) -> None:
        super().__init__(text=text, **parameters)

    def say(self, text: str) -> None:
        """Show another text; nothing, not even its margins, if it is empty."""
        self.param.update(text=text, visible=bool(text))
