"""What a format is."""

from collections.abc import Callable
from dataclasses import dataclass

from core.readings.options import IngestOptions, Stamp
from core.readings.sources import Source
from core.readings.staging import Staging
from core.registry import Parameter


@dataclass(frozen=True, kw_only=True)
class Format:
    """A way in which readings are written down.

    Attributes
    ----------
    recognises : callable
        Whether a source looks like this format; the first format that says yes gets it.
    stage : callable
        Puts the readings of a source into the staging table.
    stamp : {"start", "end"}
        Which end of its interval a time marks, unless the user says otherwise.
    """

    name: str
    title: str
    help: str
    recognises: Callable[[Source], bool]
    stage: Callable[[Source, Staging, IngestOptions], None]
    stamp: Stamp = "start"
    parameters: tuple[Parameter, ...] = ()
