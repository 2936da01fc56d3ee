"""Rows and columns that fill the width."""

from typing import Any

import panel as pn

_WRAPS = ":host {flex-wrap: wrap}"

_FILL: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}


def column(*parts: Any, **options: Any) -> pn.Column:
    """Stack parts; as wide as there is room, without margins."""
    return pn.Column(*parts, **{**_FILL, **options})


def row(*parts: Any, **options: Any) -> pn.Row:
    """Put parts side by side; as wide as there is room, without margins."""
    return pn.Row(*parts, **{**_FILL, **options})


def wrapped_row(*parts: Any, **options: Any) -> pn.Row:
    """Put parts side by side, and on further lines where there is no room."""
    return row(*parts, stylesheets=[_WRAPS], **options)
