"""Groups that the analyst named."""

import pytest

from core.errors import InputError
from core.readings import Dataset
from dashboard.state.saved_groups import MOST_GROUPS, SavedGroups, check_groups


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


def test_a_merge_keeps_both_groups_of_one_name():
    groups = SavedGroups()
    groups.save(" east ", ["a", "b"])
    groups.merge({"east": ("b", "a"), "west": ("c",)})
    assert groups.groups == {"east": ("b", "a"), "west": ("c",)}
    groups.merge({"east": ("a", "c")})
    groups.merge({"east": ("a", "c")})
    assert list(groups.groups) == ["east", "west", "east (2)"]


def test_changes_of_another_page_are_taken_and_own_ones_stay():
    before = {"east": ("a",), "west": ("b",), "north": ("c",)}
    groups = SavedGroups()
    groups.merge(before)
    groups.save("north", ["c", "d"])
    groups.save("own", ["e"])
    groups.merge({"east": ("a", "x"), "north": ("c",), "new": ("n",)}, before=before)
    assert groups.groups == {
        "east": ("a", "x"), "north": ("c", "d"), "own": ("e",), "new": ("n",)
    }  # fmt: skip
    groups.merge({"north": ("y",)}, before={"north": ("c",)})
    assert groups.groups["north (2)"] == ("y",)


@pytest.mark.parametrize(("name", "homes"), [("", ["a"]), ("  ", ["a"]), ("x" * 61, ["a"])])
def test_a_group_needs_a_short_name(name, homes):
    with pytest.raises(InputError, match="Name the group"):
        SavedGroups().save(name, homes)


def test_a_group_of_nobody_and_one_too_many_are_refused():
    groups = SavedGroups()
    with pytest.raises(InputError, match="nobody"):
        groups.save("none", [])
    for number in range(MOST_GROUPS):
        groups.save(str(number), ["a"])
    with pytest.raises(InputError, match="no room"):
        groups.save("more", ["a"])
    groups.save("0", ["b"])
    assert groups.groups["0"] == ("b",)
    groups.merge({"others": ("a",)})
    assert len(groups.groups) == MOST_GROUPS


def test_households_that_are_not_in_the_data_are_left_out(dataset):
    home = dataset.households["household"].iat[0]
    found = check_groups({"some": [home, "nobody", home, ["x"]], "none": ["nobody"]}, dataset)
    assert found == {"some": (home,)}


@pytest.mark.parametrize(
    "groups", [None, [], {"a": "b"}, {" ": ["b"]}, {"a": {"b": 1}}, {1: ["b"]}]
)
def test_damaged_groups_are_refused(dataset, groups):
    with pytest.raises(InputError, match="damaged"):
        check_groups(groups, dataset)
