"""Light or dark: as the visitor chose last, or as the system is set."""

from pathlib import Path
from typing import Any

from panel.custom import JSComponent


class Appearance(JSComponent):
    """Keeps the theme of the frame in the browser; shows nothing itself."""

    _esm = Path(__file__).with_name("appearance.js")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(width=0, height=0, margin=0, **parameters)
