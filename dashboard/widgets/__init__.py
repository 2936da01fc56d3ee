"""Small parts of the page that the widget libraries do not have.

Ids and column names come from people's files. Every part here shows them as text, never as HTML.
"""

from dashboard.widgets._connection import ConnectionNotice
from dashboard.widgets._copy_text import CopyText
from dashboard.widgets._dialogs import make_dialog
from dashboard.widgets._download import Download
from dashboard.widgets._file_drop import FileDrop
from dashboard.widgets._job_status import JobStatus, duration
from dashboard.widgets._keys import PageKeys
from dashboard.widgets._layout import column, row
from dashboard.widgets._legend import ColorKey
from dashboard.widgets._point_links import PointLinks
from dashboard.widgets._section import section
from dashboard.widgets._settings_form import SettingsForm
from dashboard.widgets._small_map import MapMarks, SmallMap
from dashboard.widgets._tables import COMPACT, make_table
from dashboard.widgets._text import PlainText

__all__ = [
    "COMPACT",
    "ColorKey",
    "ConnectionNotice",
    "CopyText",
    "Download",
    "FileDrop",
    "JobStatus",
    "MapMarks",
    "PageKeys",
    "PlainText",
    "PointLinks",
    "SettingsForm",
    "SmallMap",
    "column",
    "duration",
    "make_dialog",
    "make_table",
    "row",
    "section",
]
