"""Maps of more than two dimensions: pairs of axes, the tour, and what further axes keep."""

import numpy as np
import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns

from core.density import neighbors_kept
from core.readings import Dataset
from core.runs import RunConfig, Store, run
from dashboard.explore import DimensionTour, MapView
from dashboard.explore.run_controller import dimension_notice
from dashboard.jobs import SessionPool
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer

CONFIG = RunConfig(dim=4)


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


@pytest.fixture(scope="module")
def result(dataset):
    return run(dataset, CONFIG)


class Visit:
    """A page with a map of four dimensions."""

    def __init__(self, dataset, store, result):
        self.turns = PageTurns()
        workspace = Workspace(dataset, store, SessionPool(HeldJobs(), self.turns))
        self.explorer = Explorer(dataset)
        self.map = MapView(self.explorer)
        self.tour = DimensionTour(workspace, self.explorer, self.map)
        self.explorer.show(result)


@pytest.fixture
def visit(dataset, result, tmp_path):
    return Visit(dataset, Store(tmp_path), result)


def test_a_pair_of_axes_is_what_the_map_shows(visit, result):
    tour, explorer = visit.tour, visit.explorer
    assert tour.player.visible
    explorer.layers = [*explorer.layers, "contours"]
    assert explorer.map_scene().contours
    explorer.chosen = np.arange(5)
    tour._told({"axes": "axes 2 and 4"})
    centred = result.y - result.y.mean(axis=0)
    np.testing.assert_allclose(explorer.places, centred[:, [1, 3]])
    np.testing.assert_allclose(visit.map.scene.points, centred[:, [1, 3]])
    assert explorer.map_scene().contours == ()  # they belong to the main plane
    assert explorer.chosen.tolist() == list(range(5))
    tour._told({"axes": "main plane"})
    assert explorer.plane is None
    assert explorer.map_scene().contours


def test_where_a_tour_is_paused_the_map_stays(visit, result):
    tour, explorer = visit.tour, visit.explorer
    before = explorer.selected
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 2)))[0]
    tour._told({"basis": basis.tolist()})
    assert tour.player.chosen == "from the tour"
    centred = result.y - result.y.mean(axis=0)
    np.testing.assert_allclose(explorer.places, centred @ basis)
    assert explorer.selected == before


@pytest.mark.parametrize(
    "message", [None, 3, [], {}, {"basis": "x"}, {"basis": [[1, 0]]}, {"axes": ["x"]}, {"tour": 1}]
)
def test_what_no_page_sends_changes_nothing(visit, message):
    visit.tour._told(message)
    assert visit.explorer.plane is None
    assert not visit.tour.player.is_open


def test_the_tour_says_what_every_further_axis_keeps(visit, result):
    visit.turns.run_until(lambda: visit.tour.player.note)
    kept = neighbors_kept(result.y[:, :2], result.neighbors.indices[:, : CONFIG.k]).mean()
    assert f"2: {100 * kept:.0f} %" in visit.tour.player.note
    assert visit.tour.player.note.count("%") == 4


def test_a_plain_map_has_no_tour_and_a_new_one_starts_at_its_main_plane(visit, dataset):
    visit.tour._told({"axes": "axes 2 and 4"})
    flat = run(dataset, RunConfig())
    visit.explorer.show(flat)
    assert not visit.tour.player.visible
    assert visit.explorer.plane is None
    np.testing.assert_array_equal(visit.explorer.places, flat.y)


def test_the_notes_of_the_map_tell_its_dimension(result):
    (text,) = dimension_notice(result, "households")
    assert f"about {result.dimension.value:.0f} dimensions (TWO-NN" in text
    assert "this map has 4" in text
