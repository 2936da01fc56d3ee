"""The formats of meter readings, one module each.

A format recognises its files and plans how their cells become readings; the rules that hold for
all readings (grid, duplicates, clock changes, accounts) come after it and know nothing of it.
"""

from core.readings.formats import across, cer, days, lcl, long, nem12, sgsc, wide
from core.readings.formats.base import Format
from core.readings.options import IngestOptions
from core.readings.sources import Source
from core.registry import Registry

# In the order in which they are tried: the particular before the general.
FORMATS: Registry[Format] = Registry("format")
for _module in (nem12, cer, lcl, sgsc, days, across, wide, long):
    FORMATS.register(_module.FORMAT)


def recognise(source: Source, options: IngestOptions) -> Format:
    """Return the format of a source; the last one takes whatever no other takes."""
    if options.format != "auto":
        return FORMATS[options.format]
    return next(each for each in FORMATS.values() if each.recognises(source, options))
