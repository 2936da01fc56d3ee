"""What leaves Wattfold: figures, interactive maps, tables, reports.

Every file carries the config that made it, and :func:`read_config` gets it back.
"""

from core.export.figure_views import Paper
from core.export.privacy import Anonymous, Privacy, anonymise
from core.export.provenance import Provenance
from core.export.read_back import read_config, read_provenance

__all__ = [
    "Anonymous",
    "Paper",
    "Privacy",
    "Provenance",
    "anonymise",
    "read_config",
    "read_provenance",
]
