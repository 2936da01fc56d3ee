"""A framed part of a tab."""

from typing import Any

import panel as pn

from dashboard.widgets._text import PlainText

_FRAME = {
    "border": "1px solid color-mix(in srgb, currentColor 16%, transparent)",
    "border-radius": "8px",
    "padding": "12px 14px",
}


def section(
    heading: str, explanation: str, *parts: pn.viewable.Viewable | pn.viewable.Viewer, **layout: Any
) -> pn.Column:
    """Frame parts of a tab, with a heading and a sentence that explains them."""
    # Not a Paper: plots inside Material layouts lose their size (panel-material-ui #548).
    layout = {"sizing_mode": "stretch_width", **layout}
    layout["styles"] = {**_FRAME, **layout.get("styles", {})}
    return pn.Column(
        PlainText(heading, look="heading", margin=0, sizing_mode="stretch_width"),
        PlainText(explanation, look="quiet", margin=(2, 0, 8, 0), sizing_mode="stretch_width"),
        *parts,
        margin=6,
        **layout,
    )
