"""The sections of the Data tab."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import panel as pn
from bokeh.models.widgets.tables import NumberFormatter

from core.overview import Overview
from core.readings import Dataset
from dashboard import data_plots, data_report
from dashboard.components import PlainText
from dashboard.coverage_view import CoverageView
from dashboard.table_style import COMPACT

_FRAME = {
    "border": "1px solid color-mix(in srgb, currentColor 16%, transparent)",
    "border-radius": "8px",
    "padding": "12px 14px",
}


def facts(dataset: Dataset) -> pn.viewable.Viewable:
    """What is known of a dataset without reading it all, in a line."""
    tiles = [
        pn.Column(
            PlainText(name, look="quiet", margin=0),
            PlainText(value, look="title", margin=0),
            margin=(4, 28, 4, 0),
        )
        for name, value in data_report.facts(dataset)
    ]
    return pn.FlexBox(*tiles, sizing_mode="stretch_width", margin=(4, 6))


def health(dataset: Dataset) -> pn.viewable.Viewable:
    """What became of the readings, in total and for every household, and examples."""
    report = dataset.health
    account = section(
        "What became of the readings",
        "Every reading of the input is accepted, collapsed or rejected.",
        _table(
            data_report.account(report),
            {"what": "", "readings": "Readings", "share": "Share, %"},
            formats={"share": "0.00"},
            sortable=False,
            widths={"what": "52%"},
        ),
        *(
            PlainText(remark, look="quiet", margin=(4, 0), sizing_mode="stretch_width")
            for remark in data_report.remarks(report)
        ),
        sizing_mode=None,
        width=400,
    )
    titles = {
        "household": "Household",
        "missing": "Missing, %",
        "first": "First day",
        "last": "Last day",
        "accepted": "Accepted",
    }
    titles |= {name: name.capitalize() for name in ("collapsed", "rejected") if report[name]}
    households = section(
        "Households",
        "Missing is the share of the dataset's whole period without a reading.",
        _table(
            data_report.household_accounts(dataset),
            titles,
            formats={"missing": "0.00"},
            pagination="remote",
            page_size=5,
            widths={"household": "19%", "missing": "17%", "first": "14%", "last": "14%"},
            header_filters={
                "household": {"type": "input", "func": "like", "placeholder": "Search"}
            },
        ),
    )
    parts: list[pn.viewable.Viewable] = [
        pn.Row(account, households, sizing_mode="stretch_width", margin=0)
    ]
    examples = data_report.examples(report)
    if len(examples):
        parts.append(
            section(
                "The first rejected readings of every kind",
                "Where they stand in the files that were ingested, and what they say.",
                _table(
                    examples,
                    {"reason": "Reason", "file": "File", "line": "Line", "text": "Text"},
                    sortable=False,
                    widths={"reason": "18%", "file": "22%", "line": "10%"},
                ),
            )
        )
    return pn.Column(*parts, sizing_mode="stretch_width", margin=0)


def coverage(dataset: Dataset, overview: Overview) -> pn.viewable.Viewable:
    """Readings by household and day."""
    ids = dataset.households["household"].astype(str).to_numpy()
    return section(
        "Coverage",
        "Readings there are of those expected, for every household and day. Grey: before a "
        "household's first reading or after its last.",
        CoverageView(overview.coverage, ids),
    )


def demand(dataset: Dataset, overview: Overview) -> pn.viewable.Viewable:
    """The reference distribution."""
    plot = data_plots.demand_plot(overview.reference)
    return section(
        "The reference distribution and its bins",
        data_report.bins_text(overview.reference, data_plots.drawn_bins(overview.reference)),
        pn.pane.HoloViews(plot, linked_axes=False, sizing_mode="stretch_width"),
    )


def slot_sizes(dataset: Dataset, overview: Overview) -> pn.viewable.Viewable:
    """Sample sizes over the week."""
    plot = data_plots.slot_size_plot(overview.slot_sizes, dataset.interval_minutes)
    return section(
        "Readings in each slot of the week",
        "Small samples look far from everything. Maps pool every slot with its neighbours on "
        "either side, unless told otherwise.",
        pn.pane.HoloViews(plot, linked_axes=False, sizing_mode="stretch_width"),
    )


def left_out(dataset: Dataset, overview: Overview) -> pn.viewable.Viewable:
    """The households that no map shows, and why."""
    parts: list[pn.viewable.Viewable] = []
    if len(overview.left_out):
        names = overview.left_out["unit"].map(data_report.UNIT_NAMES)
        parts.append(
            _table(
                overview.left_out.assign(unit=names),
                {
                    "label": "Household",
                    "m": "Readings",
                    "reason": "Reason",
                    "unit": "Map of households",
                },
                pagination="remote",
                page_size=8,
            )
        )
    return section(
        "Households that maps leave out",
        data_report.left_out_text(overview, len(dataset.households)),
        *parts,
        *(PlainText(notice, look="body", margin=(4, 0)) for notice in overview.notices),
    )


def section(
    heading: str, explanation: str, *parts: pn.viewable.Viewable | pn.viewable.Viewer, **layout: Any
) -> pn.Column:
    """Frame a part of the tab, with a heading and a sentence that explains it."""
    # Not a Paper: plots inside Material layouts lose their size (panel-material-ui #548).
    layout = {"sizing_mode": "stretch_width", **layout}
    layout["styles"] = {**_FRAME, **layout.get("styles", {})}
    return pn.Column(
        PlainText(heading, look="heading", margin=0, sizing_mode="stretch_width"),
        PlainText(explanation, look="quiet", margin=(2, 0, 8, 0), sizing_mode="stretch_width"),
        *parts,
        margin=6,
        **layout,
    )


def _table(
    frame: pd.DataFrame,
    titles: Mapping[str, str],
    *,
    formats: Mapping[str, str] | None = None,
    **options: Any,
) -> pn.widgets.Tabulator:
    """Show some columns of a frame as plain text and numbers.

    Tabulator takes titles for HTML, so they must be our own; cells are told to be plain text.
    """
    shown = frame[list(titles)]
    numbers = [name for name in shown if pd.api.types.is_numeric_dtype(shown[name])]
    formatters: dict[str, Any] = {name: {"type": "plaintext"} for name in shown}
    formatters |= {
        name: NumberFormatter(format=(formats or {}).get(name, "0,0")) for name in numbers
    }
    return pn.widgets.Tabulator(
        shown,
        titles=dict(titles),
        formatters=formatters,
        text_align=dict.fromkeys(numbers, "right"),
        header_align=dict.fromkeys(numbers, "right"),
        show_index=False,
        disabled=True,
        selectable=False,
        layout="fit_columns",
        configuration={"rowHeight": 26},
        stylesheets=[COMPACT],
        sizing_mode="stretch_width",
        margin=0,
        **options,
    )
