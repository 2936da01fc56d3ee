"""The Compare tab without a browser: what is asked for, what comes in, what is said of it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from held_jobs import HeldJobs
from page_turns import PageTurns
from scipy.spatial import procrustes

from core.anomalies import Anomalies
from core.embedding import METHODS as EMBEDDINGS
from core.embedding import align
from core.errors import InputError
from core.neighbors import BACKENDS
from core.quality import MEASURES
from core.readings import Dataset
from core.runs import RunConfig, Store, run
from core.study.study_tables import run_seconds
from dashboard.compare import CompareTab, Comparison
from dashboard.compare._consensus_table import both, consensus_table, in_words, shade_counts
from dashboard.compare._neighbor_graphs import graph_runs
from dashboard.compare._parameter_sweep import read_values
from dashboard.compare._quality_view import best_in_bold, scores
from dashboard.compare._small_maps import CONSENSUS, FIRST_HDR
from dashboard.jobs import SessionPool, run_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer
from dashboard.state.unusual_homes import UnusualHomes

# Bokeh calls pandas in a way that pandas no longer likes.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")

METHODS = ["isomap", "laplacian"]
SEARCHES = ["exact", "kdtree"]
K = 6


class Workers(HeldJobs):
    """Computes runs."""

    def work(self, jobs=None):
        run_jobs._runner.cache_clear()  # tests have stores of their own
        super().work(jobs)

    @property
    def configs(self):
        return [RunConfig.from_json(job.argument[1]) for job in self.jobs]


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A store that keeps what any of the tests has computed."""
    return Store(tmp_path_factory.mktemp("stored"))


@pytest.fixture
def turns():
    return PageTurns()


@pytest.fixture
def workers():
    return Workers()


@pytest.fixture
def workspace(dataset, stored, workers, turns):
    return Workspace(dataset, stored, SessionPool(workers, turns))


@pytest.fixture(scope="module")
def explored(dataset):
    return run(dataset, RunConfig(k=K))


@pytest.fixture
def explorer(dataset, explored):
    explorer = Explorer(dataset, k=K)
    explorer.show(explored)
    return explorer


@pytest.fixture
def comparison(workspace, explorer):
    comparison = Comparison(workspace, explorer)
    comparison.param.update(methods=METHODS, searches=SEARCHES)
    settle(comparison)
    return comparison


@pytest.fixture
def full(comparison, workers):
    """A comparison whose maps are all there."""
    comparison.start()
    workers.work()
    settle(comparison)
    return comparison


def settle(comparison):
    """Wait until nothing is looked for any more."""
    comparison.workspace.pool.schedule.run_until(lambda: not comparison.looking)


def states(comparison):
    return [each.state for each in comparison.maps]


# What is asked for


def test_the_papers_six_by_three_is_the_default(workspace, explorer):
    comparison = Comparison(workspace, explorer)
    assert len(comparison.methods) == 6
    assert comparison.searches == ["exact", "kdtree", "annoy"]
    comparison.arrange()
    assert len(comparison.maps) == 18
    settings = [dict(each.config.neighbors_parameters) for each in comparison.maps[::6]]
    assert settings[1]["epsilon"] == 1.0
    assert (settings[2]["n_trees"], settings[2]["search_k"]) == (50, 50)
    for each in comparison.maps:
        same = explorer.config().change(
            **{name: getattr(each.config, name) for name in ("method", "neighbors")},
            method_parameters=each.config.method_parameters,
            neighbors_parameters=each.config.neighbors_parameters,
            quality=True,
        )
        assert each.config == same


def test_nothing_is_computed_before_it_is_asked_for(workspace, explorer, workers, tmp_path):
    comparison = Comparison(replace(workspace, store=Store(tmp_path)), explorer)
    comparison.param.update(methods=METHODS, searches=SEARCHES)
    settle(comparison)
    assert workers.jobs == []
    assert states(comparison) == ["absent"] * 4
    assert comparison.runs == []


def test_maps_come_in_as_they_are_computed(comparison, workers, turns):
    comparison.explorer.k = K + 1  # which nothing is stored of
    comparison.arrange()
    settle(comparison)
    comparison.start()
    assert workers.configs == [each.config for each in comparison.maps]
    workers.work(workers.jobs[:1])
    workers.change(workers.jobs[1], state="running", fraction=0.25, message="Drawing the map")
    turns.run_until(lambda: comparison.runs)
    assert states(comparison) == ["done", "running", "queued", "queued"]
    assert (comparison.maps[1].message, comparison.maps[1].fraction) == (
        "Drawing the map",
        0.25,
    )
    assert comparison.busy
    workers.jobs[1].state = "queued"
    workers.work()
    settle(comparison)
    assert states(comparison) == ["done"] * 4
    assert not comparison.busy


def test_the_maps_are_those_of_runs_by_themselves(dataset, full):
    for each in full.maps:
        alone = run(dataset, each.config)
        np.testing.assert_array_equal(each.run.y, alone.y)
        np.testing.assert_array_equal(each.run.hdr.rank, alone.hdr.rank)
        np.testing.assert_array_equal(each.run.neighbors.indices, alone.neighbors.indices[:, :K])
        assert each.run.neighbors.backend == each.config.neighbors
        assert each.run.quality == alone.quality
        assert each.run.recall == alone.recall


def test_what_maps_have_in_common_is_kept_once(full):
    first, *others = full.runs
    assert all(other.units is first.units for other in others)
    exact = [run for run in full.runs if run.config.neighbors == "exact"]
    assert exact[0].neighbors.indices is exact[1].neighbors.indices


def test_stored_maps_are_found_without_a_worker(workspace, explorer, full, workers):
    workers.jobs.clear()
    again = Comparison(workspace, explorer)
    again.param.update(methods=METHODS, searches=SEARCHES)
    settle(again)
    assert states(again) == ["done"] * 4
    assert workers.jobs == []


def test_other_methods_keep_what_is_there_and_the_order_of_the_choices(full, workers):
    before = {each.config: each for each in full.maps}
    full.methods = ["lle", "laplacian", "isomap"]
    assert full.grid.plan.methods == ("isomap", "lle", "laplacian")
    assert [before.get(each.config) for each in full.maps if each.config in before] == [
        each for each in full.maps if each.config in before
    ]
    settle(full)
    assert sorted(states(full)) == ["absent", "absent", *["done"] * 4]
    full.methods = ["isomap"]
    assert states(full) == ["done", "done"]


def test_no_method_is_said_and_leaves_the_maps(full):
    full.methods = []
    assert "at least one method" in full.error
    assert len(full.runs) == 4
    full.methods = METHODS
    assert full.error == ""


# What goes wrong


def test_one_failure_says_why_and_the_others_go_on(comparison, workers):
    comparison.explorer.k = K + 2
    comparison.arrange()
    settle(comparison)
    comparison.start()
    workers.change(workers.jobs[1], error="out of luck", state="failed")
    workers.work()
    settle(comparison)
    assert states(comparison) == ["done", "failed", "done", "done"]
    assert comparison.maps[1].message == "out of luck"
    assert comparison.missing == [comparison.maps[1]]
    comparison.start()
    assert len(workers.jobs) == 5
    workers.work()
    settle(comparison)
    assert states(comparison) == ["done"] * 4


def test_a_search_that_cannot_measure_the_distance_says_so(comparison):
    comparison.explorer.distance = "js"
    comparison.arrange()
    settle(comparison)
    assert len(comparison.maps) == 2
    assert "cannot be searched by neighbors 'kdtree'" in comparison.grid.why_not("isomap", "kdtree")
    assert comparison.grid.why_not("isomap", "exact") == ""
    assert comparison.grid.map_of("isomap", "kdtree") is None


def test_what_the_store_does_not_keep_is_not_made_again(comparison, workers):
    comparison.explorer.k = K + 3
    comparison.param.update(methods=["laplacian"], searches=["exact"])
    comparison.arrange()
    settle(comparison)
    comparison.start()
    workers.change(workers.jobs[-1], state="done")  # and nothing was stored
    settle(comparison)
    assert states(comparison) == ["failed"]
    assert "WATTFOLD_CACHE_SIZE" in comparison.maps[0].message


def test_cancel_stops_what_is_not_done(comparison, workers, turns):
    comparison.explorer.k = K + 4
    comparison.arrange()
    settle(comparison)
    comparison.start()
    workers.work(workers.jobs[:1])
    turns.run_until(lambda: comparison.runs)
    comparison.cancel()
    assert not comparison.busy
    assert states(comparison) == ["done", "absent", "absent", "absent"]
    assert [job.state for job in workers.jobs] == ["done", *["cancelled"] * 3]


def test_maps_that_are_no_longer_wanted_are_not_made(comparison, workers):
    comparison.explorer.k = K + 5
    comparison.arrange()
    settle(comparison)
    comparison.start()
    comparison.methods = ["isomap"]
    cancelled = [
        config.method
        for config, job in zip(workers.configs, workers.jobs, strict=True)
        if job.state == "cancelled"
    ]
    assert cancelled == ["laplacian", "laplacian"]


# Explore and its choices


def test_other_choices_of_explore_make_the_maps_outdated(full):
    assert not full.outdated
    full.explorer.param.update(method="umap", neighbors="annoy")
    assert not full.outdated
    full.explorer.rank_by = "surprise"
    assert full.outdated
    assert len(full.runs) == 4
    full.arrange()
    assert not full.outdated
    assert full.runs == []


def test_one_selection_is_shared(full, explorer):
    assert full.selected == explorer.selected
    explorer.selected = 11
    assert full.selected == 11
    full.select(23)
    assert explorer.selected == 23
    full.select(10**6)
    assert explorer.selected == 23


def test_points_are_found_by_name_where_explore_has_others(dataset, full, explorer):
    labels = full.first.units["label"].tolist()
    fewer = run(dataset, RunConfig(households=tuple(labels[10:40]), k=K))
    explorer.show(fewer)
    explorer.selected = 3
    assert labels[full.selected] == explorer.label(3)
    full.select(12)
    assert explorer.label(explorer.selected) == labels[12]
    # One that Explore does not have is still selected here.
    full.select(2)
    assert full.selected == 2
    assert explorer.label(explorer.selected) == labels[12]


def test_a_map_opens_in_explore(full, explorer):
    each = full.maps[3]
    full.open(each)
    assert explorer.config() == each.config.change(quality=False)
    assert not full.outdated


# Sweeps


def test_a_sweep_adds_maps_to_the_table_and_shares_those_of_the_grid(full, workers):
    workers.jobs.clear()
    full.sweep("isomap", "kdtree", "epsilon", [0.0, 1.0, 4.0])
    # ε = 1 is in the grid.
    assert [config.neighbors_parameters["epsilon"] for config in workers.configs] == [0.0, 4.0]
    workers.work()
    settle(full)
    table = scores(full)
    assert len(table) == 6
    assert table["trustworthiness"].notna().all()
    assert table["neighbours by"].tolist()[-2:] == ["k-d tree (ε = 0)", "k-d tree (ε = 4)"]
    assert len(full.runs) == 4
    assert full.consensus().runs == 4


def test_a_sweep_that_cannot_be_changes_nothing(full):
    with pytest.raises(InputError, match="epsilon must be"):
        full.sweep("isomap", "kdtree", "epsilon", [1.0, -1.0])
    assert full.sweeps == []


@pytest.mark.parametrize(
    ("text", "values"), [("0, 0.5,2", [0.0, 0.5, 2.0]), ("2 1;1", [1.0, 2.0]), ("3", [3.0])]
)
def test_values_are_read(text, values):
    epsilon = BACKENDS["kdtree"].parameters[0]
    assert read_values(text, epsilon) == values


@pytest.mark.parametrize("text", ["", "a", "1, -2", "nan", ",".join(map(str, range(13)))])
def test_values_that_are_none_are_refused(text):
    with pytest.raises(InputError):
        read_values(text, BACKENDS["kdtree"].parameters[0])


# What is said


def test_scores_are_those_of_the_runs(full):
    table = scores(full)
    for each, (_, row) in zip(
        sorted(full.maps, key=lambda each: each.config.method), table.iterrows(), strict=True
    ):
        assert row["recall"] == each.run.recall
        assert row["seconds"] == run_seconds(each.run)
        assert row[list(MEASURES)].tolist() == list(each.run.quality.measures().values())
        _, _, disparity = procrustes(full.first.y, each.run.y)
        assert row["likeness"] == pytest.approx(1 - disparity)


def test_the_best_is_bold_as_it_reads():
    trust = pd.Series([0.9001, 0.9004, 0.8, np.nan], name="trustworthiness")
    bold = "font-weight: 700"
    assert best_in_bold(trust) == [bold, bold, "", ""]
    assert best_in_bold(pd.Series([3.0, 1.0], name="seconds")) == ["", bold]
    assert best_in_bold(pd.Series([1.0, 1.0], name="recall")) == ["", ""]
    assert best_in_bold(pd.Series(["a", "b"], name="method")) == ["", ""]


def test_the_consensus_counts_maps_by_method(full):
    consensus, first = full.consensus(), full.first
    titles = [entry.title for name, entry in EMBEDDINGS.items() if name in METHODS]
    table = consensus_table(consensus, first, None, [*titles, "t-SNE"]).set_index("label")
    assert (table["t-SNE"] == 0).all()
    tops = [set(run.units["label"].iloc[run.hdr.anomalies]) for run in full.runs]
    assert set(table.index) == set().union(*tops)
    for label, row in table.iterrows():
        assert row["runs"] == sum(label in top for top in tops)
        isomap = [
            top for top, run in zip(tops, full.runs, strict=True) if run.config.method == "isomap"
        ]
        assert row["ISOMAP"] == sum(label in top for top in isomap)
        assert first.units["label"].iat[int(row["row"])] == label
    assert f"{len(table)} points" in in_words(consensus, first)


def test_unusual_homes_come_first_with_their_detector(full):
    consensus, first = full.consensus(), full.first
    homes = first.units["household"].tolist()
    far = int(np.setdiff1d(np.arange(first.n), consensus.points)[0])
    near = int(consensus.points[-1])
    judged = pd.DataFrame({"household": [homes[near], homes[far]], "detector": ["meter", "level"]})
    for name in ("reason", "kwh_per_week", "since", "q"):
        judged[name] = 0
    unusual = UnusualHomes.of(
        first, Anomalies(judged, dict.fromkeys(judged["household"]), pd.DataFrame())
    )
    table = consensus_table(consensus, first, unusual)
    assert table["row"].tolist()[:2] == [near, far]
    assert table["found by"].tolist()[:3] == ["meter", "level", ""]
    assert sorted(table["row"]) == sorted({*consensus.points, far})
    assert both(consensus, unusual).startswith(
        "Of 2 homes that the detectors call unusual, 1 are among the top 10 of any map"
    )
    assert both(consensus, None) == ""


def test_counts_are_shaded_by_their_share():
    looks = shade_counts(pd.Series([0, 1, 2], name="ISOMAP"), {"ISOMAP": 2})
    assert looks[0] == "opacity: 0.45"
    assert looks[1].endswith(f"{0.45 / 2:.2f})")
    assert looks[2].endswith("0.45)")
    assert shade_counts(pd.Series(["x"], name="label"), {"ISOMAP": 2}) == [""]


def test_one_graph_is_shown_for_each_search(full):
    runs = graph_runs(full)
    assert list(runs) == ["exact", "kdtree"]
    assert all(run.neighbors.indices.shape[1] == K for run in runs.values())


# The tab


@pytest.fixture
def tab(workspace, explorer):
    opened = []
    tab = CompareTab(workspace, explorer, explore=lambda: opened.append(True))
    tab.opened = opened
    tab.comparison.param.update(methods=METHODS, searches=SEARCHES)
    return tab


def show(tab):
    """Open the tab and wait until there is nothing more to come."""
    tab.show()

    def is_complete():
        below = tab._outdated and tab.comparison.runs
        return not (tab.comparison.looking or below) and tab.grid.settled

    tab.comparison.workspace.pool.schedule.run_until(is_complete)


def test_the_tab_tells_the_cost_before_anything_is_computed(tab, workers):
    from core.neighbors.cost import machine

    machine()
    tab.explorer.k = K + 6
    show(tab)
    assert "4 maps to compute, 60 points each: about" in tab.status.text
    assert tab.run.visible
    assert not tab.cancel.visible
    assert {card.state for card in tab.grid.maps.values()} == {"absent"}
    assert workers.jobs == []
    tab.run.clicks += 1
    assert tab.cancel.visible
    assert not tab.run.visible
    tab.cancel.clicks += 1
    assert tab.run.visible


def test_the_tab_shows_maps_with_their_figures(tab, full):
    show(tab)
    cards = list(tab.grid.maps.items())
    assert [card.state for _, card in cards] == ["drawn"] * 4
    # Both searches find the same neighbours: their maps are the same, and shown once.
    hint, exact, _, *others = tab.grid.panel.objects
    assert "shown once" in hint.text
    assert exact.text == "Exact, k-d tree (ε = 1)"
    assert [part.visible for part in (hint, exact, *others)] == [True, True, False, False]
    for each, card in cards:
        figures = {what: value for what, value, *_ in card.figures}
        assert figures["T"] == f"{each.run.quality.trustworthiness:.3f}".removeprefix("0")
        assert figures["R"] == ("1" if each.run.recall == 1 else f"{each.run.recall:.3f}"[1:])
        rows = np.frombuffer(card.rows, np.int32)
        assert sorted(rows) == list(range(60))
        assert rows[-1] == each.run.hdr.anomalies[0]
        places = np.frombuffer(card.places, np.float32).reshape(-1, 2)
        assert places.min() >= 0
        assert places.max() == pytest.approx(1)
        assert list(card.names) == each.run.units["label"].iloc[rows].tolist()
    assert not tab.run.visible
    assert tab.table.widget is not None
    assert tab.consensus.widget is not None


def test_maps_lie_like_the_first(tab, full):
    show(tab)
    first, *others = list(tab.grid.places.values())
    np.testing.assert_array_equal(first.scene.points, first.run.y)
    for places in others:
        # Nothing is gained by turning it further.
        np.testing.assert_allclose(
            align(places.scene.points, first.scene.points).rotation, np.eye(2), atol=1e-9
        )
        own, turned = places.run.y, places.scene.points
        np.testing.assert_allclose(
            np.linalg.norm(own - own.mean(axis=0), axis=1),
            np.linalg.norm(turned - turned.mean(axis=0), axis=1),
        )


def test_a_tap_selects_on_all_maps_and_on_explore(tab, full):
    show(tab)
    each, card = list(tab.grid.maps.items())[1]
    rows = np.frombuffer(card.rows, np.int32)
    places = np.frombuffer(card.places, np.float32).reshape(-1, 2)
    row = int(rows[30])
    x, y = map(float, places[30])
    tab.grid._tapped(each, x, y, 0.001)
    assert tab.explorer.selected == row
    marked = {key: rings for key, rings, _ in tab.grid.links.marks}
    assert set(marked) == {card.key for card in tab.grid.maps.values()}
    np.testing.assert_allclose(marked[card.key][-1][:2], [x, y], atol=1e-6)
    label = tab.explorer.label(row)
    assert tab.selection.text.startswith(f"{label} is selected")
    tab.grid._tapped(each, -5.0, -5.0, 0.01)
    assert tab.explorer.selected == row


@pytest.mark.parametrize("message", [{"tap": ["a", 1, 1]}, {"tap": [float("nan"), 0, 1]}, "x", {}])
def test_what_a_browser_cannot_rightly_say_is_ignored(tab, full, message):
    show(tab)
    before = tab.explorer.selected
    card = next(iter(tab.grid.maps.values()))
    card._handle_msg(message)
    assert tab.explorer.selected == before


def test_the_heading_opens_the_map(tab, full):
    show(tab)
    each, card = list(tab.grid.maps.items())[1]
    assert card.opens
    card._handle_msg({"open": True})
    assert tab.opened == [True]
    assert tab.explorer.config() == each.config.change(quality=False)


def test_colours_are_shared_or_own(tab, full):
    show(tab)

    def codes(card):
        order = np.argsort(np.frombuffer(card.rows, np.int32))
        return np.frombuffer(card.codes, np.uint8)[order]

    for each, card in tab.grid.maps.items():
        np.testing.assert_array_equal(codes(card), each.run.hdr.level)
    tab.grid.color_by = FIRST_HDR
    show(tab)
    for card in tab.grid.maps.values():
        np.testing.assert_array_equal(codes(card), full.first.hdr.level)
    tab.grid.color_by = CONSENSUS
    show(tab)
    for card in tab.grid.maps.values():
        np.testing.assert_array_equal(codes(card), full.consensus().count)
    tab.grid.hidden = ["none"]
    show(tab)
    assert sorted(np.frombuffer(card.rows, np.int32)) == sorted(full.consensus().points)
    tab.grid.color_by = FIRST_HDR
    assert tab.grid.hidden == []
    tab.grid.color_by = CONSENSUS
    tab.explorer.chosen = np.array([1, 2, 3])
    show(tab)
    dimmed = codes(next(iter(tab.grid.maps.values()))) == 5
    assert np.flatnonzero(~dimmed).tolist() == [1, 2, 3]


def test_the_tab_keeps_its_maps_when_explore_goes_on(tab, full, turns):
    show(tab)
    tab.explorer.k = K + 7
    turns.run()
    assert tab.renew.visible
    assert "show the previous ones" in tab.status.text
    assert len(tab.comparison.runs) == 4
    tab.renew.clicks += 1
    show(tab)
    assert not tab.renew.visible
    assert tab.comparison.runs == []


def test_the_tab_follows_explore_while_there_is_nothing_to_lose(tab, turns):
    tab.explorer.k = K + 8
    show(tab)
    tab.explorer.k = K + 9
    turns.run()
    assert tab.comparison.grid.plan.config.k == K + 9


def test_refused_and_failed_maps_say_why(tab, full):
    show(tab)
    tab.explorer.distance = "js"
    tab.comparison.arrange()
    messages = [card.message for row in tab.grid.panel.objects[2::2] for card in row.objects]
    assert sum("cannot be searched" in message for message in messages) == 2


def test_the_form_asks_for_a_sweep_or_says_what_is_wrong(tab, full, workers):
    show(tab)
    workers.jobs.clear()
    form = tab.sweep
    form.parameter.value = ("annoy", "n_trees")
    assert form.values.value == "5, 10, 20, 50, 100"
    form.values.value = "1, many"
    form.add.clicks += 1
    assert "n_trees must be a whole number" in form.error.text
    assert form.error.visible
    assert workers.jobs == []
    form.values.value = "2, 9"
    form.method.value = "laplacian"
    form.add.clicks += 1
    assert not form.error.visible
    assert [config.neighbors_parameters["n_trees"] for config in workers.configs] == [2, 9]
    workers.work()
    show(tab)
    assert tab.table.widget.value["neighbours by"].tolist()[-2:] == ["Annoy (2/50)", "Annoy (9/50)"]
    points = tab.plot._points.data
    assert len(points["seconds"]) == 6
    assert [len(line) for line in tab.plot._lines.data["xs"]] == [2]
    tab.plot.key.hidden = ["Laplacian eigenmaps"]
    assert set(tab.plot._points.data["method"]) == {"ISOMAP"}
    assert tab.plot._lines.data["xs"] == []
