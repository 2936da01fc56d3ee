"""The sections of the Data tab."""

import panel as pn

from core.readings import Dataset
from core.runs.overview import Overview
from dashboard.data import _data_plots, _health_report
from dashboard.data._coverage_view import CoverageView
from dashboard.widgets import PlainText, column, make_table, section, split_row


def facts(dataset: Dataset) -> pn.viewable.Viewable:
    """What is known of a dataset without reading it all, in a line."""
    tiles = [
        pn.Column(
            PlainText(name, look="quiet", margin=0),
            PlainText(value, look="title", margin=0),
            margin=(4, 28, 4, 0),
        )
        for name, value in _health_report.facts(dataset)
    ]
    return pn.FlexBox(*tiles, sizing_mode="stretch_width", margin=(4, 6))


def health(dataset: Dataset) -> pn.viewable.Viewable:
    """What became of the readings, in total and for every household, and examples."""
    report = dataset.health
    account = section(
        "What became of the readings",
        "Every reading of the input is accepted, collapsed or rejected.",
        make_table(
            _health_report.account(report),
            {"what": "", "readings": "Readings", "share": "Share, %"},
            formats={"share": "0.00"},
            sortable=False,
            widths={"what": "52%"},
        ),
        PlainText(
            _health_report.reading(dataset), margin=(8, 0, 4, 0), sizing_mode="stretch_width"
        ),
        *(
            PlainText(remark, look="quiet", margin=(4, 0), sizing_mode="stretch_width")
            for remark in _health_report.remarks(report)
        ),
        styles={"flex": "0 0 400px"},
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
        make_table(
            _health_report.household_accounts(dataset),
            titles,
            formats={"missing": "0.00"},
            pagination="remote",
            page_size=5,
            widths={"household": "19%", "missing": "17%", "first": "21%", "last": "21%"},
            header_filters={
                "household": {"type": "input", "func": "like", "placeholder": "Search"}
            },
        ),
    )
    parts: list[pn.viewable.Viewable] = [split_row(account, households)]
    examples = _health_report.examples(report)
    if len(examples):
        parts.append(
            section(
                "The first rejected readings of every kind",
                "Where they stand in the files that were ingested, and what they say.",
                make_table(
                    examples,
                    {"reason": "Reason", "file": "File", "line": "Line", "text": "Text"},
                    sortable=False,
                    widths={"reason": "18%", "file": "22%", "line": "10%"},
                ),
            )
        )
    return column(*parts)


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
    plot = _data_plots.demand_plot(overview.reference)
    return section(
        "The reference distribution and its bins",
        _health_report.bins_text(overview.reference, _data_plots.drawn_bins(overview.reference)),
        pn.pane.HoloViews(plot, linked_axes=False, sizing_mode="stretch_width"),
    )


def slot_sizes(dataset: Dataset, overview: Overview) -> pn.viewable.Viewable:
    """Sample sizes over the week."""
    plot = _data_plots.slot_size_plot(overview.slot_sizes, dataset.interval_minutes)
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
        names = overview.left_out["unit"].map(_health_report.UNIT_NAMES)
        parts.append(
            make_table(
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
        _health_report.left_out_text(overview, len(dataset.households)),
        *parts,
        *(PlainText(notice, look="body", margin=(4, 0)) for notice in overview.notices),
    )
