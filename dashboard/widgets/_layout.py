"""Rows and columns that fill the width."""

from typing import Any

import panel as pn

_FILL: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}


def column(*parts: Any, **options: Any) -> pn.Column:
    """Stack parts; as wide as there is room, without margins."""
    return pn.Column(*parts, **{**_FILL, **options})


def row(*parts: Any, **options: Any) -> pn.Row:
    """Put parts side by side; as wide as there is room, without margins."""
    return pn.Row(*parts, **{**_FILL, **options})
