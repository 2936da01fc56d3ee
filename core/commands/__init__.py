"""The commands of ``wattfold`` that need no page, one module each."""

from core.commands import cache, demo, embed, info, ingest, place, study

COMMANDS = (demo, ingest, info, embed, place, study, cache)
