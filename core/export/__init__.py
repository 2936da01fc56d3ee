"""What leaves Wattfold: figures, interactive maps, tables, reports.

Every file carries the config that made it, and :func:`read_config` gets it back.
"""

from core.export.figures import Paper
from core.export.privacy import Privacy, anonymise
from core.export.provenance import Provenance
from core.export.reading import read_config, read_provenance

__all__ = [
    "Paper",
    "Privacy",
    "Provenance",
    "anonymise",
    "read_config",
    "read_provenance",
]
