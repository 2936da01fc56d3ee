"""The drawer below the map: what is unusual, what is chosen, and what is to be looked into."""

import panel as pn
import param

from dashboard.explore import AnomalyList, chosen_table
from dashboard.state import Explorer
from dashboard.widgets import TabBar, column, row
from dashboard.worklist import WorklistTab

_ANOMALIES, _CHOSEN, _WORKLIST = range(3)


def make_drawer(
    explorer: Explorer, anomalies: AnomalyList, worklist: WorklistTab
) -> pn.viewable.Viewable:
    """Put the tables behind tabs, each with how many there are."""
    tabs = TabBar(["Anomalies", "Chosen", "Worklist"], label="Tables")
    tables = [anomalies.panel, column(chosen_table(explorer)), worklist.panel]
    tabs.switch(tables)

    def count(place: int, some: int) -> None:
        counts = list(tabs.counts)
        counts[place] = f"{some:,}" if some else ""
        tabs.counts = counts

    def follow_chosen(event: param.parameterized.Event) -> None:
        count(_CHOSEN, len(event.new))
        if len(event.new):
            tabs.active = _CHOSEN
        elif tabs.active == _CHOSEN:
            tabs.active = _ANOMALIES

    def show_worklist(event: param.parameterized.Event) -> None:
        if event.new == _WORKLIST:
            worklist.show()

    flagged = explorer.flagged
    explorer.param.watch(follow_chosen, "chosen")
    flagged.param.watch(lambda _: count(_WORKLIST, flagged.progress()[1]), "worklist")
    tabs.param.watch(show_worklist, "active")
    return column(row(tabs, margin=(2, 6)), *tables)
