"""Small parts of the page that the widget libraries do not have.

Ids and column names come from people's files. Every part here shows them as text, never as HTML.
"""

from dashboard.widgets._appearance import Appearance
from dashboard.widgets._browser import BrowserStore, PageAddress
from dashboard.widgets._copy_text import CopyText
from dashboard.widgets._dialogs import make_dialog
from dashboard.widgets._disclosure import Disclosure
from dashboard.widgets._download import Download
from dashboard.widgets._files_drop import FilesDrop
from dashboard.widgets._import_form import ImportForm
from dashboard.widgets._job_status import JobStatus, duration
from dashboard.widgets._keys import PageKeys
from dashboard.widgets._layout import ON_TOP, column, row, split_row, wrapped_row
from dashboard.widgets._legend import ColorKey
from dashboard.widgets._page_notice import PageNotice
from dashboard.widgets._period import PeriodField
from dashboard.widgets._point_links import PointLinks
from dashboard.widgets._section import section
from dashboard.widgets._settings_form import SettingsForm
from dashboard.widgets._small_map import MapMarks, SmallMap
from dashboard.widgets._split import SplitPane
from dashboard.widgets._tab_bar import TabBar
from dashboard.widgets._tables import COMPACT, make_table
from dashboard.widgets._text import PlainText, as_sentence
from dashboard.widgets._time_player import TimePlayer
from dashboard.widgets._tour_player import TourPlayer

__all__ = [
    "COMPACT",
    "ON_TOP",
    "Appearance",
    "BrowserStore",
    "ColorKey",
    "CopyText",
    "Disclosure",
    "Download",
    "FilesDrop",
    "ImportForm",
    "JobStatus",
    "MapMarks",
    "PageAddress",
    "PageKeys",
    "PageNotice",
    "PeriodField",
    "PlainText",
    "PointLinks",
    "SettingsForm",
    "SmallMap",
    "SplitPane",
    "TabBar",
    "TimePlayer",
    "TourPlayer",
    "as_sentence",
    "column",
    "duration",
    "make_dialog",
    "make_table",
    "row",
    "section",
    "split_row",
    "wrapped_row",
]
