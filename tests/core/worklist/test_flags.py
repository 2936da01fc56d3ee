import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.worklist import Worklist, merge, read_worklist


def at(minute):
    return f"2024-05-03T09:{minute:02d}:00+00:00"


def test_the_latest_verdict_counts_and_nothing_is_forgotten():
    worklist = Worklist().flag("a", note="zeros", by="Ann", at=at(1))
    worklist = worklist.flag("a", "fault", by="Ann", at=at(2))
    [case] = worklist.cases().values()
    assert (case.verdict, case.note, case.by) == ("fault", "zeros", "Ann")
    assert [each.verdict for each in case.flags] == ["open", "fault"]
    assert worklist.counts() == {"fault": 1}


def test_known_verdicts_are_spelled_alike_and_own_words_stay():
    worklist = Worklist().flag("a", "ev").flag("b", "Heat Pump").flag("c", "Aquarium")
    assert {case.verdict for case in worklist.cases().values()} == {"EV", "heat pump", "Aquarium"}
    assert worklist.with_verdict("EV") == ["a"]


def test_two_people_who_differ():
    worklist = Worklist().flag("a", "theft", by="Ann", at=at(1))
    worklist = worklist.flag("a", "fine", by="Bo", at=at(2))
    assert worklist.cases()["a"].disputed
    agreed = worklist.flag("a", "fine", by="Ann", at=at(3))
    assert not agreed.cases()["a"].disputed


def test_taking_off_and_putting_on_again():
    worklist = Worklist().flag("a", at=at(1)).remove("a", at=at(2))
    assert not worklist.cases()
    assert len(worklist.flags) == 2
    assert list(worklist.flag("a", at=at(3)).cases()) == ["a"]
    with pytest.raises(InputError, match="'a' is not on the worklist"):
        worklist.remove("a")


flags = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["open", "fault", "fine", "own words", ""]),
        st.sampled_from(["", "Ann", "Bo"]),
        st.integers(0, 3),
        st.sampled_from(["", "note"]),
    ),
    max_size=12,
)


def made_of(rows):
    worklist = Worklist(dataset="d")
    for household, verdict, by, minute, note in rows:
        worklist = worklist.flag(household, verdict, by=by, at=at(minute), note=note)
    return worklist


@given(flags, flags, flags)
def test_merging_loses_nothing_in_any_order(one, two, three):
    lists = [made_of(rows) for rows in (one, two, three)]
    merged = merge(lists)
    assert merged.flags == lists[0].flags | lists[1].flags | lists[2].flags
    shuffled = random.Random(1).sample([*lists, *lists], 6)
    assert merge(shuffled) == merged
    assert merge([lists[0], merge(lists[1:])]) == merged
    assert Worklist.from_json(json.loads(json.dumps(merged.to_json()))) == merged


def test_lists_of_other_datasets_are_not_merged():
    with pytest.raises(InputError, match="belong to different datasets"):
        merge([Worklist(dataset="a"), Worklist(dataset="b")])


def test_a_file_there_and_back(tmp_path):
    path = tmp_path / "list.json"
    worklist = made_of([("a", "fault", "Ann", 1, 'quotes " and ünïcode')])
    worklist.save(path)
    assert read_worklist(path) == worklist


def test_times_of_other_zones_are_put_in_order():
    worklist = Worklist().flag("a", "theft", at="2024-05-03T10:00:00+02:00")
    worklist = worklist.flag("a", "fine", at="2024-05-03T09:00:00+00:00")
    assert worklist.cases()["a"].verdict == "fine"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("no json", "cannot be read as a worklist"),
        ("[]", "it is no worklist"),
        ('{"format": "wattfold worklist", "version": 9}', "version 9"),
        ('{"format": "wattfold worklist", "version": 1, "flags": 3}', "damaged"),
        ('{"format": "wattfold worklist", "version": 1, "flags": [3]}', "flag 1 is damaged"),
        (
            '{"format": "wattfold worklist", "version": 1, "flags": [{"at": "x", "by": "", '
            '"household": "a", "verdict": ""}]}',
            "flag 1 is damaged: 'x' is no time",
        ),
        (
            '{"format": "wattfold worklist", "version": 1, "flags": [{"colour": "red"}]}',
            "flag 1 is damaged",
        ),
    ],
)
def test_bad_files_are_said(tmp_path, content, message):
    path = tmp_path / "list.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_worklist(path)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_worklist(tmp_path / "none.json")


@pytest.mark.parametrize(
    "options", [{"verdict": "x" * 81}, {"verdict": "a\nb"}, {"note": "x" * 20_001}, {"at": "noon"}]
)
def test_flags_that_are_too_much(options):
    with pytest.raises(InputError):
        Worklist().flag("a", **options)
