"""Tables: all of one style."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import panel as pn
from bokeh.models.widgets.tables import NumberFormatter

# Smaller than the library's own, whose rules are marked important.
COMPACT = """
:host .pnx-tabulator.tabulator {font-size: 13px}
.tabulator-col-content {padding: 4px 6px !important}
.tabulator-row, .tabulator-cell {min-height: 26px !important}
.tabulator-cell {padding: 3px 6px !important}
.tabulator-row.tabulator-selected .tabulator-cell {color: var(--wf-paper) !important}
.tabulator-row:not(.tabulator-selected):hover {background: var(--wf-line) !important}
.tabulator-row:not(.tabulator-selected):hover .tabulator-cell {color: var(--wf-ink) !important}
.tabulator-footer {font-size: 12px}
.tabulator-footer .tabulator-page {padding: 2px 8px !important}
.tabulator-header-filter input {padding: 1px 4px !important}
"""

# For many narrow columns: the arrow is shown when a column is sorted, not before.
_NARROW = """
.tabulator-col[aria-sort="none"] .tabulator-col-sorter {display: none !important}
.tabulator-col[aria-sort="none"] .tabulator-col-title {padding-right: 0 !important}
.tabulator-col .tabulator-col-content {padding: 4px 3px !important}
.tabulator-col-title {font-size: 11px}
"""


def make_table(
    frame: pd.DataFrame,
    titles: Mapping[str, str],
    *,
    formats: Mapping[str, str] | None = None,
    narrow: bool = False,
    **options: Any,
) -> pn.widgets.Tabulator:
    """Make a table of plain text and numbers that cannot be edited.

    Parameters
    ----------
    titles : mapping of str
        By column, in the order in which they are shown. Tabulator takes them for HTML, so they
        must not come from users.
    formats : mapping of str, optional
        Number formats by column, whole numbers by default.
    narrow : bool
        Whether headings are small.
    """
    shown = frame[list(titles)]
    numbers = [name for name in shown if pd.api.types.is_numeric_dtype(shown[name])]
    formatters: dict[Any, Any] = {name: {"type": "plaintext"} for name in shown}
    for name in numbers:
        number_format = (formats or {}).get(str(name), "0,0")
        formatters[name] = NumberFormatter(format=number_format, nan_format="–")
    defaults: dict[str, Any] = {"selectable": False, "sizing_mode": "stretch_width", "margin": 0}
    return pn.widgets.Tabulator(
        shown,
        titles=dict(titles),
        formatters=formatters,
        text_align=dict.fromkeys(numbers, "right"),
        header_align=dict.fromkeys(numbers, "right"),
        show_index=False,
        disabled=True,
        layout="fit_columns",
        configuration={"rowHeight": 26},
        stylesheets=[COMPACT, _NARROW] if narrow else [COMPACT],
        **{**defaults, **options},
    )
