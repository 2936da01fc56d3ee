"""Colours of points, on light and on dark paper; what is around them is in `core.theme`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.density import LEVELS

if TYPE_CHECKING:
    from matplotlib.colors import Colormap


def _by_level(*colors: str) -> Mapping[str, str]:
    return dict(zip(LEVELS, colors, strict=True))


# Yellow to dark red to black, as in the paper's figures.
HDR_COLORS = _by_level("#ffd92f", "#fdae38", "#f9763a", "#e03c31", "#a81c2f", "#641220", "#000000")
# The same order of lightness without red beside green or brown, for any kind of colour vision.
HDR_COLORS_SAFE = _by_level(
    "#fee838", "#c8b866", "#958f78", "#666970", "#35456c", "#00204d", "#000000"
)
# On dark paper the same colours, but the rarest points stand out as the lightest.
HDR_COLORS_DARK = _by_level(
    "#ffd92f", "#fdae38", "#f9763a", "#e8483f", "#c93a5b", "#e29bb5", "#ffffff"
)
HDR_COLORS_SAFE_DARK = _by_level(
    "#fee838", "#c8b866", "#958f78", "#757985", "#5575b5", "#93b8ee", "#ffffff"
)


def hdr_colors(*, safe: bool = False, dark: bool = False) -> Mapping[str, str]:
    """The colour of each level of `core.density.LEVELS`."""
    if dark:
        return HDR_COLORS_SAFE_DARK if safe else HDR_COLORS_DARK
    return HDR_COLORS_SAFE if safe else HDR_COLORS


ANOMALY = "#000000"
TYPICAL = "#e08a1e"
OTHERS = "#7d828b"
EDGE = "#5b6b82"
WRONG_EDGE = "#e0532f"

# Nights are dark, noon is bright, mornings are blue and evenings red; midnight meets itself.
_HOURS = {0: "#2b2d6e", 5: "#3a6ea8", 9: "#4fb3a5", 13: "#f3c653", 18: "#d9534f", 21: "#7d2f7a"}


def time_colormap() -> "Colormap":
    """Cyclic colours of the day, from 0 (midnight) to 1 (midnight)."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = [(hour / 24, color) for hour, color in _HOURS.items()] + [(1.0, _HOURS[0])]
    return LinearSegmentedColormap.from_list("time of day", stops, N=288)


def time_color(minute: np.ndarray | float) -> np.ndarray:
    """Colours (RGBA, 0 … 1) of minutes of the day."""
    return np.asarray(time_colormap()(np.mod(np.asarray(minute) / (24 * 60), 1.0)))
