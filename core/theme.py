"""The look of Wattfold: colours, type and spacing, for light and dark paper.

The page, Bokeh, Matplotlib and the report read it here, so that a picture is the same wherever it
is seen. Nothing heavy is imported.
"""

from dataclasses import dataclass
from typing import Any

# Those that the page brings or the system has: nothing is loaded from elsewhere.
FONTS = ("Inter", "Roboto", "system-ui", "Segoe UI", "Helvetica Neue", "Arial", "sans-serif")
FONT_FAMILY = ", ".join(f'"{font}"' if " " in font else font for font in FONTS)

# Type scale, round corners and the bar, in pixels.
TITLE, HEADING, BODY, SMALL, TINY = 17, 13, 13, 12, 11
RADIUS = 6
BAR_HEIGHT = 44


@dataclass(frozen=True)
class Theme:
    """The colours around the data.

    Attributes
    ----------
    dark : bool
        Whether the paper is dark.
    paper : str
        Behind points and charts; letters on a map have a rim of it.
    surface : str
        Of bars and panels beside it.
    line : str
        Between panels, and of grids.
    ink : str
        Of text, and of the outline of marked points.
    quiet : str
        Of text that explains.
    outline : str
        Of points that are not marked.
    pale : str
        Of points that are not chosen.
    accent : str
        Of what is selected or can be pressed, and of nothing else.
    error : str
    """

    dark: bool
    paper: str
    surface: str
    line: str
    ink: str
    quiet: str
    outline: str
    pale: str
    accent: str
    error: str


LIGHT = Theme(
    dark=False,
    paper="#ffffff",
    surface="#f7f7f5",
    line="#e3e2de",
    ink="#1c1f24",
    quiet="#5c636e",
    outline="#7d828b",
    pale="#d3d6db",
    accent="#2a5bd7",
    error="#b3261e",
)
DARK = Theme(
    dark=True,
    paper="#141518",
    surface="#1b1d21",
    line="#2e3138",
    ink="#eceef1",
    quiet="#a3aab5",
    outline="#8b9099",
    pale="#3f444c",
    accent="#86aaff",
    error="#ff8a80",
)


def css_variables(theme: Theme) -> str:
    """The theme as declarations of CSS variables, ``--wf-ink`` and so on."""
    colors = ("paper", "surface", "line", "ink", "quiet", "pale", "accent", "error")
    declared = {name: getattr(theme, name) for name in colors}
    sizes = {"title": TITLE, "heading": HEADING, "body": BODY, "small": SMALL, "tiny": TINY}
    declared |= {f"{name}-size": f"{size}px" for name, size in sizes.items()}
    declared |= {"radius": f"{RADIUS}px", "bar": f"{BAR_HEIGHT}px", "font": FONT_FAMILY}
    return "; ".join(f"--wf-{name}: {value}" for name, value in declared.items())


def bokeh_attributes(theme: Theme) -> dict[str, Any]:
    """What Bokeh's models look like, as ``bokeh.themes.Theme`` takes it."""
    text = {"text_font": FONT_FAMILY, "text_color": theme.ink}

    def prefixed(prefix: str, **changes: Any) -> dict[str, Any]:
        return {f"{prefix}_{name}": value for name, value in (text | changes).items()}

    return {
        "Plot": {
            "background_fill_color": theme.paper,
            "border_fill_color": theme.paper,
            "outline_line_color": None,
        },
        "Grid": {"grid_line_color": theme.line, "grid_line_alpha": 1.0},
        "Axis": {
            "axis_line_color": theme.line,
            "major_tick_line_color": theme.line,
            "minor_tick_line_color": None,
            "axis_label_standoff": 6,
            **prefixed(
                "axis_label",
                text_color=theme.quiet,
                text_font_size=f"{SMALL}px",
                text_font_style="normal",
            ),
            **prefixed("major_label", text_color=theme.quiet, text_font_size=f"{TINY}px"),
        },
        "Legend": {
            "background_fill_alpha": 0.0,
            "border_line_color": None,
            "spacing": 6,
            "glyph_width": 14,
            "label_standoff": 6,
            **prefixed("label", text_font_size=f"{SMALL}px"),
        },
        "Title": {**text, "text_font_size": f"{HEADING}px", "text_font_style": "bold"},
        "ColorBar": {
            "background_fill_color": theme.paper,
            **prefixed("title", text_font_size=f"{SMALL}px", text_font_style="normal"),
            **prefixed("major_label", text_font_size=f"{TINY}px"),
        },
    }
