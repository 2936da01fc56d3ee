from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core import Dataset, RunConfig, find_anomalies
from core.anomalies import DETECTORS, rank_households
from core.anomalies.faults import FAULTS
from core.anomalies.find import NOTHING, PRIORITY
from core.errors import Cancelled, InputError
from core.slots import parse_slots

COLUMNS = [
    "household",
    "rank",
    "score",
    "p",
    "q",
    "stability",
    "detector",
    "reason",
    "direction",
    "slots",
    "since",
    "kwh_per_week",
    "nearest",
]


# A household for every kind; the one with an exchanged weekend has a weekend to exchange: to see
# it in half of the record, it must be a clear one.
ALWAYS_ROWS = {kind: 5 * place + 62 for place, kind in enumerate(FAULTS)}
ROWS = ALWAYS_ROWS | {"weekend": 86}
NAMES = {kind: f"h{row}" for kind, row in ROWS.items()}


def with_all_faults(ordinary, plant_into, rows, onset):
    weeks, planted = ordinary, {}
    for kind, row in rows.items():
        weeks, planted[kind] = plant_into(weeks, row, kind, "strong", onset)
    return weeks, planted, rank_households(weeks, resamples=0)


@pytest.fixture(scope="module")
def faulty(ordinary, plant_into):
    """Every kind of fault in the last half of one household, all in one dataset."""
    return with_all_faults(ordinary, plant_into, ROWS, "half")


@pytest.fixture(scope="module")
def always_faulty(ordinary, plant_into):
    """Every kind of fault in the whole record of one household, all in one dataset."""
    return with_all_faults(ordinary, plant_into, ALWAYS_ROWS, "whole")


def test_table_has_one_row_per_household(faulty):
    weeks, _, found = faulty
    assert list(found.table.columns) == COLUMNS
    assert sorted(found.table["household"]) == sorted(weeks.households)
    assert found.table["rank"].tolist() == list(range(1, len(weeks.households) + 1))
    assert found.table["p"].is_monotonic_increasing
    assert found.table["q"].between(found.table["p"], 1).all()
    assert (found.table["household"] != found.table["nearest"]).all()
    assert found.table["nearest"].isin(weeks.households).all()
    assert set(found.table["detector"]) <= set(DETECTORS)


def test_faults_come_first(faulty):
    found = faulty[2]
    rank = found.table.set_index("household")["rank"]
    assert {kind for kind, name in NAMES.items() if rank[name] <= 8} >= set(FAULTS) - {"weekend"}


KINDS = {
    # kind: detector, direction, words of the reason
    "dead": ("meter", "lower", "Reads 0 since"),
    "stuck": ("meter", "different", "Reads the same value"),
    "clock": ("clock", "different", "hours ahead of similar homes since"),
    "theft": ("changed", "lower", "% less than similar homes since"),
    "charging": ("hours", "higher", "Uses more every night 00:00–04:00 since"),
    "solar": ("hours", "lower", "Uses less every day"),
    "weekend": ("rhythm", "different", "Its Tuesdays and Wednesdays look like a weekend"),
    "event": ("event", "higher", "Uses more every"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_reasons_name_kind_direction_and_date(faulty, kind):
    weeks, planted, found = faulty
    row = found.table.set_index("household").loc[NAMES[kind]]
    detector, direction, words = KINDS[kind]
    assert row["reason"] != NOTHING
    assert (row["detector"], row["direction"]) == (detector, direction)
    assert words in row["reason"]
    late = np.datetime64(row["since"]) - weeks.date(planted[kind].first_day)
    assert abs(late / np.timedelta64(1, "D")) <= 7


@pytest.mark.parametrize("kind", ["dead", "theft", "charging", "solar", "event"])
def test_sizes_are_right_within_a_third(faulty, ordinary, kind):
    _, planted, found = faulty
    row = found.table.set_index("household").loc[NAMES[kind]]
    true = ordinary.kwh[int(NAMES[kind][1:])]
    change = (planted[kind].kwh - true).reshape(-1, 48)[planted[kind].first_day :]
    per_week = 7 * np.nanmean(np.nansum(change, axis=1))
    assert row["kwh_per_week"] == pytest.approx(per_week, rel=1 / 3)


@pytest.mark.parametrize("kind", ["charging", "solar", "weekend", "event"])
def test_slots_are_those_of_the_fault(faulty, kind):
    _, planted, found = faulty
    row = found.table.set_index("household").loc[NAMES[kind]]
    told = set(parse_slots(row["slots"], 30).tolist())
    true = set(planted[kind].slots.tolist())
    # A dip like solar is shallow at its ends: what is told is inside of it.
    assert told <= true if kind == "solar" else told == true
    assert len(told) >= len(true) / 2


def test_clock_reason_gives_the_hours(faulty):
    found = faulty[2]
    reason = found.table.set_index("household").loc[NAMES["clock"], "reason"]
    assert float(reason.split()[3]) == pytest.approx(12, abs=1)


ALWAYS = {
    "dead": ("meter", "lower", "Reads 0 all the time"),
    "stuck": ("meter", "different", "Reads the same value"),
    "clock": ("clock", "different", "Its clock runs"),
    "charging": ("hours", "higher", "Uses more every night 00:00–04:00 ("),
    "solar": ("hours", "lower", "Uses less every day"),
    "weekend": ("rhythm", "different", "Its Tuesdays and Wednesdays look like a weekend"),
    "event": ("event", "higher", "Uses more every"),
}


@pytest.mark.parametrize("kind", ALWAYS)
def test_faults_of_the_whole_record_have_no_date(always_faulty, kind):
    found = always_faulty[2]
    row = found.table.set_index("household").loc[f"h{ALWAYS_ROWS[kind]}"]
    detector, direction, words = ALWAYS[kind]
    assert (row["detector"], row["direction"]) == (detector, direction)
    assert words in row["reason"]
    assert np.isnat(found.findings[row.name].since)
    assert "since" not in row["reason"]


@pytest.mark.parametrize("kind", ["charging", "solar", "event"])
def test_sizes_and_slots_of_the_whole_record(always_faulty, ordinary, kind):
    _, planted, found = always_faulty
    finding = found.findings[f"h{ALWAYS_ROWS[kind]}"]
    change = planted[kind].kwh - ordinary.kwh[ALWAYS_ROWS[kind]]
    per_week = np.nanmean(change, axis=0).sum()
    assert finding.kwh_per_week == pytest.approx(per_week, rel=1 / 3)
    told, true = set(np.flatnonzero(finding.slots)), set(planted[kind].slots.tolist())
    assert told <= true if kind == "solar" else told == true
    assert len(told) >= len(true) / 2


def test_evidence_shows_what_the_reason_says(faulty):
    weeks, _, found = faulty
    finding = found.findings[NAMES["charging"]]
    night = slice(0, 8)
    assert finding.profile[night].mean() > 1.5 > 1 > finding.expected[night].mean()
    assert len(finding.daily) == 7 * weeks.kwh.shape[1]
    assert found.tails.loc[NAMES["charging"]].max() > 6


def test_nothing_unusual_below_the_threshold(faulty):
    found = faulty[2]
    quiet = found.table[found.table["p"] > 0.1]
    assert (quiet["reason"] == NOTHING).all()
    assert (quiet["kwh_per_week"] == 0).all()
    assert set(found.findings) == set(found.table["household"][found.table["p"] <= 0.1])


def test_ordinary_households_are_rarely_called_unusual(ordinary):
    table = rank_households(ordinary, resamples=0).table
    assert (table["q"] <= 0.1).sum() <= 1
    assert (table["p"] <= 0.1).mean() == pytest.approx(0.1, abs=0.07)


def test_short_records_are_neither_favoured_nor_hidden(ordinary):
    kwh = ordinary.kwh.copy()
    short = np.arange(0, len(kwh), 2)
    kwh[short, 6:] = np.nan
    # Two groups of sixty and more are needed to be told apart.
    doubled = np.concatenate([kwh, kwh * np.float32(1.2)])
    names = tuple(f"{row}" for row in range(len(doubled)))
    table = rank_households(replace(ordinary, kwh=doubled, households=names), resamples=0).table
    first = table["household"].head(40).astype(int) % len(kwh) % 2 == 0
    assert 0.3 <= first.mean() <= 0.7


def test_twins_do_not_hide_each_other(ordinary, plant_into):
    weeks = ordinary
    for row in (3, 30, 70):
        weeks, _ = plant_into(weeks, row, "charging", "strong", "whole")
    rank = rank_households(weeks, resamples=0).table.set_index("household")["rank"]
    assert max(rank[["h3", "h30", "h70"]]) <= 5


def test_stability_counts_resamples(faulty):
    weeks = faulty[0]
    found = rank_households(weeks, resamples=3, top=8)
    stability = found.table.set_index("household")["stability"]
    assert stability.sum() == pytest.approx(8)
    assert stability[NAMES["charging"]] == 1
    again = rank_households(weeks, resamples=3, top=8)
    pd.testing.assert_frame_equal(found.table, again.table)


def test_expected_false_follows_q(faulty):
    found = faulty[2]
    assert found.expected_false(8) == pytest.approx(8 * found.table["q"].iloc[7])


def test_all_detectors_have_a_place_when_several_are_loud():
    assert set(PRIORITY) <= set(DETECTORS)


def test_dataset_with_households_and_period(demo_path):
    dataset = Dataset.open(demo_path)
    names = dataset.households["household"].tolist()[:40]
    config = RunConfig(households=tuple(names), first_day=str(first_day(dataset, 14)))
    found = find_anomalies(dataset, config, resamples=0, detectors=["meter", "hours"])
    assert sorted(found.table["household"]) == sorted(names)
    assert set(found.table["detector"]) <= {"meter", "hours"}
    assert any("few" in notice for notice in found.notices)


def first_day(dataset, later):
    return (dataset.households["first"].min() + pd.Timedelta(days=later)).date()


def test_too_few_households_are_refused(ordinary):
    with pytest.raises(InputError, match="at least 20"):
        rank_households(ordinary.take(np.arange(10)))


def test_households_without_weeks_are_named(ordinary):
    kwh = ordinary.kwh.copy()
    kwh[4, 1:] = np.nan
    found = rank_households(replace(ordinary, kwh=kwh), resamples=0, detectors=["meter"])
    assert found.left_out == ("h4",)
    assert "h4" in found.notices[0]


def test_cancel(ordinary):
    def stop(fraction, message=""):
        if fraction > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        rank_households(ordinary, progress=stop)
