"""The commands of ``wattfold`` that need no page, one module each."""

from core.commands import (
    anomalies,
    append,
    cache,
    demo,
    embed,
    groups,
    info,
    ingest,
    place,
    segments,
    study,
    watch,
    worklist,
)

COMMANDS = (
    demo,
    ingest,
    append,
    info,
    embed,
    anomalies,
    groups,
    segments,
    place,
    watch,
    worklist,
    study,
    cache,
)
