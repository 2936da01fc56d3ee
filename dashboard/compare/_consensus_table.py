"""The table of anomalies that the maps agree on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import param
from panel.models.tabulator import CellClickEvent

from core.embedding import METHODS
from core.runs import Run
from core.runs.anomaly_stage import UNITS
from core.study import Consensus
from dashboard.compare.comparison import Comparison
from dashboard.state.unusual_homes import UnusualHomes
from dashboard.widgets import PlainText, column, make_table

_HEIGHT = 380  # pixels
_SHOWN = 500  # rows
_SHORT = {"Laplacian eigenmaps": "Lapl.", "Hessian LLE": "Hess."}


class ConsensusTable:
    """The anomalies of all maps, those that most maps agree on first."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.summary = PlainText(look="body", margin=(0, 0, 6, 0), sizing_mode="stretch_width")
        # Filled with the first points: a table that gets its columns while the browser is still
        # building it breaks the update of the page.
        self._place = column()
        self.panel = column(self.summary, self._place)
        self.widget: pn.widgets.Tabulator | None = None
        comparison.param.watch(self._mark, "selected")

    def refresh(self) -> None:
        """Count over the maps that are there."""
        comparison = self.comparison
        consensus, first, grid = comparison.consensus(), comparison.first, comparison.grid
        if consensus is None or first is None or grid is None:
            return
        unusual = self._unusual(first)
        titles = [METHODS[method].title for method in grid.plan.methods]
        table = consensus_table(consensus, first, unusual, titles)
        texts = both(consensus, unusual), in_words(consensus, first)
        self.summary.text = " ".join(filter(None, texts))
        # Headings do not change while maps come in: the browser may still be building the table.
        if self.widget is None or list(self.widget.value.columns) != list(table.columns):
            self.widget = self._make_widget(table, titles, slots="slot" in first.units)
            self.widget.on_click(self._go)
            self._place.objects = [self.widget]
        elif not table.equals(self.widget.value):
            # A table that is redrawn may lose a click.
            self.widget.value = table
        self._mark()

    def _make_widget(
        self, table: pd.DataFrame, methods: Sequence[str], *, slots: bool
    ) -> pn.widgets.Tabulator:
        titles = {
            "label": "Point",
            "found by": "Found by",
            "runs": "Maps",
            "median rank": "Rank",
            "best": "Best",
            "worst": "Worst",
            **{name: _SHORT.get(name, name) for name in methods},
        }
        widget = make_table(
            table,
            {str(name): titles.get(str(name), "") for name in table},
            formats={"median rank": "0,0.[0]"},
            narrow=True,
            hidden_columns=["row"],
            widths={"label": 132 if slots else 62, "found by": 84},
            header_tooltips={
                "found by": "The detector that calls the home unusual; none for the others",
                "runs": "Maps that have it among their top anomalies",
                "median rank": "Its median rank over all maps; 1 is the most anomalous",
                "best": "Its most anomalous rank on any map",
                "worst": "Its least anomalous rank on any map",
                **{name: f"Of the maps by {name}" for name in methods},
            },
            selectable=1,
            height=_HEIGHT,
        )

        def shade(column: pd.Series) -> list[str]:
            consensus = self.comparison.consensus()
            known = {} if consensus is None else {**consensus.sizes, "runs": consensus.runs}
            return shade_counts(column, known)

        style: Any = widget.style
        style.apply(shade)
        return widget

    def _unusual(self, first: Run) -> UnusualHomes | None:
        """What Explore's detectors call unusual, if these are its homes."""
        explorer = self.comparison.explorer
        unusual, shown = explorer.unusual, explorer.run
        if unusual is None or shown is None or shown.n != first.n:
            return None
        return unusual if shown.units["label"].equals(first.units["label"]) else None

    def _go(self, event: CellClickEvent) -> None:
        # The row number comes from the browser.
        if self.widget is not None and 0 <= event.row < len(self.widget.value):
            self.comparison.select(int(self.widget.value["row"].iat[event.row]))

    def _mark(self, *_: param.parameterized.Event) -> None:
        if self.widget is not None:
            rows = self.widget.value["row"].to_numpy()
            found = (rows == self.comparison.selected).nonzero()[0]
            self.widget.selection = [int(place) for place in found]


def consensus_table(
    consensus: Consensus,
    run: Run,
    unusual: UnusualHomes | None = None,
    methods: Sequence[str] = (),
) -> pd.DataFrame:
    """The points that any map names, with their ranks and the maps of each method.

    Where points are homes, those that are known to be unusual come first, with the detector that
    found each.

    Parameters
    ----------
    methods : sequence of str
        Titles of all methods that are compared, also of those whose maps are not there yet.
    """
    rows = consensus.points
    if unusual is not None:
        rows = np.concatenate([unusual.rows, rows[~np.isin(rows, unusual.rows)]])
    rows = rows[:_SHOWN]
    table = consensus.table(run.units["label"], rows).drop(
        columns=["share", *consensus.by], errors="ignore"
    )
    if run.config.unit in UNITS:
        found = [] if unusual is None else unusual.table(rows[: len(unusual.rows)])["detector"]
        table.insert(2, "found by", [*found, *[""] * (len(rows) - len(found))])
    nobody = np.zeros(run.n, np.int64)
    for title in methods if len(methods) > 1 else ():
        table[title] = consensus.by.get(title, nobody)[rows]
    return table


def both(consensus: Consensus, unusual: UnusualHomes | None) -> str:
    """How many of the unusual homes the maps have among their top, in a sentence."""
    if unusual is None:
        return ""
    listed, seen = len(unusual.rows), consensus.count[unusual.rows]
    if not listed:
        return "The detectors find no unusual home."
    return (
        f"Of {listed:,} homes that the detectors call unusual, {int((seen > 0).sum()):,} are among "
        f"the top {consensus.n_top} of any map and {int((2 * seen > consensus.runs).sum()):,} of "
        "more than half of the maps."
    )


def in_words(consensus: Consensus, run: Run) -> str:
    """What the table shows, in a sentence or two."""
    agreed, named = len(consensus.agreed), len(consensus.points)
    if consensus.runs == 1:
        return f"One map is there so far; it names {named:,} points."
    every = f"all {consensus.runs} maps" if consensus.runs > 2 else "both maps"
    names = run.units["label"].iloc[consensus.agreed[:3]].tolist()
    which = f" ({', '.join(map(str, names))}{', …' if agreed > 3 else ''})" if agreed else ""
    text = (
        f"Of {named:,} points that any map has among its top {consensus.n_top}, "
        f"{f'{agreed:,} is' if agreed == 1 else f'{agreed:,} are' if agreed else 'none is'} "
        f"on {every}{which}."
    )
    if named > _SHOWN:
        text += f" The first {_SHOWN:,} are listed."
    if consensus.rankings == 1:
        text += " All maps put all points in the same order."
    elif run.config.rank_by != "density":
        text += (
            f" Anomalies are by {run.config.rank_by}, which comes from the neighbours alone: "
            f"methods agree on it, and there are {consensus.rankings} different orders."
        )
    elif consensus.rankings < consensus.runs:
        text += (
            f" Only {consensus.rankings} maps differ from each other: searches that find the same "
            "neighbours give the same map."
        )
    return text


def shade_counts(column: pd.Series, sizes: Mapping[str, int]) -> list[str]:
    """How the cells of a column of counts look: the more of its maps agree, the bluer."""
    size = sizes.get(str(column.name))
    if size is None:
        return [""] * len(column)
    return [
        f"background-color: rgba(59, 130, 246, {0.45 * count / size:.2f})"
        if count
        else "opacity: 0.45"
        for count in column
    ]
