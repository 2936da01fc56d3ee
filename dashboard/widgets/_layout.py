"""Rows and columns that fill the width."""

from typing import Any

import panel as pn

_WRAPS = ":host {flex-wrap: wrap}"
# What shares the width of a window is one below the other on a phone.
_BELOW_ON_PHONES = f"@media (max-width: 700px) {{{_WRAPS} * {{flex: 0 0 100% !important}}}}"

# Stays in sight while what is below it scrolls.
ON_TOP = {
    "position": "sticky",
    "top": "0",
    "z-index": "3",
    "background": "var(--wf-paper)",
    "padding": "2px 6px",
}
_FILL: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0}


def column(*parts: Any, **options: Any) -> pn.Column:
    """Stack parts; as wide as there is room and as high as they are, without margins."""
    # Bokeh would keep it as low as what holds it, and let its parts cover what is below.
    styles = {"max-height": "none", **options.pop("styles", {})}
    return pn.Column(*parts, styles=styles, **{**_FILL, **options})


def row(*parts: Any, **options: Any) -> pn.Row:
    """Put parts side by side; as wide as there is room, without margins."""
    return pn.Row(*parts, **{**_FILL, **options})


def split_row(*parts: Any, **options: Any) -> pn.Row:
    """Put parts side by side that share the width; one below the other on a phone."""
    return row(*parts, stylesheets=[_BELOW_ON_PHONES], **options)


def wrapped_row(*parts: Any, **options: Any) -> pn.Row:
    """Put parts side by side, and on further lines where there is no room."""
    return row(*parts, stylesheets=[_WRAPS], **options)
