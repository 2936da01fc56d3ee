"""Quality and computing time of the maps of a comparison: a table and a plot."""

from typing import Any

import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, HoverTool, LogTicker
from bokeh.plotting import figure

from core.embedding import METHODS, align
from core.quality import MEASURES
from core.runs import Run
from core.scene import map_points
from core.study import Study
from core.study.study_tables import score_table
from dashboard.compare.comparison import Comparison
from dashboard.widgets import ColorKey, PlainText, column, make_table

TITLES = {
    "method": "Method",
    "neighbours by": "Neighbours by",
    "recall": "Recall",
    "seconds": "Seconds",
    "trustworthiness": "Trust.",
    "continuity": "Continuity",
    "lcmc": "LCMC",
    "q_nx": "Q_NX",
    "r_nx": "R_NX",
    "mrre_n": "MRRE n",
    "mrre_v": "MRRE ν",
    "procrustes": "Procrustes",
    "likeness": "Similarity",
}
MEANINGS = {
    "recall": "The share of true neighbours that the search found",
    "seconds": "For neighbours and map, when they were computed",
    "trustworthiness": "Trustworthiness: near on the map means near in the data",
    "continuity": "Near in the data means near on the map",
    "lcmc": "Neighbours in common, beyond chance",
    "q_nx": "Neighbours in common",
    "r_nx": "Neighbours in common, 0 for chance",
    "mrre_n": "1 less the relative error of ranks, over true neighbours",
    "mrre_v": "1 less the relative error of ranks, over those on the map",
    "procrustes": "Similarity of local shapes",
    "likeness": "Similarity to the first map, rotated and scaled: 1 for the same shape",
}
_WORDS = {
    "recall": "Recall",
    "trustworthiness": "Trustworthiness",
    **{name: TITLES[name] for name in MEASURES if name != "trustworthiness"},
}
# Okabe and Ito's, one colour per method; one shape per search.
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7f6bb3")
_SHAPES = {
    "circle": "●",
    "triangle": "▲",
    "square": "■",
    "diamond": "◆",
    "inverted_triangle": "▼",
    "hex": "⬢",
    "star": "★",
    "plus": "✚",
}
_ROW = 27  # pixels, with its border
_HEADING = 42
_MOST_ROWS = 18


def scores(comparison: Comparison) -> pd.DataFrame:
    """Every map of the grid and of the sweeps once, with its recall, seconds and measures.

    ``likeness`` is that of :func:`core.embedding.alignment.align` to the first map.
    """
    tables = [
        score_table(study).assign(likeness=_likeness(study, comparison.first))
        for study in comparison.studies()
    ]
    if not tables:
        return pd.DataFrame(columns=list(TITLES))
    return pd.concat(tables).drop_duplicates(["method", "neighbours by"], ignore_index=True)


def _likeness(study: Study, first: Run | None) -> list[float]:
    """How much every map is like the first one, in the order of the table."""
    plan = study.plan
    runs = [study.cell(method, search).run for method in plan.methods for search in plan.searches]
    if first is None:
        return [np.nan] * len(runs)
    model = map_points(first.y, first.hdr.density)
    return [
        np.nan if run is None else align(map_points(run.y, run.hdr.density), model).likeness
        for run in runs
    ]


def best_in_bold(column: pd.Series) -> list[str]:
    """How the cells of a column look: the best value bold, as it reads with three digits."""
    if column.name not in (*MEASURES, "recall", "seconds"):
        return [""] * len(column)
    shown = column.astype(float).round(3)
    best = shown.min() if column.name == "seconds" else shown.max()
    # None where all values are the same.
    some = shown.notna().any() and (shown.dropna() != best).any()
    return ["font-weight: 700" if some and value == best else "" for value in shown]


class QualityTable:
    """All measures of all maps; sorted by a click on a heading."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        # Filled with the first numbers: a table that gets its columns while the browser is still
        # building it breaks the update of the page.
        self.panel = column()
        self.widget: pn.widgets.Tabulator | None = None

    def refresh(self) -> None:
        """Show the maps that are there."""
        table = scores(self.comparison)
        table = table[table[["recall", "seconds", *MEASURES]].notna().any(axis=1)]
        table = table.reset_index(drop=True)
        if table.empty:
            return
        # Longer tables scroll.
        height = _HEADING + _ROW * min(len(table), _MOST_ROWS)
        if self.widget is None:
            self.widget = _make_widget(table, height)
            self.panel.objects = [self.widget]
        elif not table.equals(self.widget.value):
            self.widget.param.update(value=table, height=height)


def _make_widget(table: pd.DataFrame, height: int) -> pn.widgets.Tabulator:
    numbers = ["recall", *MEASURES, "likeness"]
    widget = make_table(
        table,
        {str(name): TITLES[name] for name in table},
        formats={**dict.fromkeys(numbers, "0.000"), "seconds": "0,0.00"},
        narrow=True,
        header_tooltips=MEANINGS,
        widths={"method": 150, "neighbours by": 130},
        height=height,
    )
    style: Any = widget.style
    style.apply(best_in_bold)
    return widget


class TimePlot:
    """Time against quality, one point per run, as in the paper's supplement."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.measure = pmui.Select(
            label="Quality",
            options={title: name for name, title in _WORDS.items()},
            value="trustworthiness",
            size="small",
            width=190,
            margin=(6, 10, 2, 0),
        )
        self.key = ColorKey(sizing_mode="stretch_width", margin=(2, 0))
        self.signs = PlainText(look="quiet", margin=(0, 4), sizing_mode="stretch_width")
        self._points = ColumnDataSource(
            {name: [] for name in ("seconds", "quality", "color", "shape", "method", "search")}
        )
        self._lines = ColumnDataSource({name: [] for name in ("xs", "ys", "color")})
        self.figure = self._make_figure()
        self.panel = column(
            self.measure,
            self.key,
            self.signs,
            pn.pane.Bokeh(self.figure, sizing_mode="stretch_width", margin=0),
        )
        self.measure.param.watch(lambda _: self.refresh(), "value")
        self.key.param.watch(lambda _: self.refresh(), "hidden")

    def _make_figure(self) -> Any:
        plot = figure(
            height=250,
            sizing_mode="stretch_width",
            x_axis_type="log",
            x_axis_label="seconds for neighbours and map",
            toolbar_location=None,
            outline_line_color=None,
            tools="",
            min_border=4,
            tags=["time"],
        )
        plot.grid.grid_line_alpha = 0.3
        for axis in plot.axis:
            axis.axis_label_text_font_size = "8.5pt"
            axis.major_label_text_font_size = "8pt"
        plot.xaxis.ticker = LogTicker(desired_num_ticks=4, mantissas=[1, 2, 5])
        plot.multi_line("xs", "ys", source=self._lines, color="color", alpha=0.5, line_width=1.5)
        points = plot.scatter(
            "seconds",
            "quality",
            source=self._points,
            marker="shape",
            size=10,
            fill_color="color",
            fill_alpha=0.85,
            line_color="#7d828b",
            line_width=0.8,
        )
        plot.add_tools(
            HoverTool(
                renderers=[points],
                tooltips=[
                    ("", "@method · @search"),
                    ("quality", "@quality{0.000}"),
                    ("seconds", "@seconds{0.00}"),
                ],
            )
        )
        return plot

    def refresh(self) -> None:
        """Show the maps that are there."""
        table = scores(self.comparison)
        name = self.measure.value
        table = table[table["seconds"].notna() & table[name].notna()]
        titles = list(dict.fromkeys(table["method"]))
        searches = list(dict.fromkeys(table["neighbours by"]))
        self._draw_keys(titles, searches)
        table = table[~table["method"].isin(self.key.hidden)]
        self.figure.yaxis.axis_label = _WORDS[name].lower() if name in MEASURES else "recall"
        # The axis is logarithmic: a time of 0, too quick for the clock, is not on it.
        seconds = np.maximum(table["seconds"], 1e-3)
        self._points.data = {
            "seconds": seconds.tolist(),
            "quality": table[name].tolist(),
            "color": [color_of(title) for title in table["method"]],
            "shape": [shape_of(searches.index(title)) for title in table["neighbours by"]],
            "method": table["method"].tolist(),
            "search": table["neighbours by"].tolist(),
        }
        self._draw_lines(name)

    def _draw_lines(self, name: str) -> None:
        """Join the runs of a sweep, in the order of its values."""
        lines: dict[str, list[Any]] = {"xs": [], "ys": [], "color": []}
        for study in self.comparison.studies()[1:]:
            table = score_table(study).dropna(subset=["seconds", name])
            table = table[~table["method"].isin(self.key.hidden)]
            if len(table) > 1:
                lines["xs"].append(np.maximum(table["seconds"], 1e-3).tolist())
                lines["ys"].append(table[name].tolist())
                lines["color"].append(color_of(table["method"].iat[0]))
        self._lines.data = lines

    def _draw_keys(self, titles: list[str], searches: list[str]) -> None:
        """Say which colour is which method and which shape which search."""
        self.key.param.update(
            entries=[{"name": title, "color": color_of(title), "note": ""} for title in titles]
        )
        signs = [f"{_SHAPES[shape_of(place)]} {title}" for place, title in enumerate(searches)]
        self.signs.text = "   ".join(signs)


def color_of(method_title: str) -> str:
    """The colour of a method, the same whichever others are there."""
    titles = [method.title for method in METHODS.values()]
    return _COLORS[titles.index(method_title) % len(_COLORS)]


def shape_of(place: int) -> str:
    """The shape of a search; of many, some have the same."""
    return list(_SHAPES)[place % len(_SHAPES)]
