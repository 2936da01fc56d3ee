"""How tables look."""

# Smaller than the library's own, whose rules are marked important.
COMPACT = """
:host .pnx-tabulator.tabulator {font-size: 13px}
.tabulator-col-content {padding: 4px 6px !important}
.tabulator-row, .tabulator-cell {min-height: 26px !important}
.tabulator-cell {padding: 3px 6px !important}
.tabulator-footer {font-size: 12px}
.tabulator-footer .tabulator-page {padding: 2px 8px !important}
.tabulator-header-filter input {padding: 1px 4px !important}
"""

# Headings of many narrow columns: the arrow is there when a column is sorted, not before.
TIGHT_HEADINGS = """
.tabulator-col[aria-sort="none"] .tabulator-col-sorter {display: none !important}
.tabulator-col[aria-sort="none"] .tabulator-col-title {padding-right: 0 !important}
.tabulator-col .tabulator-col-content {padding: 4px 3px !important}
.tabulator-col-title {font-size: 11px}
"""
