"""The words and tables of the Data tab."""

import numpy as np
import pandas as pd
import pytest
from flawed_dataset import FILE, flawed_readings, ingest_flawed

from core.readings import Dataset
from core.readings.coverage import Coverage, pool_coverage
from core.runs.overview import ReferenceDistribution, make_overview
from dashboard.data import _health_report


@pytest.fixture(scope="module")
def readings() -> pd.DataFrame:
    return flawed_readings()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory) -> Dataset:
    return ingest_flawed(tmp_path_factory.mktemp("flawed"))


def test_the_account_adds_up_to_the_input(dataset, readings):
    account = _health_report.account(dataset.health)
    assert account.set_index("what")["readings"].to_dict() == {
        "Accepted": len(readings),
        "Collapsed, duplicates": 30,
        "Rejected, missing value": 1,
        "Rejected, negative value": 1,
        "Rejected, unparsable value": 1,
        "Input": len(readings) + 33,
    }
    assert account["share"].iloc[:-1].sum() == pytest.approx(100)
    assert account["share"].iloc[-1] == 100


def test_examples_name_file_line_and_text(dataset, readings):
    examples = _health_report.examples(dataset.health).set_index("reason")
    line = len(readings) + 30 + 2  # after the header and all that is fine
    assert examples.loc["unparsable value"].tolist() == [
        FILE,
        line,
        "H00, 2024-02-01 00:00:00, <b>bold</b>",
    ]
    assert examples["line"].to_dict() == {
        "unparsable value": line,
        "missing value": line + 1,
        "negative value": line + 2,
    }


def test_how_the_files_were_read_is_told(dataset):
    told = _health_report.reading(dataset).splitlines()
    assert told[0].startswith("Unit: kWh (")
    assert told[1] == "Values: demand by interval (the values rise and fall)"
    assert told[2] == "Times mark: the start of their interval (the format)"
    assert "kWh in the median household" in told[3]


def test_facts(dataset, readings):
    facts = dict(_health_report.facts(dataset))
    missing = 1 - len(readings) / (12 * 28 * 48)
    assert facts == {
        "Households": "12",
        "Readings": f"{len(readings):,}",
        "Missing": f"{100 * missing:.1f} %",
        "Period": "3 Jan 2024 – 30 Jan 2024",
        "Days": "28",
        "Interval": "30 min",
        "Time zone": "not given",
    }


def test_remarks_tell_only_what_happened():
    health = {"conflicting_duplicates": 2, "without_household": 0, "notices": ["by the way"]}
    assert _health_report.remarks(health) == [
        "2 of the collapsed have another value than the one kept",
        "by the way",
    ]


def test_households_that_are_left_out_are_counted(dataset):
    overview = make_overview(dataset)
    assert _health_report.left_out_text(overview, 12) == (
        "2 of 12 on maps of households by their whole week · "
        "1 of 12 on maps of households pooled over the week, with the usual settings."
    )


@pytest.mark.parametrize(
    ("most", "words"),
    [
        ((9, 9), "One row per household, one column per day."),
        ((4, 9), "Each cell pools 2 households: zoom in to see them one by one."),
        ((4, 3), "Each cell pools 2 households × 3 days: zoom in to see them one by one."),
    ],
)
def test_what_is_pooled_is_said(most, words):
    coverage = Coverage(np.ones((8, 9), np.uint16), np.ones(9, int), np.datetime64("2024-01-01"))
    pooled = pool_coverage(coverage, np.arange(8), most_rows=most[0], most_columns=most[1])
    assert _health_report.pooling_text(pooled) == words


def test_bins_that_coincide_are_told():
    bins = ReferenceDistribution(np.array([0.1, 0.2]), np.array([1, 2, 997]), 0.0, 3.5, bins=100)
    text = _health_report.bins_text(bins, np.array([True, True, True]))
    assert "Not drawn" not in text
    assert text.startswith(
        "3 bins of 100 asked for; the other edges coincide, from 1,000 readings between 0 and "
        "3.5 kWh."
    )


def test_every_household_has_its_account(dataset):
    table = _health_report.household_accounts(dataset).set_index("household")
    assert table.loc["H06", ["first", "last", "accepted"]].tolist() == [
        "2024-01-03",
        "2024-01-03",
        10,
    ]
    assert table.loc["H06", "missing"] == pytest.approx(100 * (1 - 10 / (28 * 48)))
    assert table.loc["H00", ["collapsed", "rejected"]].tolist() == [30, 2]


def test_a_bin_that_is_not_drawn_is_told():
    bins = ReferenceDistribution(np.array([0.0, 0.2]), np.array([400, 100, 500]), 0.0, 3.5, bins=3)
    text = _health_report.bins_text(bins, np.array([False, True, True]))
    assert text.endswith("Not drawn: the bin at 0 kWh, with 40.0 % of the readings.")
