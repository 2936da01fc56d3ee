"""Small parts of the page that the widget libraries do not have.

Ids and column names come from people's files. Every part here puts them on the page as text,
never as HTML.
"""

from dashboard.components.connection import ConnectionNotice
from dashboard.components.copy import CopyText
from dashboard.components.file_drop import FileDrop
from dashboard.components.keys import PageKeys
from dashboard.components.legend import ColorKey
from dashboard.components.links import PointLinks
from dashboard.components.settings import SettingsForm
from dashboard.components.small_map import MapMarks, SmallMap
from dashboard.components.text import PlainText

__all__ = [
    "ColorKey",
    "ConnectionNotice",
    "CopyText",
    "FileDrop",
    "MapMarks",
    "PageKeys",
    "PlainText",
    "PointLinks",
    "SettingsForm",
    "SmallMap",
]
