"""Segments in the drawer: found by a worker, coloured, chosen, forgotten with other homes."""

import numpy as np
import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns

from core.runs import RunConfig, Store, run
from core.scene.coloring import HDR
from core.segments import find_segments
from dashboard.explore import MapView
from dashboard.jobs import SessionPool
from dashboard.jobs.workspace import Workspace
from dashboard.segments import SegmentsTab
from dashboard.segments._segment_names import label_places, text_size, wrapped
from dashboard.segments.segments_tab import told
from dashboard.state import Explorer
from dashboard.state.group_selection import SEGMENT, GroupSelection
from dashboard.state.map_colors import SEGMENTS

pytestmark = [  # of the widgets, and of Bokeh's tables
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]


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
    drawn = tab.names.names.data["segment"]
    assert drawn
    assert set(drawn) <= {wrapped(name) for name in segments.names}
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


def test_names_of_parts_show_when_zoomed_in_and_stay_when_panned(visit, segments):
    visit.tab.find()
    visit.work()
    names, view = visit.tab.names.names, visit.tab.names._map_view
    coarse = [name.replace("\n", " ") for name in names.data["segment"]]
    assert set(coarse) <= set(segments.names)
    view.streams.size.event(width=3000, height=3000)
    wide = np.ptp(view.streams.view.x)
    view.streams.ranges.event(x_range=(0.0, wide / 4), y_range=(0.0, wide / 4))
    visit.turns.run()
    fine = [name.replace("\n", " ") for name in names.data["segment"]]
    parts = {part for own in segments.parts.values() for part in own}
    assert set(fine) <= parts
    assert len(fine) > len(coarse)
    before = names.data
    view.streams.ranges.event(x_range=(1.0, 1 + wide / 4), y_range=(1.0, 1 + wide / 4))
    visit.turns.run()
    assert names.data is before
    visit.explorer.hidden = [segments.names[0]]
    visit.turns.run()
    assert not {name.replace("\n", " ") for name in names.data["segment"]} & set(
        segments.parts[segments.names[0]]
    )


def test_names_do_not_cover_each_other():
    rng = np.random.default_rng(1)
    cloud = 100 * rng.normal(size=(200, 2))
    sizes = [text_size(name) for name in ("low", "high,\nmuch at night", "medium")]
    no_marks = np.empty((0, 2))
    places = label_places([cloud, cloud, cloud], sizes, marks=no_marks)
    assert places[0] == pytest.approx(np.median(cloud, axis=0))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        apart = np.abs(places[one] - places[other])
        assert (apart >= (sizes[one] + sizes[other]) / 2).any()
    crowded = label_places([np.zeros((1, 2)), np.zeros((1, 2))], sizes[:2], marks=no_marks)
    assert np.isnan(crowded).tolist() == [[False, False], [True, True]]
    assert label_places([], [], marks=no_marks).shape == (0, 2)
    (beside,) = label_places([cloud], sizes[:1], marks=places[:1])
    assert (np.abs(beside - places[0]) > sizes[0] / 2).any()


def test_long_names_are_broken_after_commas():
    assert wrapped("low, much at night, level days") == "low, much at night,\nlevel days"
    assert wrapped("medium") == "medium"
