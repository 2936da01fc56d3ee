"""Views: the same picture again, from a link, a file or by undo."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import tokens
from core.errors import InputError
from core.readings import Dataset
from core.runs import RunConfig, run
from dashboard.state import Explorer, Step, UndoHistory, ViewState
from dashboard.state.session_file import is_session, read_session, write_session
from dashboard.state.view_state import rows_to_runs, runs_to_rows


@pytest.fixture(scope="module")
def dataset(demo_path):
    return Dataset.open(demo_path)


@pytest.fixture(scope="module")
def results(dataset):
    return {config: run(dataset, config) for config in (RunConfig(), RunConfig(unit="households"))}


@pytest.fixture
def explorer(dataset, results):
    explorer = Explorer(dataset)
    explorer.show(results[RunConfig()])
    return explorer


def look_around(explorer):
    explorer.param.update(
        selected=3,
        pins=[1, 2],
        chosen=np.array([0, 1, 2, 5, 8, 9]),
        color_by="Mean demand",
        layers=["points", "contours"],
        safe_colors=True,
        ranges=(-1.0, 1.0, -2.0, 2.5),
    )


def in_token(content):
    return tokens.pack(content, version=1)


@given(st.lists(st.integers(0, 60)))
def test_runs_stand_for_their_rows(rows):
    runs = rows_to_runs(rows)
    assert runs_to_rows(runs, 61).tolist() == sorted(set(rows))
    assert all(start + length < following for start, length, following in zip(
        runs[::2], runs[1::2], runs[2::2], strict=False
    ))  # fmt: skip
    assert runs_to_rows(runs, 10).tolist() == sorted({row for row in rows if row < 10})


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(),
        RunConfig(unit="slots", household="1003", method="umap", seed=5),
        RunConfig(households=("1001", "1003"), rank_by="surprise"),
    ],
)
def test_a_link_gives_the_scene_back_and_names_nobody(dataset, config):
    view = ViewState(
        config=config,
        color_by="Density",
        hidden=("50 %",),
        layers=("points",),
        selected=7,
        pins=(1, 4),
        chosen=rows_to_runs([2, 3, 9]),
        ranges=(0.0, 1.5, -3.0, 4.0),
    )
    token = view.to_token(dataset)
    again = ViewState.from_token(token, dataset)
    assert again == view
    assert again.ranges == view.ranges
    assert "100" not in json.dumps(tokens.unpack(token, version=1, what="it")["config"])


def test_a_plain_link_is_short(dataset):
    assert len(ViewState(config=RunConfig(), selected=3).to_token(dataset)) < 90


def test_what_is_too_much_for_a_link_is_refused(dataset):
    rows = np.random.default_rng(1).permutation(10**6)[:60_000]
    with pytest.raises(InputError, match="save a session file instead"):
        ViewState(config=RunConfig(), chosen=rows_to_runs(rows)).to_token(dataset)


@pytest.mark.parametrize(
    "change",
    [
        {"config": {"household": 10**6, "unit": "slots"}},
        {"config": {"households": [0, 3, 5]}},
        {"config": {"k": 10**9}},
        {"config": {"version": 2}},
        {"config": None},
        {"selected": -1},
        {"selected": True},
        {"pins": [1, 2, 3, 4, 5]},
        {"chosen": [1]},
        {"chosen": "all"},
        {"ranges": [0, 0, 1, 2]},
        {"ranges": [float("nan"), 1, 0, 1]},
        {"ranges": [0, 1]},
        {"color_by": 3},
        {"hidden": ["x"] * 2000},
        {"layers": {"points": 1}},
        {"data": "another"},
    ],
)
def test_a_link_that_is_not_ours_is_refused(dataset, change):
    good = {"data": dataset.digest[:12], "config": {}}
    assert ViewState.from_token(in_token(good), dataset) == ViewState(config=RunConfig())
    with pytest.raises(InputError):
        ViewState.from_token(in_token(good | change), dataset)


@given(text=st.text(max_size=40))
def test_any_text_is_a_scene_or_an_error(dataset, text):
    for token in (text, f"1-{text}"):
        with pytest.raises(InputError):
            ViewState.from_token(token, dataset)


def test_the_same_picture_in_another_browser(dataset, explorer, results):
    look_around(explorer)
    view = explorer.view_state()
    other = Explorer(dataset)
    other.restore(ViewState.from_token(view.to_token(dataset), dataset))
    assert other.config() == explorer.config()
    assert other.view_state() is None
    other.show(results[RunConfig()])
    assert other.view_state() == view
    assert other.ranges == (-1.0, 1.0, -2.0, 2.5)
    np.testing.assert_array_equal(other.chosen, explorer.chosen)


STATE = ("notes", "color_by", "safe_colors", "layers", "selected", "pins", "hidden", "ranges")


def state_of(explorer):
    return {name: getattr(explorer, name) for name in STATE} | {"config": explorer.config()}


@pytest.mark.parametrize(
    "points",
    [{"selected": 60}, {"pins": (0, 64)}, {"chosen": (59, 2)}, {"chosen": (0, 2**30)}],
)
def test_a_view_of_points_that_cannot_be_is_refused_whole(explorer, points):
    before = state_of(explorer)
    view = ViewState(config=RunConfig(), safe_colors=True, layers=(), **points)
    for config in (RunConfig(), RunConfig(k=7)):
        with pytest.raises(InputError, match="of a map with 60"):
            explorer.restore(replace(view, config=config), notes={"1001": "x"})
        assert state_of(explorer) == before
        assert not explorer.is_restoring


def test_a_view_whose_run_has_no_such_points_changes_nothing(dataset, explorer, results):
    """Only the run tells how many points are left out."""
    before = state_of(explorer)
    config = RunConfig(unit="households")
    run = results[config]
    view = ViewState(config=config, safe_colors=True, selected=run.n - 1)
    explorer.restore(view, notes={"1001": "x"})
    assert explorer.is_restoring
    explorer.show(replace(run, units=run.units.iloc[:-1]))
    assert state_of(explorer) == before
    assert explorer.run.config == RunConfig()
    assert "not restored" in explorer.restore_problem
    # On a page that has no map yet, the default one comes.
    newcomer = Explorer(dataset)
    newcomer.restore(view)
    newcomer.show(replace(run, units=run.units.iloc[:-1]))
    assert newcomer.run is None
    assert newcomer.config() == RunConfig()


def test_a_file_shows_the_households_that_it_names_or_nothing(dataset, explorer, results):
    """Rows of another version may be other points: names tell, and never another household."""
    look_around(explorer)
    content = json.loads(write_session(explorer.view_state(), {}, dataset))
    names = content["scene"]["names"]
    assert names == [explorer.label(row) for row in (3, 1, 2)]
    content["scene"].update(selected=7, pins=[4, 2])
    view = read_session(json.dumps(content).encode(), dataset).view
    for known in (RunConfig(), RunConfig(unit="households")):
        other = Explorer(dataset)
        other.show(results[known])
        other.restore(view)
        if known != RunConfig():
            other.show(results[RunConfig()])
        assert [other.label(row) for row in (other.selected, *other.pins)] == names
    content["scene"]["names"][0] = "somebody else"
    view = read_session(json.dumps(content).encode(), dataset).view
    before = state_of(explorer)
    with pytest.raises(InputError, match="somebody else is not on this map"):
        explorer.restore(view, notes={"1001": "x"})
    assert state_of(explorer) == before


def test_names_that_do_not_match_the_points_are_refused(dataset, explorer):
    content = json.loads(write_session(explorer.view_state(), {}, dataset))
    content["scene"]["names"] = ["1001", "1002"]
    with pytest.raises(InputError, match="names more or fewer points"):
        read_session(json.dumps(content).encode(), dataset)


def test_a_colour_that_a_run_does_not_have_is_named(explorer):
    explorer.restore(ViewState(config=RunConfig(), color_by="no such column"))
    assert explorer.color_by == "HDR"
    assert "no such column" in explorer.restore_problem


def test_undo_and_redo_of_settings_and_selections(explorer, results):
    history = UndoHistory()
    views = []

    def settle():
        if explorer.run.config != explorer.config():
            explorer.show(results[explorer.config()])
        history.add(Step(explorer.view_state()))
        views.append(explorer.view_state())

    settle()
    explorer.selected = 5
    settle()
    explorer.unit = "households"
    assert explorer.view_state() is None
    settle()
    explorer.color_by = "Density"
    settle()
    for view in views[-2::-1]:
        explorer.restore(history.undo().view)
        if explorer.view_state() is None:
            explorer.show(results[explorer.config()])
        assert explorer.view_state() == view
        history.add(Step(explorer.view_state()))
    assert history.undo() is None
    assert not history.can_undo
    for view in views[1:]:
        assert history.can_redo
        assert history.redo() == Step(view)
    assert history.redo() is None
    history.undo()
    explorer.restore(history.undo().view)
    explorer.show(results[explorer.config()])
    explorer.selected = 1
    history.add(Step(explorer.view_state()))
    assert not history.can_redo


def test_notes_belong_to_points_on_any_map(dataset, explorer, results):
    explorer.write_note(3, "  works nights ")
    assert explorer.note_on(3) == "works nights"
    name = explorer.full_name(3)
    explorer.show(results[RunConfig(unit="households")])
    assert explorer.notes == {name: "works nights"}
    explorer.write_note(list(explorer.run.units["label"]).index(name), " ")
    assert explorer.notes == {}


def test_a_session_file_gives_scene_and_notes_back(dataset, explorer):
    look_around(explorer)
    explorer.write_note(3, "holiday home? <b>")
    content = write_session(explorer.view_state(), explorer.notes, dataset)
    assert is_session(content)
    saved = read_session(content, dataset)
    assert saved.view == explorer.view_state()
    assert saved.view.ranges == explorer.ranges
    assert saved.notes == explorer.notes
    assert saved.problem == ""


def test_a_session_file_gives_worklist_and_groups_back(dataset, explorer):
    homes = dataset.households["household"].tolist()
    explorer.flagged.flag(homes[0], "fault", note="meter <b>")
    explorer.groups.save("a few", homes[:3])
    content = write_session(
        explorer.view_state(),
        {},
        dataset,
        worklist=explorer.flagged.worklist,
        groups=explorer.groups.groups,
    )
    saved = read_session(content, dataset)
    assert saved.worklist == explorer.flagged.worklist
    assert saved.groups == {"a few": tuple(homes[:3])}
    old = json.loads(content)
    del old["worklist"], old["groups"]
    assert read_session(json.dumps(old).encode(), dataset).worklist.flags == frozenset()


def test_a_session_of_other_data_keeps_settings_and_notes(dataset, explorer):
    look_around(explorer)
    content = json.loads(write_session(explorer.view_state(), {"1001": "x"}, dataset))
    content["dataset"]["digest"] = "0" * 64
    content["worklist"]["dataset"] = "0" * 64
    saved = read_session(json.dumps(content).encode(), dataset)
    assert saved.view == explorer.view_state().without_points()
    assert saved.view.color_by == "Mean demand"
    assert saved.notes == {"1001": "x"}
    assert "other data" in saved.problem


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"\xff\xfe", b'{"format": "wattfold-session"}', b"[" * 10_000],
)
def test_what_is_no_session_file_is_refused(dataset, content):
    with pytest.raises(InputError, match="not a session file"):
        read_session(content, dataset)


def test_a_damaged_or_later_session_file_is_refused(dataset, explorer):
    content = json.loads(write_session(explorer.view_state(), {}, dataset))
    for change, problem in (
        ({"version": 2}, "version 2"),
        ({"notes": []}, "notes are damaged"),
        ({"scene": {"config": {"version": 1, "k": -3}}}, "k must be"),
        ({"scene": 5}, "described by a JSON object"),
        ({"worklist": {"format": "other"}}, "worklist is damaged: it is no worklist"),
        ({"groups": {"a": "1001"}}, "groups are damaged"),
    ):
        with pytest.raises(InputError, match=problem):
            read_session(json.dumps(content | change).encode(), dataset)
