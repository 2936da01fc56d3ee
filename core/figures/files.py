"""Figures as files: PNG, SVG or PDF, whole or not at all, with what they show inside."""

import json
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core import atomic
from core.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
DPI = 300

# Fonts in PDF as outlines of their own kind, which publishers ask for, where the default is a kind
# that many of them refuse; text in SVG as text, to be edited and searched; and the same names of
# parts in the same figure. Matplotlib takes these from
# its global settings alone: they are ours while a file is written, one at a time.
_SETTINGS: dict[Any, Any] = {
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "wattfold",
}
_writing = threading.Lock()

# Where each format keeps a description. A date would make equal figures differ.
_DESCRIPTION: Mapping[str, tuple[str, dict[str, Any]]] = {
    ".png": ("Description", {"Software": "Wattfold"}),
    ".svg": ("Description", {"Creator": "Wattfold", "Date": None}),
    ".pdf": ("Keywords", {"Creator": "Wattfold", "CreationDate": None}),
}


def save_figure(
    figure: "Figure", path: str | Path, metadata: Mapping[str, Any] | None = None
) -> None:
    """Write a figure atomically, in the format of the path's suffix.

    Parameters
    ----------
    metadata : mapping, optional
        What the figure shows, such as the run's config; kept as JSON in the file's description.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"cannot write a figure as {path.name!r}; end it in {', '.join(FORMATS)}")
    from matplotlib import rc_context

    key, facts = _DESCRIPTION[suffix]
    described = dict(facts)
    if metadata is not None:
        described[key] = json.dumps(dict(metadata), sort_keys=True, default=str)
    with (
        atomic.new_file(path) as temporary,
        _writing,
        rc_context(_SETTINGS),
        warnings.catch_warnings(),
    ):
        # An id may hold any character; one that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(temporary, format=suffix[1:], dpi=DPI, metadata=described)
