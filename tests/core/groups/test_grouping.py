import json

import pandas as pd
import pytest

from core.errors import InputError
from core.groups import group_by, read_groups
from core.groups.grouping import REST, make_grouping
from core.readings import Dataset


@pytest.fixture(scope="module")
def demo(demo_path):
    return Dataset.open(demo_path)


def test_groups_of_an_attribute_are_those_of_pandas(demo):
    grouping = group_by(demo, "tariff")
    ids = demo.households["household"]
    for value, own in ids.groupby(demo.metadata["tariff"].to_numpy()):
        assert grouping.groups[value] == tuple(own)
    assert set(grouping.households) == set(ids)


def test_two_groups_that_hold_everybody_are_compared_once():
    grouping = make_grouping({"a": ("1", "2", "3"), "b": ("4", "5", "6")}, tuple("123456"), what="")
    assert grouping.pairs() == [("a", "b")]
    assert grouping.pairs("a") == [("b", "a")]


def test_otherwise_each_is_compared_with_the_rest():
    grouping = make_grouping(
        {"a": ("1", "2", "3"), "b": ("4", "5", "6")}, tuple("1234567"), what=""
    )
    assert grouping.pairs() == [("a", REST), ("b", REST)]
    assert grouping.sides("a", REST) == (("1", "2", "3"), ("4", "5", "6", "7"))


def test_an_unknown_attribute_names_those_there_are(demo):
    with pytest.raises(InputError, match=r"no attribute 'colour'; it has .*'tariff'"):
        group_by(demo, "colour")


def test_an_unknown_group_names_those_there_are(demo):
    with pytest.raises(InputError, match="there is no group 'x'"):
        group_by(demo, "tariff").pairs("x")


def test_an_attribute_of_many_values_is_refused_with_the_way_out(demo, monkeypatch):
    table = demo.metadata.assign(serial=range(len(demo.households)))
    monkeypatch.setattr(Dataset, "metadata", property(lambda self: table))
    with pytest.raises(InputError, match=r"60 different values.*--groups FILE"):
        group_by(demo, "serial")


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_file_of_groups(demo, tmp_path, kind):
    ids = demo.households["household"].tolist()
    groups = {"first": ids[:4], "second": ids[4:10]}
    path = tmp_path / f"groups.{kind}"
    if kind == "json":
        path.write_text(json.dumps(groups))
    else:
        pairs = [(each, name) for name, own in groups.items() for each in own]
        pd.DataFrame(pairs, columns=["household", "group"]).to_csv(path, index=False)
    found = read_groups(path, demo).groups
    assert {name: list(own) for name, own in found.items()} == groups


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("household,group\nH1,a\n", "H1"),
        ("id,group\nH1,a\n", "no column 'household'"),
        ("", "cannot be read as groups"),
    ],
)
def test_a_file_that_says_nothing_useful(demo, tmp_path, content, message):
    path = tmp_path / "groups.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_groups(path, demo)


def test_no_such_file(demo, tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_groups(tmp_path / "none.csv", demo)


def test_overlapping_groups_name_the_household():
    with pytest.raises(InputError, match="household 3 is in 'a' and in 'b'"):
        make_grouping({"a": ("1", "2", "3"), "b": ("3", "4", "5")}, tuple("12345"), what="x")


def test_a_group_of_one_is_left_out_and_named():
    grouping = make_grouping({"a": ("1", "2", "3"), "b": ("4",)}, tuple("123456"), what="x")
    assert list(grouping.groups) == ["a"]
    assert "group 'b' is left out: it has 1 household," in grouping.notices[0]


def test_only_groups_of_one():
    with pytest.raises(InputError, match="at least 3 households, and 'a' has 1"):
        make_grouping({"a": ("1",)}, tuple("123456"), what="x")


def test_one_group_that_holds_everybody_has_nobody_to_be_compared_with():
    with pytest.raises(InputError, match="too few are left to compare it with"):
        make_grouping({"a": ("1", "2", "3")}, tuple("123"), what="x")
