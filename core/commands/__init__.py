"""The commands of ``wattfold`` that need no page, one module each."""

from core.commands import cache, demo, embed, info, ingest, study

COMMANDS = (demo, ingest, info, embed, study, cache)
