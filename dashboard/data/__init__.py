"""The Data tab, and the dialog that opens other data."""

from dashboard.data.data_tab import DataTab
from dashboard.data.open_dialog import OpenDataDialog

__all__ = ["DataTab", "OpenDataDialog"]
