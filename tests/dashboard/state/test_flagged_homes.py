"""The worklist of a page: steps that can be undone, files that come in, and money."""

import io

import numpy as np
import pandas as pd
import pytest

from core.anomalies import Anomalies
from core.errors import InputError
from core.readings import Dataset
from core.worklist import Worklist
from dashboard.state.flagged_homes import FlaggedHomes, parse_price


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


@pytest.fixture
def flagged(dataset):
    return FlaggedHomes(dataset)


@pytest.fixture(scope="module")
def homes(dataset):
    return dataset.households["household"].tolist()


def judged(homes):
    """Anomalies of three homes, as far as a worklist needs them."""
    table = pd.DataFrame(
        {
            "household": homes[:3],
            "rank": [1, 2, 3],
            "q": [0.01, 0.2, 0.9],
            "detector": ["meter", "level", "meter"],
            "reason": ["Reads 0", "=1+1", "Nothing"],
            "since": ["2009-08-01", "", ""],
            "kwh_per_week": [-10.0, 5.0, np.nan],
        }
    )
    return Anomalies(table=table, findings={}, tails=pd.DataFrame(), left_out=(), notices=())


def test_undo_takes_back_what_this_visit_added_and_nothing_of_others(flagged, homes):
    others = Worklist(dataset=flagged.worklist.dataset).flag(homes[3], "EV", by="Cy")
    steps = [flagged.own]
    flagged.flag(homes[0], "open")
    steps.append(flagged.own)
    flagged.take_in({"worklist": others.to_json()})  # of another page
    flagged.flag(homes[0], "fault", note="stuck")
    flagged.merge(Worklist(dataset=flagged.worklist.dataset).flag(homes[1], "solar", by="Bo"))
    last, listed = flagged.own, flagged.worklist
    assert flagged.progress() == (3, 3)
    flagged.restore(steps[1])
    assert flagged.verdicts(homes[:4]) == ["open", "", "", "EV"]
    flagged.restore(steps[0])
    assert flagged.worklist.flags == others.flags
    flagged.restore(last)
    assert flagged.worklist == listed


def test_what_another_page_took_back_goes_and_nothing_else(dataset, homes):
    here, there = FlaggedHomes(dataset), FlaggedHomes(dataset)
    there.flag(homes[0], "fault")
    before = there.to_json()
    here.take_in(before)
    here.flag(homes[1], "open")
    there.restore(frozenset())
    there.flag(homes[2], "solar")
    there.price = "£0.30"
    here.take_in(there.to_json(), before)
    assert here.verdicts(homes[:3]) == ["", "open", "solar"]
    assert here.price == "£0.30"
    # What was taken back here while the other page wrote does not come back with that.
    before = here.to_json()
    here.restore(frozenset())
    there.take_in(before)
    there.flag(homes[3], "vacant")
    here.take_in(there.to_json(), before)
    assert here.verdicts(homes[:4]) == ["", "", "solar", "vacant"]


def test_a_merge_loses_nothing_whoever_comes_first(dataset, homes):
    ann, bo = FlaggedHomes(dataset), FlaggedHomes(dataset)
    ann.by, bo.by = "Ann", "Bo"
    ann.flag(homes[0], "fault", note="Ann's note")
    bo.flag(homes[0], "fine", note="Bo's note")
    bo.flag(homes[1], "open")
    before = ann.worklist
    ann.merge(bo.worklist)
    bo.merge(before)
    assert ann.worklist == bo.worklist
    case = ann.worklist.cases()[homes[0]]
    assert case.disputed
    assert {flag.note for flag in case.flags} == {"Ann's note", "Bo's note"}


def test_the_list_of_other_data_is_refused(flagged, homes):
    flagged.flag(homes[0], "open")
    with pytest.raises(InputError, match="different datasets"):
        flagged.merge(Worklist(dataset="0" * 64).flag(homes[1], "open"))
    assert list(flagged.worklist.cases()) == [homes[0]]


def test_the_same_verdict_and_note_again_add_nothing(flagged, homes):
    flagged.flag(homes[0], "EV", note="charges at night")
    flagged.flag(homes[0], "EV", note="charges at night")
    assert len(flagged.worklist.flags) == 1
    flagged.remove(homes[0])
    assert flagged.verdict_of(homes[0]) == ""
    assert len(flagged.worklist.flags) == 2


def test_what_the_browser_kept_comes_back(dataset, flagged, homes):
    flagged.param.update(by="Ann", price="£0.30")
    flagged.flag(homes[0], "theft")
    again = FlaggedHomes(dataset)
    again.take_in(flagged.to_json())
    assert again.worklist == flagged.worklist
    assert (again.by, again.price) == ("Ann", "£0.30")
    assert again.own == frozenset()


@pytest.mark.parametrize(
    "kept", [None, 3, [], {}, {"worklist": 3, "by": 4}, {"worklist": {"format": "x"}, "price": []}]
)
def test_what_is_damaged_in_the_browser_is_left_out(flagged, kept):
    flagged.take_in(kept)
    assert flagged.worklist.flags == frozenset()
    assert (flagged.by, flagged.price) == ("", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (None, "")),
        ("0.3", (0.3, "")),
        ("£0.30", (0.3, "£")),
        (" 0,25 € ", (0.25, "€")),
        ("28 ct", (28.0, "ct")),
    ],
)
def test_a_price_is_read_as_people_write_it(text, expected):
    assert parse_price(text) == expected


@pytest.mark.parametrize("text", ["cheap", "0", "-1", "1.2.3", "£", "1e400", "3 for 2"])
def test_what_is_no_price_is_said(flagged, text):
    with pytest.raises(InputError, match="A price is a number above 0"):
        parse_price(text)
    flagged.price = text
    assert flagged.money() == (None, "")


def test_a_price_turns_kwh_into_money(flagged, homes):
    flagged.price = "€0.20"
    flagged.flag(homes[0], "fault")
    flagged.flag(homes[1], "open")
    cases = flagged.cases(judged(homes))
    assert cases["money_per_year"].tolist() == pytest.approx([-10 * 0.2 * 52.18, 5 * 0.2 * 52.18])
    assert flagged.cases(judged(homes), verdict="open")["household"].tolist() == [homes[1]]


def test_the_csv_has_evidence_and_attributes_and_no_formulas(dataset, flagged, homes):
    flagged.flag(homes[1], "own words, in a row", note="=cmd()")
    text = flagged.cases_csv(judged(homes))
    table = pd.read_csv(io.StringIO(text))
    assert {"household", "verdict", "q", "reason", "since"} <= set(table.columns)
    assert set(dataset.metadata.columns) <= set(table.columns)
    assert not table["note"].iat[0].startswith("=")
    assert not table["reason"].iat[0].startswith("=")
