"""The commands of ``wattfold`` that need no page, one module each."""

from core.commands import (
    anomalies,
    append,
    cache,
    demo,
    embed,
    info,
    ingest,
    place,
    study,
    watch,
)

COMMANDS = (demo, ingest, append, info, embed, anomalies, place, watch, study, cache)
