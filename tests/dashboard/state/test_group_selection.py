"""Choosing homes by what is known of them, and against whom they stand."""

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.runs import RunConfig, run
from core.scene.coloring import HDR
from dashboard.state import Explorer
from dashboard.state.group_selection import DRAWN, LISTED, SAVED, GroupSelection
from dashboard.state.map_colors import GROUPS
from dashboard.state.saved_groups import SEVERAL


@pytest.fixture
def explorer(dataset, result):
    explorer = Explorer(dataset)
    explorer.show(result)
    return explorer


@pytest.fixture
def group(explorer):
    return GroupSelection(explorer)


@pytest.fixture(scope="module")
def homes(result):
    return result.units["household"].tolist()


def test_an_attribute_chooses_the_homes_that_have_a_value(group, explorer, dataset, homes):
    table = dataset.metadata.set_axis(dataset.households["household"])["tariff"].reindex(homes)
    for value, rows in group.values("tariff").items():
        assert rows.tolist() == np.flatnonzero(table == value).tolist()
        group.choose("tariff", value)
        assert explorer.chosen.tolist() == rows.tolist()
        assert (group.title, group.attribute) == (f"tariff {value}", "tariff")


def test_what_is_drawn_on_the_map_has_no_origin(group, explorer):
    value = next(iter(group.values("tariff")))
    group.choose("tariff", value)
    explorer.chosen = explorer.chosen[1:]
    assert group.origin is None
    assert (group.title, group.attribute) == ("chosen homes", "")
    assert group.values(DRAWN) == {}


def test_lists_and_saved_groups_choose_homes(group, explorer, homes):
    assert SAVED not in group.kinds()
    explorer.groups.save("few", [homes[5], homes[2], "not on this map"])
    explorer.flagged.flag(homes[4], "fault")
    assert group.values(SAVED)["few"].tolist() == [2, 5]
    lists = group.values(LISTED)
    assert lists["worklist: fault"].tolist() == lists["worklist"].tolist() == [4]
    group.choose(SAVED, "few")
    assert group.homes == (homes[2], homes[5])
    group.choose(SAVED, "gone")
    assert len(explorer.chosen) == 0


def test_an_attribute_with_a_thousand_values_is_said(group, dataset, monkeypatch):
    table = dataset.metadata.assign(serial=[f"no {i}" for i in range(len(dataset.metadata))])
    monkeypatch.setattr(type(dataset), "metadata", table)
    with pytest.raises(InputError, match="serial has 60 different values"):
        group.values("serial")


def test_homes_stand_against_the_rest_or_a_saved_group(group, explorer, homes):
    explorer.chosen = np.array([3, 1, 2])
    first, second, names = group.sides()
    assert first == tuple(homes[1:4])
    assert set(first) | set(second) == set(homes)
    assert not set(first) & set(second)
    assert names == ("chosen homes", "the rest")
    explorer.groups.save("others", homes[10:20])
    group.against = "others"
    assert group.sides() == (tuple(homes[1:4]), tuple(homes[10:20]), ("chosen homes", "others"))


def test_bad_groups_are_said_in_a_sentence(group, explorer, homes, result):
    explorer.chosen = np.array([3])
    with pytest.raises(InputError, match="1 home is chosen; a group needs at least 3"):
        group.sides()
    explorer.chosen = np.arange(result.n)
    with pytest.raises(InputError, match="60 of 60 homes are chosen, and fewer than 3"):
        group.sides()
    explorer.chosen = np.arange(10)
    explorer.groups.save("half", homes[5:20])
    group.against = "half"
    with pytest.raises(InputError, match="5 of the chosen homes are in “half”, too"):
        group.sides()


def test_half_hours_are_no_group(group, explorer, dataset, homes):
    explorer.show(run(dataset, RunConfig(unit="slots", household=homes[0])))
    explorer.chosen = np.arange(10)
    with pytest.raises(InputError, match="a point of this map is a half-hour"):
        group.sides()
    assert group.homes == ()
    assert group.values("tariff") == {}


def test_the_map_is_coloured_by_saved_groups_while_there_are_some(explorer, homes):
    assert GROUPS not in explorer.param.color_by.objects
    explorer.groups.save("one", homes[:4])
    explorer.groups.save("two", homes[3:6])
    explorer.color_by = GROUPS
    drawn = explorer.coloring()
    expected = pd.Series(["one"] * 3 + [SEVERAL] + ["two"] * 2 + ["in no group"] * 54)
    assert drawn.texts(np.arange(60)) == expected.tolist()
    redrawn = []
    explorer.param.watch(lambda _: redrawn.append(1), "color_by", onlychanged=False)
    explorer.groups.remove("two")
    assert redrawn
    assert explorer.coloring().texts(np.arange(6)) == ["one"] * 4 + ["in no group"] * 2
    explorer.groups.remove("one")
    assert explorer.color_by == HDR
    assert GROUPS not in explorer.param.color_by.objects


def test_a_colour_of_the_legend_is_chosen(explorer):
    coloring = explorer.coloring()
    explorer.choose_category(coloring.names[2])
    assert explorer.chosen.tolist() == np.flatnonzero(coloring.codes == 2).tolist()
    before = explorer.chosen
    explorer.choose_category("no such colour")
    assert explorer.chosen is before
