"""The chosen homes as a group: compared by a worker, named, coloured, mapped alone, exported."""

import json
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns

from core.groups import compare_groups, group_by, household_demand
from core.progress import silent
from core.runs import RunConfig, Store
from dashboard.groups import GroupPanel
from dashboard.jobs import SessionFolder, SessionPool, group_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer
from dashboard.state.map_colors import GROUPS

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the widgets


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


class Visit:
    """A page with a map, and the group beside it."""

    def __init__(self, dataset, store, result):
        self.jobs, self.turns = HeldJobs(), PageTurns()
        self.workspace = Workspace(dataset, store, SessionPool(self.jobs, self.turns))
        self.explorer = Explorer(dataset)
        self.folder = SessionFolder()
        self.panel = GroupPanel(self.workspace, self.folder, self.explorer)
        self.explorer.show(result)
        self.panel.show()
        self.turns.run()

    def work(self):
        """Let the page ask, workers answer, and the page show it."""
        self.turns.run()
        self.jobs.work()
        self.turns.run()


@pytest.fixture
def visit(dataset, store, result):
    visit = Visit(dataset, store, result)
    yield visit
    visit.folder.remove()


def test_nobody_chosen_is_an_invitation(visit):
    assert visit.panel.title.text == "No homes are chosen"
    assert visit.panel.status.sentence.text.startswith("Draw a box or a lasso")
    assert visit.jobs.jobs == []


def test_an_attribute_is_compared_as_the_command_compares_it(visit, dataset, store):
    panel = visit.panel
    panel.kind.value = "tariff"
    name, value = next((n, v) for n, v in panel.value.options.items() if v)
    panel.value.value = value
    visit.turns.run()
    assert panel.cancel.visible
    visit.work()
    grouping = group_by(dataset, "tariff")
    homes = panel.selection.homes
    assert set(homes) == set(grouping.members(value))
    assert name == f"{value} ({len(homes)})"
    demand = household_demand(dataset, RunConfig(), store=store)
    rest = tuple(home for home in demand.households if home not in set(homes))
    expected = compare_groups(demand, homes, rest, without_attributes=("tariff",))
    assert panel.found.p == expected.p
    assert panel.found.distance == expected.distance
    assert panel.result.visible
    assert f"{expected.sizes[0]} homes against {expected.sizes[1]}" in panel.about.text
    assert "tariff" not in panel.attributes.text
    np.testing.assert_array_equal(panel.week.week.data["mean0"], expected.week[0].mean)


def test_one_value_of_an_attribute_is_compared_with_another(visit, dataset):
    panel = visit.panel
    panel.kind.value = "occupants"
    panel.value.value = "1"
    visit.turns.run()
    assert "occupants 1" not in panel.against.options
    panel.against.value = "occupants 2"
    visit.work()
    occupants = dataset.metadata["occupants"]
    assert panel.found.names == ("occupants 1", "occupants 2")
    assert panel.found.sizes == ((occupants == 1).sum(), (occupants == 2).sum())


def test_another_lasso_takes_the_place_of_the_first(visit):
    visit.explorer.chosen = np.arange(10)
    visit.turns.run()
    visit.explorer.chosen = np.arange(20)
    visit.turns.run()
    first, second = visit.jobs.jobs
    assert first.state == "cancelled"
    visit.work()
    assert second.state == "done"
    assert visit.panel.found.sizes[0] == 20


def test_cancel_ends_the_comparison(visit):
    visit.explorer.chosen = np.arange(10)
    visit.turns.run()
    visit.panel.cancel.clicks += 1
    assert visit.jobs.jobs[0].state == "cancelled"
    assert visit.panel.status.sentence.text == "Not compared."
    assert not visit.panel.result.visible


@pytest.mark.parametrize(
    ("rows", "problem"), [([4], "1 home is chosen"), (range(60), "60 of 60 homes are chosen")]
)
def test_groups_that_cannot_be_compared_are_said(visit, rows, problem):
    visit.explorer.chosen = np.array(rows)
    visit.turns.run()
    assert visit.panel.problem.text.startswith(problem)
    assert visit.jobs.jobs == []


def test_a_group_is_saved_found_again_and_forgotten(visit):
    panel, explorer = visit.panel, visit.explorer
    explorer.chosen = np.arange(10)
    visit.work()
    panel.save.clicks += 1
    assert panel.problem.text.startswith("Name the group")
    panel.name.value = "north <b>"
    panel.save.clicks += 1
    visit.turns.run()
    assert explorer.groups.groups == {"north <b>": panel.selection.homes}
    assert panel.title.text == "North <b>: 10 of 60"
    assert len(visit.jobs.jobs) == 1  # another name alone is not compared again
    assert panel.found.names == ("north <b>", "the rest")
    panel.color.clicks += 1
    assert explorer.color_by == GROUPS
    explorer.chosen = np.arange(30, 40)
    visit.work()
    panel.against.value = "north <b>"
    visit.work()
    assert panel.found.names == ("chosen homes", "north <b>")
    assert panel.found.sizes == (10, 10)
    panel.kind.value = "saved group"
    panel.value.value = "north <b>"
    panel.forget.clicks += 1
    assert explorer.groups.groups == {}
    visit.work()
    assert panel.found.names == ("chosen homes", "the rest")


def test_a_group_can_be_mapped_alone(visit):
    visit.explorer.chosen = np.arange(20)
    visit.panel.only.clicks += 1
    assert visit.explorer.config().households == visit.panel.selection.homes


def test_the_export_holds_members_numbers_and_a_figure(visit, tmp_path):
    visit.explorer.chosen = np.arange(12)
    visit.work()
    path = group_jobs.export((visit.panel.found, visit.panel._sides, str(tmp_path)), silent)
    with zipfile.ZipFile(path) as file:
        members = pd.read_csv(BytesIO(file.read("groups.csv")), dtype=str)
        numbers = json.loads(file.read("comparison.json"))
        assert file.read("groups.png").startswith(b"\x89PNG")
        assert {"hours.csv", "attributes.csv"} <= set(file.namelist())
    assert members["group"].value_counts().to_dict() == {"the rest": 48, "chosen homes": 12}
    assert numbers["p"] == visit.panel.found.p
