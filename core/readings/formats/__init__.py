"""The formats of meter readings, one module each.

A format recognises its files and stages their readings; the rules that hold for all readings
(grid, duplicates, clock changes, accounts) come after it and know nothing of it.
"""

from core.errors import InputError
from core.readings.formats import cer, lcl, long, nem12, sgsc, wide
from core.readings.formats.base import Format
from core.readings.sources import Source
from core.registry import Registry

# In the order in which they are tried: the particular before the general.
FORMATS: Registry[Format] = Registry("format")
for _module in (nem12, cer, lcl, sgsc, wide, long):
    FORMATS.register(_module.FORMAT)


def recognise(source: Source) -> Format:
    """Return the format of a source, or say what is missing in it."""
    for format in FORMATS.values():
        if format.recognises(source):
            return format
    raise InputError(
        f"{source.name} is in no known format; choose one of {', '.join(FORMATS)} with --format"
    )
