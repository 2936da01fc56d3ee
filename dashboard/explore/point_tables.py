"""Points as tables, linked with the map both ways."""

import html
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param
from bokeh.models.widgets.tables import NumberFormatter
from panel.models.tabulator import CellClickEvent

from dashboard.state import Explorer
from dashboard.widgets import COMPACT, PlainText, column, row

_HEIGHT = 156
# Of the drawer, whose height the split pane calls --size, what its tabs and one line leave.
_FILLS_DRAWER = """
:host {flex: none !important; height: max(84px, calc(var(--size) - 78px)) !important}
.tabulator {height: 100% !important}
"""
_SHOWN = 2_000  # rows; the download has all
_WIDTHS = {
    "rank": 56,
    "what": 128,
    "density band": 110,
    "mean kWh": 92,
    "readings": 84,
    "segment": 270,
}
_TITLES = {
    "rank": "Rank",
    "what": "Point",
    "density band": "Density band",
    "mean kWh": "Mean kWh",
    "readings": "Readings",
    "segment": "Segment",
}
_INVITATION = "Draw a box or a lasso on the map (tools at its right) to choose points."


class PointTable:
    """A table of points; a click selects one, and the selected one is marked.

    Parameters
    ----------
    explorer : Explorer
    table_of : callable
        Makes the table of some rows.
    look
        Options of the widget; ``formatters`` is a function that makes new ones, each of which
        keeps references to all tables that it is in.
    """

    def __init__(
        self, explorer: Explorer, table_of: Callable[[np.ndarray], pd.DataFrame], **look: Any
    ) -> None:
        self.explorer = explorer
        self._table_of = table_of
        self._look = look
        self.rows = np.empty(0, np.int64)
        # Filled with the first points, and anew for other columns: a table that gets its columns
        # while the browser is still building it breaks the update of the page.
        self.panel = column()
        self._widget: pn.widgets.Tabulator | None = None
        explorer.param.watch(self._mark, "selected", precedence=4)

    def show(self, rows: np.ndarray) -> None:
        """List these points."""
        self.rows = np.asarray(rows, np.int64)[:_SHOWN]
        table = self._table_of(self.rows)
        if self._widget is None or list(self._widget.value.columns) != list(table.columns):
            self._widget = _make_widget(table, **self._look)
            self._widget.on_click(self._go)
            self._mark()
            self.panel.objects = [self._widget]
        else:
            self._widget.value = table
            self._mark()

    def _go(self, event: CellClickEvent) -> None:
        # The row number comes from the browser.
        if 0 <= event.row < len(self.rows):
            self.explorer.look_at(int(self.rows[event.row]))

    def _mark(self, *_: param.parameterized.Event) -> None:
        if self._widget is not None:
            places = np.flatnonzero(self.rows == self.explorer.selected)
            self._widget.selection = [int(place) for place in places]


def _make_widget(
    table: pd.DataFrame,
    *,
    formatters: Callable[[], dict[str, Any]] | None = None,
    **look: Any,
) -> pn.widgets.Tabulator:
    made = {"mean kWh": NumberFormatter(format="0.000")} if formatters is None else formatters()
    plain = {str(name): {"type": "plaintext"} for name in table.columns if name not in made}
    defaults: dict[str, Any] = {
        "layout": "fit_data_table",
        "height": _HEIGHT,
        "widths": _WIDTHS,
        # Tabulator takes headings for HTML, and the names of columns come from users.
        "titles": {**{str(name): html.escape(str(name)) for name in table.columns}, **_TITLES},
    }
    return pn.widgets.Tabulator(
        table,
        show_index=False,
        disabled=True,
        selectable=1,
        sizing_mode="stretch_width",
        # A disabled table has editors nevertheless, which trap the Tab key.
        editors={str(name): None for name in table.columns},
        stylesheets=[COMPACT, _FILLS_DRAWER],
        formatters={**plain, **made},
        margin=(0, 10),
        **{**defaults, **look},
    )


def chosen_table(explorer: Explorer) -> pn.viewable.Viewable:
    """The points chosen on the map, with their download."""
    table = PointTable(explorer, explorer.table)
    note = PlainText(_INVITATION, look="quiet", margin=(6, 12), sizing_mode="stretch_width")

    def content() -> io.StringIO:
        return io.StringIO(chosen_csv(explorer))

    download = pmui.FileDownload(
        callback=content,
        filename="wattfold-chosen.csv",
        label="Download CSV",
        size="small",
        variant="outlined",
        visible=False,
        margin=(2, 10),
    )

    def fill(*_: param.parameterized.Event) -> None:
        rows = explorer.chosen
        some = bool(len(rows)) and explorer.run is not None
        table.panel.visible = download.visible = some
        if some:
            rows = rows[np.argsort(explorer.run.hdr.rank[rows], kind="stable")]
            table.show(rows)
            more = f"; the first {_SHOWN:,} are shown" if len(rows) > _SHOWN else ""
            note.text = f"{len(rows):,} of {explorer.run.n:,} points chosen{more}"
        else:
            note.text = _INVITATION

    explorer.param.watch(fill, ["chosen"], precedence=3)
    fill()
    return column(row(note, download), table.panel)


def chosen_csv(explorer: Explorer) -> str:
    """The chosen points, all columns, as CSV."""
    from core.export.table_files import defuse

    return defuse(explorer.run.table().iloc[np.sort(explorer.chosen)]).to_csv(index=False)
