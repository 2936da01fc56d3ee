"""The drawer below the map: what is unusual, chosen, to be looked into, and of one kind."""

import panel as pn
import param

from dashboard.explore import AnomalyList, chosen_table
from dashboard.segments import SegmentsTab
from dashboard.state import Explorer
from dashboard.state.map_colors import SEGMENTS
from dashboard.widgets import ON_TOP, TabBar, column, row
from dashboard.worklist import WorklistTab

_ANOMALIES, _CHOSEN, _WORKLIST, _SEGMENTS = range(4)


def make_drawer(
    explorer: Explorer, anomalies: AnomalyList, worklist: WorklistTab, segments: SegmentsTab
) -> pn.viewable.Viewable:
    """Put the tables behind tabs, each with how many there are."""
    tabs = TabBar(["Anomalies", "Chosen", "Worklist", "Segments"], label="Tables")
    tables = [anomalies.panel, column(chosen_table(explorer)), worklist.panel, segments.panel]

    def count(place: int, some: int) -> None:
        counts = list(tabs.counts)
        counts[place] = f"{some:,}" if some else ""
        tabs.counts = counts

    def follow_chosen(event: param.parameterized.Event) -> None:
        count(_CHOSEN, len(event.new))
        if len(event.new) and tabs.active == _ANOMALIES:
            tabs.active = _CHOSEN
        elif not len(event.new) and tabs.active == _CHOSEN:
            tabs.active = _ANOMALIES

    def show(event: param.parameterized.Event) -> None:
        if event.new == _WORKLIST:
            worklist.show()
        elif event.new == _SEGMENTS:
            segments.show()

    def open_segments(event: param.parameterized.Event) -> None:
        if event.new == SEGMENTS:
            tabs.active = _SEGMENTS

    flagged = explorer.flagged
    explorer.param.watch(follow_chosen, "chosen")
    flagged.param.watch(lambda _: count(_WORKLIST, flagged.progress()[1]), "worklist")
    explorer.param.watch(open_segments, "color_by")
    tabs.param.watch(show, "active")
    return column(row(tabs, styles=ON_TOP), tabs.stack(tables))
