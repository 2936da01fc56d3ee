"""Segments in the drawer: found by a worker, coloured, chosen, forgotten with other homes."""

import numpy as np
import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns

from core.readings import Dataset
from core.runs import RunConfig, Store, run
from core.scene.coloring import HDR
from core.segments import find_segments
from dashboard.explore import MapView
from dashboard.jobs import SessionPool
from dashboard.jobs.workspace import Workspace
from dashboard.segments import SegmentsTab
from dashboard.segments._segment_names import label_places, wrapped
from dashboard.segments.segments_tab import told
from dashboard.state import Explorer
from dashboard.state.group_selection import SEGMENT, GroupSelection
from dashboard.state.map_colors import SEGMENTS

pytestmark = [  # of the widgets, and of Bokeh's tables
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


@pytest.fixture(scope="module")
def result(dataset):
    return run(dataset, RunConfig())


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def segments(dataset):
    return find_segments(dataset)


class Visit:
    """A page with a map, and its segments."""

    def __init__(self, dataset, store, result):
        self.jobs, self.turns = HeldJobs(), PageTurns()
        self.workspace = Workspace(dataset, store, SessionPool(self.jobs, self.turns))
        self.explorer = Explorer(dataset)
        self.selection = GroupSelection(self.explorer)
        self.tab = SegmentsTab(
            self.workspace,
            self.explorer,
            MapView(self.explorer),
            choose=self.selection.choose,
        )
        self.explorer.show(result)

    def work(self):
        """Let the page ask, workers answer, and the page show it."""
        self.turns.run()
        self.jobs.work()
        self.turns.run()


@pytest.fixture
def visit(dataset, store, result):
    return Visit(dataset, store, result)


def test_segments_are_found_listed_named_and_coloured(visit, segments):
    visit.tab.show()
    visit.tab.go.clicks += 1
    assert visit.tab.cancel.visible
    visit.work()
    explorer, tab = visit.explorer, visit.tab
    assert explorer.color_by == SEGMENTS
    assert tab._table.value["name"].tolist() == list(segments.names)
    sizes = [len(own) for own in segments.groups().values()]
    assert tab._table.value["homes"].tolist() == sizes
    assert tab.sentence.text == told(segments)
    coloring = explorer.coloring()
    counts = dict(zip(coloring.names, coloring.counts.tolist(), strict=True))
    assert {name: counts[name] for name in segments.names} == dict(
        zip(segments.names, sizes, strict=True)
    )
    assert tab.names.names.data["segment"] == [wrapped(name) for name in segments.names]
    assert "segment" in explorer.table(np.arange(3)).columns


def test_the_colour_alone_finds_them_and_cancel_stops_that(visit):
    visit.explorer.color_by = SEGMENTS
    assert set(visit.explorer.coloring().texts(np.arange(60))) == {"not found yet"}
    visit.turns.run()
    (job,) = visit.jobs.jobs
    visit.tab.cancel.clicks += 1
    assert job.state == "cancelled"
    assert visit.tab.sentence.text == "Not looked for."


def test_a_segment_is_chosen_as_a_group(visit, segments):
    visit.tab.find()
    visit.work()
    visit.tab._go(1)
    assert set(visit.selection.homes) == set(segments.groups()[segments.names[1]])
    assert visit.selection.title == segments.names[1]
    assert visit.selection.attribute == ""
    assert SEGMENT in visit.selection.kinds()
    before = visit.explorer.chosen
    visit.tab._go(99)  # row numbers come from the browser
    assert visit.explorer.chosen is before


def test_the_slider_asks_for_coarser_and_finer(visit, dataset):
    visit.tab.find()
    visit.work()
    visit.tab.detail.value = 1
    visit.tab.find()
    visit.work()
    finer = find_segments(dataset, detail=1)
    assert visit.tab._table.value["name"].tolist() == list(finer.names)
    assert set(visit.explorer.labels[SEGMENTS].values()) == set(finer.names)


def test_segments_of_other_homes_are_forgotten(visit, dataset, result):
    visit.tab.find()
    visit.work()
    visit.explorer.color_by = HDR
    some = tuple(result.units["household"][:30])
    other = run(dataset, RunConfig(k=7))
    visit.explorer.show(other)
    assert SEGMENTS in visit.explorer.labels  # the same homes and weeks on another map
    visit.explorer.show(run(dataset, RunConfig(households=some, k=7)))
    assert SEGMENTS not in visit.explorer.labels
    assert visit.tab.found is None
    assert visit.tab.go.visible


def test_too_few_homes_and_half_hours_are_said(visit, dataset, result):
    home = result.units["household"].iat[0]
    visit.explorer.show(run(dataset, RunConfig(unit="slots", household=home)))
    visit.tab.find()
    assert "a point of this map is a half-hour" in visit.tab.sentence.text
    assert visit.jobs.jobs == []
    assert SEGMENTS not in visit.explorer.param.color_by.objects


def test_names_keep_apart_where_their_homes_allow_it():
    rng = np.random.default_rng(1)
    cloud = rng.normal(size=(200, 2))
    places = label_places([cloud, cloud])
    assert places[0] == pytest.approx(np.median(cloud, axis=0))
    assert np.linalg.norm(places[1] - places[0]) > 0.15 * np.ptp(cloud, axis=0).max()
    assert label_places([np.zeros((1, 2)), np.zeros((1, 2))]).tolist() == [[0, 0], [0, 0]]
    assert label_places([]).shape == (0, 2)


def test_long_names_are_broken_after_commas():
    assert wrapped("low, much at night, level days") == "low, much at night,\nlevel days"
    assert wrapped("medium") == "medium"
