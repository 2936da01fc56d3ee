"""Which days count: from one day to another, and in which months of the year."""

import param

from core.errors import InputError
from core.periods import Period
from dashboard.state import Explorer
from dashboard.widgets import PeriodField


def period_picker(explorer: Explorer) -> PeriodField:
    """Return the fields of the period, tied to the explorer's settings."""
    households = explorer.dataset.households
    start = households["first"].min().date().isoformat()
    end = households["last"].max().date().isoformat()
    field = PeriodField(start=start, end=end, sizing_mode="stretch_width", margin=(6, 10, 4, 10))

    def show(*_: param.parameterized.Event) -> None:
        """Show the settings; a day that is not set is that of the record."""
        field.param.update(
            first=explorer.first_day or start,
            last=explorer.last_day or end,
            months=[int(number) for number in explorer.months.split(",") if number],
        )

    def take(*_: param.parameterized.Event) -> None:
        # Values come from the browser: what is no period is dropped.
        try:
            period = Period.parse(field.first, field.last, field.months)
        except (InputError, TypeError):
            show()
            return
        explorer.param.update(
            first_day="" if field.first <= start else field.first,
            last_day="" if field.last >= end else field.last,
            months=",".join(map(str, period.months)),
        )

    show()
    field.param.watch(take, ["first", "last", "months"])
    explorer.param.watch(show, ["first_day", "last_day", "months"])
    return field
