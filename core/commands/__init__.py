"""The commands of ``wattfold`` that need no page, one module each."""

from core.commands import cache, demo, embed, info, ingest

COMMANDS = (demo, ingest, info, embed, cache)
