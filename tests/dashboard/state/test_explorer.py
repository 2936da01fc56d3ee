"""The explorer: choices, selection, pins and the readings behind points."""

import numpy as np
import pytest

from core.anomalies import find_anomalies
from core.errors import InputError
from core.runs import RunConfig, run
from core.runs.readings_behind import readings_behind
from core.slots import slot_of
from dashboard.state import Explorer
from dashboard.state.explorer import MAXIMUM_PINS


@pytest.fixture
def explorer(dataset, result):
    explorer = Explorer(dataset)
    explorer.show(result)
    return explorer


def test_it_starts_with_the_default_run(dataset):
    assert Explorer(dataset).config() == RunConfig()


@pytest.fixture(scope="module")
def anomalies(dataset):
    return find_anomalies(dataset, resamples=0)


def labels_of(explorer, rows):
    return [explorer.label(int(row)) for row in rows]


def test_it_opens_on_the_most_unusual_home(explorer, anomalies):
    assert explorer.selected is None
    assert len(explorer.listed_rows()) == 0
    explorer.show_unusual(anomalies)
    assert explorer.label(explorer.selected) == anomalies.table["household"].iat[0]


def test_a_point_that_is_selected_meanwhile_stays_selected(explorer, anomalies):
    explorer.selected = 7
    explorer.show_unusual(anomalies)
    assert explorer.selected == 7


def test_where_homes_cannot_be_judged_it_opens_on_the_most_isolated(explorer, result):
    explorer.show_unusual(None)
    assert explorer.selected == result.hdr.anomalies[0]
    assert explorer.listed_rows().tolist() == result.hdr.anomalies.tolist()


def test_the_next_map_is_listed_by_what_is_unusual_again(explorer, anomalies, result):
    explorer.show_unusual(None)
    assert not explorer.lists_unusual
    explorer.show(result)
    assert explorer.lists_unusual
    explorer.show_unusual(anomalies)
    explorer.listed = "isolated"
    explorer.show(result)
    assert not explorer.lists_unusual  # as the analyst chose


def test_unusual_homes_are_listed_by_evidence_or_by_size(explorer, anomalies):
    explorer.show_unusual(anomalies)
    unusual = anomalies.table[anomalies.table["household"].isin(list(anomalies.findings))]
    assert labels_of(explorer, explorer.listed_rows()) == unusual["household"].tolist()
    explorer.list_order = "size"
    by_size = unusual.sort_values("kwh_per_week", key=abs, ascending=False, kind="stable")
    assert labels_of(explorer, explorer.listed_rows()) == by_size["household"].tolist()


def test_the_marks_on_the_map_are_those_of_the_list(explorer, anomalies, result):
    assert len(explorer.map_scene().marked) == 0
    explorer.show_unusual(anomalies)
    scene = explorer.map_scene()
    assert scene.mark_name == "unusual homes"
    assert scene.marked.tolist() == explorer.listed_rows()[:10].tolist()
    explorer.listed = "isolated"
    scene = explorer.map_scene()
    assert scene.mark_name == "isolated on this map"
    assert scene.marked.tolist() == result.hdr.anomalies.tolist()


def test_another_map_forgets_what_was_unusual_on_the_last(explorer, anomalies, dataset):
    explorer.show_unusual(anomalies)
    selected = explorer.label(explorer.selected)
    explorer.show(run(dataset, RunConfig(method="laplacian")))
    assert explorer.unusual is None
    assert explorer.label(explorer.selected) == selected


def test_differences_are_shares_of_the_largest_distance(dataset, explorer):
    counts = np.arange(1, 21.0)
    np.testing.assert_allclose(explorer.difference_shares(336 * counts), counts)
    for unit, distance, largest in (
        ("households", "tv", 1.0),
        ("profiles", "hellinger", np.sqrt(336)),
    ):
        explorer.show(run(dataset, RunConfig(unit=unit, distance=distance)))
        np.testing.assert_allclose(explorer.difference_shares(largest * counts), counts)


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(unit="households", distance="tv", k=7),
        RunConfig(
            unit="slots",
            household="1001",
            neighbors="kdtree",
            neighbors_parameters={"epsilon": 0.5},
        ),
        RunConfig(households=("1001", "1003"), method="umap", method_parameters={"min_dist": 0.3}),
        RunConfig(unit="household-slots", slots="weekend", bins=20, window=2, rank_by="surprise"),
        RunConfig(slots="evenings"),
        RunConfig(slots="Mon18:00-20:00,Tue"),
        # The bounds of the config, whatever a slider would offer.
        RunConfig(k=1, window=1007, n_anomalies=0, dim=1),
        RunConfig(k=1000, window=0, n_anomalies=1000, dim=100, quality=True),
    ],
)
def test_choices_make_the_config_they_were_taken_from(dataset, config):
    explorer = Explorer(dataset)
    explorer.take(config)
    assert explorer.config() == config


def test_another_backend_or_method_has_its_own_settings(dataset):
    explorer = Explorer(dataset)
    explorer.neighbors = "kdtree"
    explorer.neighbors_parameters = {"epsilon": 2.0}
    explorer.neighbors = "annoy"
    assert explorer.config().neighbors_parameters["n_trees"] == 50


def test_what_cannot_be_is_said(dataset):
    explorer = Explorer(dataset, distance="js", neighbors="kdtree")
    with pytest.raises(InputError, match="cannot be searched"):
        explorer.config()


def test_a_new_run_keeps_the_points_that_are_looked_at(explorer, dataset, result):
    labels = result.units["label"].tolist()
    explorer.selected = 5
    explorer.pin(7)
    explorer.chosen = np.array([1, 2])
    fewer = run(dataset, RunConfig(households=tuple(labels[3:30]), k=5))
    explorer.show(fewer)
    assert explorer.label(explorer.selected) == labels[5]
    assert [explorer.label(row) for row in explorer.pins] == [labels[7]]
    assert not len(explorer.chosen)


def test_nothing_is_seen_half_way_to_another_run(explorer, dataset, result):
    """A select chooses another colour as soon as its choices change."""
    seen = []

    def choose(event):
        if explorer.color_by not in event.new:
            explorer.color_by = event.new[0]

    def look(*_):
        scene = explorer.map_scene()
        seen.append((len(scene.points), len(scene.coloring.codes), explorer.run.n))

    week = run(dataset, RunConfig(unit="slots", household=result.units["household"].iat[0]))
    explorer.show(week)
    explorer.color_by = "Day of week"
    explorer.param.watch(choose, "color_by", what="objects")
    explorer.selected = int(np.argmax(week.neighbors.indices.max(axis=1)))
    explorer.param.watch(look, ["color_by", "run"])
    explorer.show(result)
    assert seen
    assert all(len(set(sizes)) == 1 for sizes in seen)


def test_the_fifth_pin_takes_the_place_of_the_first(explorer):
    for row in range(MAXIMUM_PINS + 1):
        explorer.pin(row)
    assert explorer.pins == [1, 2, 3, 4]
    explorer.unpin(2)
    assert explorer.pins == [1, 3, 4]


def test_steps_walk_through_the_list_in_a_circle(explorer, anomalies, result):
    explorer.show_unusual(anomalies)
    order = explorer.listed_rows()
    explorer.step(1)
    assert explorer.selected == order[1]
    explorer.step(-2)
    assert explorer.selected == order[-1]
    explorer.selected = next(row for row in range(result.n) if row not in order)
    explorer.step(1)
    assert explorer.selected == order[0]


def test_a_week_is_opened_and_left_again(explorer, dataset, result):
    explorer.selected = 4
    household = explorer.household_of(4)
    explorer.open_week(household)
    assert explorer.config() == RunConfig(unit="slots", household=household)
    explorer.show(run(dataset, explorer.config()))
    explorer.go_back()
    assert explorer.config() == RunConfig()
    explorer.show(result)
    assert explorer.selected == 4
    assert not explorer.can_go_back


def test_samples_are_the_readings_that_count(dataset, explorer):
    household = explorer.household_of(0)
    readings = dataset.readings(household)
    np.testing.assert_array_equal(readings_behind(explorer.run, dataset, 0), readings["kwh"])
    explorer.show(run(dataset, RunConfig(unit="slots", household=household, window=1)))
    slots = slot_of(readings["time"].to_numpy(), 30)
    for row in (0, 17, 335):
        kwh = readings_behind(explorer.run, dataset, row, readings)
        near = np.isin(slots, [(row - 1) % 336, row, (row + 1) % 336])
        np.testing.assert_array_equal(kwh, readings["kwh"][near])
        assert len(kwh) == explorer.run.units["m"].iat[row]
    # A chosen half-hour of a profile takes in the window around it, as in the counts.
    explorer.show(run(dataset, RunConfig(slots="weekend", window=1)))
    kwh = readings_behind(explorer.run, dataset, 0)
    weekend = np.isin(slots, np.arange(5 * 48 - 1, 7 * 48 + 1) % 336)
    np.testing.assert_array_equal(kwh, readings["kwh"][weekend])
    assert len(kwh) == explorer.run.units["m"].iat[0]


def test_the_table_has_ranks_and_metadata(explorer, dataset, result):
    table = explorer.table(result.hdr.anomalies)
    assert table["rank"].tolist() == list(range(1, 11))
    code = dataset.code(table["what"].iat[0])
    assert table["tariff"].iat[0] == dataset.metadata["tariff"].iat[code]
