"""The theme of `core.theme` for the page: Material's settings, and the CSS around them."""

from typing import Any

from core.theme import (
    BAR_HEIGHT,
    BODY,
    DARK,
    FONT_FAMILY,
    LIGHT,
    RADIUS,
    SMALL,
    Theme,
    css_variables,
)

# Pixels that the panes beside and below the map have when the page is first opened.
DETAIL_WIDTH, DRAWER_HEIGHT = 380, 180

# The library greys the page out until its last plot is drawn: let the wheel turn in the bar, and
# the page be seen. What is clicked before that would be lost, so the cover stays, unless the server
# is gone: then the notice offers a reload.
_LOADER = """
#loader {background: none; cursor: progress}
#loader.error {pointer-events: none}
#loader .spinner {position: fixed; right: 12px; bottom: 12px; width: 18px; height: 18px;
                  border: 2px solid var(--wf-line); border-top-color: var(--wf-accent)}
"""

# The bar and the panes as empty boxes, from the first byte of the page until the browser has built
# what goes into them.
_SKELETON = f"""
#loader + [data-root-id]:empty::before {{
  content: "Wattfold"; position: fixed; inset: 0; padding: 12px 54px;
  color: var(--wf-ink); font: 600 var(--wf-title-size) var(--wf-font);
  background: linear-gradient(var(--wf-line), var(--wf-line)) 0 {BAR_HEIGHT - 1}px / 100% 1px,
    linear-gradient(var(--wf-surface), var(--wf-surface)) 0 0 / 100% {BAR_HEIGHT}px,
    linear-gradient(var(--wf-line), var(--wf-line))
      calc(100% - {DETAIL_WIDTH}px) {BAR_HEIGHT}px / 1px 100%,
    linear-gradient(var(--wf-line), var(--wf-line))
      0 calc(100% - {DRAWER_HEIGHT}px) / calc(100% - {DETAIL_WIDTH}px) 1px;
  background-repeat: no-repeat;
}}
@media (max-width: 700px) {{#loader + [data-root-id]:empty::before {{background-size:
  100% 1px, 100% {BAR_HEIGHT}px, 0 0, 0 0}}}}
"""

# The variables follow the frame, which marks the page when it changes its theme; before there is a
# frame, they follow the system.
PAGE_CSS = f"""
:root {{{css_variables(LIGHT)}; color-scheme: light; --bokeh-font-size: {SMALL}px !important}}
@media (prefers-color-scheme: dark) {{
  :root:not([data-paper]) {{{css_variables(DARK)}; color-scheme: dark}}
}}
:root[data-paper="dark"] {{{css_variables(DARK)}; color-scheme: dark}}
body {{background: var(--wf-paper); color: var(--wf-ink); font-family: var(--wf-font)}}
{_LOADER}
{_SKELETON}
"""

# All of the window below the bar; in a narrow one as high as what is in it.
FULL_HEIGHT = f"""
:host {{height: calc(100dvh - {BAR_HEIGHT - 1}px) !important; flex: none !important}}
@media (max-width: 700px) {{:host {{height: auto !important}}}}
"""


_FLAT = {"boxShadow": "none", "backgroundImage": "none"}
# The bar's progress line takes room even where the frame is told to have none.
_BAR = {
    "minHeight": f"{BAR_HEIGHT - 1}px !important",
    "height": BAR_HEIGHT - 1,
    "margin": "0 !important",
}

_COMMON: dict[str, Any] = {
    "shape": {"borderRadius": RADIUS},
    "typography": {
        "fontFamily": FONT_FAMILY,
        "fontSize": BODY,
        "button": {"textTransform": "none", "fontWeight": 500},
    },
    "components": {
        "MuiToolbar": {"styleOverrides": {"root": {**_BAR, "padding": "0 8px !important"}}},
        "MuiAppBar": {
            "styleOverrides": {
                "root": {
                    **_FLAT,
                    "backgroundColor": "var(--wf-surface) !important",
                    "color": "var(--wf-ink) !important",
                    "borderBottom": "1px solid var(--wf-line)",
                    "& .MuiLinearProgress-root": {"display": "none"},
                }
            }
        },
        "MuiButton": {
            "defaultProps": {"disableElevation": True},
            "styleOverrides": {
                "root": {"fontSize": BODY, "lineHeight": 1.4, "padding": "4px 10px", "minWidth": 0}
            },
        },
        "MuiPaper": {"styleOverrides": {"root": {"backgroundImage": "none"}}},
        "MuiOutlinedInput": {
            "styleOverrides": {
                "input": {"padding": "6px 10px", "fontSize": BODY},
                "notchedOutline": {"borderColor": "var(--wf-line)"},
            }
        },
        "MuiAutocomplete": {
            "styleOverrides": {
                "inputRoot": {"padding": "1px 6px !important", "fontSize": BODY},
                "input": {"padding": "4px 4px !important"},
            }
        },
        "MuiSelect": {"styleOverrides": {"select": {"minHeight": "1.4em", "fontSize": BODY}}},
        "MuiInputLabel": {
            "styleOverrides": {
                "root": {
                    "fontSize": BODY,
                    "&:not(.MuiInputLabel-shrink)": {"transform": "translate(12px, 7px) scale(1)"},
                }
            }
        },
        "MuiMenuItem": {"styleOverrides": {"root": {"fontSize": BODY, "minHeight": 30}}},
        # Also of a button that gets the focus when a dialog closes: the others stay free.
        "MuiTooltip": {
            "defaultProps": {"disableInteractive": True},
            "styleOverrides": {"tooltip": {"fontSize": SMALL, "width": "max-content"}},
        },
    },
}


NOT_ON_PHONES = "@media (max-width: 700px) {:host {display: none !important}}"


def _material(theme: Theme) -> dict[str, Any]:
    palette = {
        "primary": {"main": theme.accent, "contrastText": theme.paper},
        "error": {"main": theme.error},
        "text": {"primary": theme.ink, "secondary": theme.quiet},
        "background": {"default": theme.paper, "paper": theme.paper},
        "divider": theme.line,
    }
    return {"palette": palette, **_COMMON}


MATERIAL = {"light": _material(LIGHT), "dark": _material(DARK)}
