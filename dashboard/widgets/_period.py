"""Fields for a period of the record."""

from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent


class PeriodField(JSComponent):
    """From one day to another, and in some months of the year."""

    start = param.String(default="", doc="The first day of the record, as an ISO date")
    end = param.String(default="", doc="The last day of the record")
    first = param.String(default="", doc="The first day that counts")
    last = param.String(default="", doc="The last day that counts, itself included")
    months: Any = param.List(default=[], doc="Months that count, from 1; none stands for all")

    _esm = Path(__file__).with_name("period.js")
