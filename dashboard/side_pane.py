"""The pane beside the map: the story of a home, or the chosen homes as a group."""

import panel as pn
import param

from dashboard.explore import PinnedPoints, PointDetail
from dashboard.groups import GroupPanel
from dashboard.state import Explorer
from dashboard.widgets import ON_TOP, TabBar, column, row

_HOME, _GROUP = range(2)


def make_side_pane(
    explorer: Explorer, detail: PointDetail, group: GroupPanel
) -> pn.viewable.Viewable:
    """Put both behind tabs; the one that the analyst asked for last is shown."""
    tabs = TabBar(["Home", "Group"], label="Beside the map")
    parts = [column(detail.panel, PinnedPoints(detail).panel), group.panel]

    def follow_chosen(event: param.parameterized.Event) -> None:
        some = len(event.new)
        tabs.counts = ["", f"{some:,}" if some else ""]
        tabs.active = _GROUP if some else _HOME

    def follow_selected(*_: param.parameterized.Event) -> None:
        tabs.active = _HOME

    def show_group(event: param.parameterized.Event) -> None:
        if event.new == _GROUP:
            group.show()

    tabs.param.watch(show_group, "active")
    explorer.param.watch(follow_selected, "selected", precedence=5)
    explorer.param.watch(follow_chosen, "chosen", precedence=6)
    return column(row(tabs, styles=ON_TOP), tabs.stack(parts))
