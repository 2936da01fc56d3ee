"""How Sphinx builds the documentation; ``make docs`` runs it with warnings as errors."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from make_reference import write_reference

from core.version import describe

project = "Wattfold"
author = "the Wattfold authors"
copyright = author
version = release = describe()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

# Types stand in the signatures already; napoleon would set those of the docstrings as links.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True
add_module_names = False

# Fonts are the reader's own: the pages ask no other host for anything.
html_theme = "furo"
html_title = "Wattfold"
html_copy_source = False
html_show_sphinx = False

write_reference(Path(__file__).parent / "reference")


def setup(app: Any) -> None:
    """Let links to what the benchmarks measured lead to the copies among these pages."""
    app.connect("source-read", _lead_to_copies)


def _lead_to_copies(app: Any, page: str, source: list[str]) -> None:
    up = "../" * page.count("/")
    source[0] = re.sub(
        r"\]\((?:\.\./)+benchmarks/results/", f"]({up}reference/measured/", source[0]
    )
