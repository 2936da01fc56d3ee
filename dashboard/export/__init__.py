"""Files and links to take away, and the way back from a file."""

from dashboard.export.export_dialog import ExportDialog
from dashboard.export.file_job import FileJob
from dashboard.export.sharing import Sharing

__all__ = ["ExportDialog", "FileJob", "Sharing"]
