"""What a worker makes of every request, and the way back from its files."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_runs import HOSTILE, hostile_dataset

from core.anomalies import Anomalies
from core.errors import InputError
from core.export import Paper, read_provenance
from core.progress import silent
from core.runs import RunConfig, run
from core.runs.anomaly_stage import STAGE, anomaly_digest, pack_anomalies
from core.study.run_report import Remarks
from core.worklist import Worklist
from dashboard.export._import_file import ImportPanel
from dashboard.jobs import SessionFolder
from dashboard.jobs.export_jobs import FOUND, KINDS, MOST_DISTRIBUTIONS, ExportRequest, make_export
from dashboard.jobs.workspace import WorkspacePaths
from dashboard.state import Explorer, ViewState
from dashboard.state.session_file import write_session

CONFIG = RunConfig(bins=20, k=4, neighbors="exact")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def result(dataset):
    return run(dataset, CONFIG)


@pytest.fixture(scope="module")
def paths(dataset, tmp_path_factory):
    return WorkspacePaths(
        str(dataset.path), dataset.digest, str(tmp_path_factory.mktemp("store")), 10**9
    )


@pytest.fixture
def request_of(paths, result, tmp_path):
    """A request as the dialog makes it."""

    def make(kind, suffix=None, *, view=None, **changes):
        row = int(result.hdr.anomalies[0])
        return ExportRequest(
            paths=paths,
            view=ViewState(config=CONFIG, selected=row, **(view or {})),
            kind=kind,
            suffix=suffix or next(iter(KINDS[kind].formats.values())),
            directory=str(tmp_path),
            paper=Paper(width_cm=8, height_cm=6),
            **{"rows": (row,), **changes},
        )

    return make


def test_a_map_keeps_the_colours_of_saved_groups(request_of, result):
    from core.scene.coloring import color_values

    names = pd.Series(["of Smith" if row < 3 else None for row in range(result.n)], dtype="object")
    compared = (("isomap", "exact", CONFIG), ("lle", "exact", CONFIG.change(method="lle")))
    for title, kind in (("Saved groups", "map"), ("Segments", "map"), ("Saved groups", "grid")):
        asked = {
            "view": {"color_by": title},
            "coloring": color_values(title, names, missing_name="in no group"),
            "compared": compared,
        }
        text = Path(make_export(request_of(kind, "svg", **asked), silent)).read_text()
        assert "of Smith" in text
        assert "in no group" in text
        text = Path(
            make_export(request_of(kind, "svg", privacy="hash", **asked), silent)
        ).read_text()
        # Segments are named by what they use, groups by the analyst.
        assert ("of Smith" in text) == (title == "Segments")
        assert ("group 1" in text) != (title == "Segments")
        assert "in no group" in text


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        (kind, suffix)
        for kind, entry in KINDS.items()
        for suffix in entry.formats.values()
        # Others are the same with another pen; the report is made in the browser's tests.
        if kind != "report" and (kind == "map" or suffix not in ("svg", "pdf"))
    ],
)
def test_every_kind_is_made_and_leads_back(request_of, result, kind, suffix, tmp_path):
    compared = (("isomap", "exact", CONFIG), ("lle", "exact", CONFIG.change(method="lle")))
    told = []
    path = Path(
        make_export(
            request_of(kind, suffix, compared=compared, view={"chosen": (1, 2)}),
            lambda fraction, message="": told.append(fraction),
        )
    )
    assert path.parent == tmp_path
    assert path.suffix == f".{suffix}"
    assert path.name.isascii()
    assert told == sorted(told)
    found = read_provenance(path)
    assert found.config == CONFIG
    assert found.view["selected"] == int(result.hdr.anomalies[0])
    if kind == "points" and suffix == "parquet":
        assert np.flatnonzero(pd.read_parquet(path)["selected"]).tolist() == [1, 2]


def test_a_table_of_points_tells_what_is_unusual_and_the_notes(request_of, paths, result):
    dataset, store = paths.open()
    judged = pd.DataFrame(
        {
            "household": result.units["household"].to_numpy()[::-1],
            "rank": np.arange(1, result.n + 1),
            **{name: np.linspace(0.1, 0.9, result.n) for name in FOUND},
            "detector": "meter",
            # A year may be a household's id; it stays a year.
            "reason": f"Reads 0 since 3 May {result.units['household'].iat[0]}",
            "since": "2010-05-03",
        }
    )
    found = Anomalies(judged, {}, pd.DataFrame({"zeros": np.zeros(result.n)}))
    store.put(STAGE, anomaly_digest(dataset, CONFIG), pack_anomalies(found))
    judged = judged.set_index("household")
    label = result.units["label"].iat[2]
    remarks = Remarks(notes={label: "ask Smith"})
    request = request_of("points", "parquet", remarks=remarks)
    table = pd.read_parquet(make_export(request, silent)).set_index("household")
    for column in FOUND:
        expected = judged[column].reindex(table.index)
        pd.testing.assert_series_equal(table[column], expected, check_dtype=False)
    assert table["note"].tolist() == ["ask Smith" if row == 2 else "" for row in range(result.n)]
    path = make_export(replace(request, privacy="hash"), silent)
    hashed = pd.read_parquet(path)
    assert "note" not in hashed
    assert "notes" in read_provenance(path).withheld
    assert hashed["reason"].tolist() == table["reason"].tolist()
    assert hashed["q"].tolist() == table.sort_values("rank")["q"].tolist()


def test_a_map_marks_the_homes_that_the_page_marks(request_of, result):
    isolated = set(result.hdr.anomalies.tolist())
    other = next(row for row in range(result.n) if row not in isolated)
    view = {"layers": ("points", "labels")}
    text = Path(
        make_export(request_of("map", "svg", view=view, marked=(other,)), silent)
    ).read_text()
    assert "unusual homes" in text
    assert "isolated on" not in text
    text = Path(make_export(request_of("map", "svg", view=view), silent)).read_text()
    assert "isolated on" in text
    assert "unusual homes" not in text
    none = request_of("map", "svg", view=view, marked=())
    text = Path(make_export(none, silent)).read_text()
    assert "isolated on" not in text


def test_colours_that_would_identify_are_replaced(request_of):
    path = make_export(
        request_of("map", "html", privacy="hash", view={"color_by": "address"}), silent
    )
    text = Path(path).read_text(encoding="utf-8")
    assert "Secret Lane" not in text
    assert "Coloured by Highest density regions (HDR)" in text
    assert list(read_provenance(path).view) == ["layers"]


def test_a_file_is_not_called_by_an_id_that_it_withholds(request_of, result):
    row = result.units["label"].tolist().index("007")
    kept = make_export(request_of("series", rows=(row,)), silent)
    assert Path(kept).name == "wattfold-series-007.png"
    hidden = make_export(request_of("series", rows=(row,), privacy="drop"), silent)
    assert "007" not in Path(hidden).name


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("demand", {"rows": ()}, "choose or pin one"),
        ("grid", {}, "in Compare first"),
        ("distributions", {"rows": (0,) * (MOST_DISTRIBUTIONS + 1)}, "at most 1,000"),
    ],
)
def test_what_cannot_be_made_is_told(request_of, kind, changes, words):
    with pytest.raises(InputError, match=words):
        make_export(request_of(kind, **changes), silent)


# The way back


@pytest.fixture
def explorer(dataset):
    return Explorer(dataset)


@pytest.fixture
def panel(explorer):
    folder = SessionFolder()
    yield ImportPanel(explorer, folder, done=lambda: None)
    folder.remove()


def drop(panel, content):
    """Drop a file on the panel; return where it was put."""
    path = panel.drop._place() / "anything"
    path.write_bytes(content if isinstance(content, bytes) else Path(content).read_bytes())
    panel._received(path.parent)
    return path


def described(**changes):
    """A file beside a table, which says what the table was made from."""
    return json.dumps({"config": CONFIG.to_json(), **changes}).encode()


def test_a_figure_restores_settings_and_view(request_of, panel, explorer):
    config = CONFIG.change(method="lle", method_parameters={"ridge": 0.02}, k=5)
    view = ViewState(config=config, color_by="=tariff", selected=4, pins=(2, 3))
    path = make_export(replace(request_of("map", "svg"), view=view), silent)
    drop(panel, path)
    assert explorer.config() == config
    explorer.show(run(explorer.dataset, config))
    assert (explorer.selected, explorer.pins, explorer.color_by) == (4, [2, 3], "=tariff")
    assert explorer.restore_problem == ""


def test_a_session_file_restores_the_notes_as_well(dataset, panel, explorer):
    drop(panel, write_session(ViewState(config=CONFIG), {HOSTILE[0]: "note"}, dataset))
    assert explorer.config() == CONFIG
    assert explorer.notes == {}  # until the map of the file is there
    explorer.show(run(dataset, CONFIG))
    assert explorer.notes == {HOSTILE[0]: "note"}


@pytest.mark.parametrize("kind", ["withheld", "other data", "damaged view", "notes"])
def test_nothing_changes_until_what_does_not_fit_is_accepted(
    request_of, dataset, panel, explorer, kind
):
    explorer.notes = {HOSTILE[0]: "mine"}
    before = explorer.param.values()
    content, words = {
        "withheld": lambda: (
            make_export(request_of("map", "png", privacy="hash"), silent),
            "ids of households are keyed hashes",
        ),
        "other data": lambda: (
            described(dataset="other", view={"selected": 5}),
            "made from other data",
        ),
        "damaged view": lambda: (
            described(dataset=dataset.digest, view={"pins": "<b>"}),
            "cannot be read: the view has '<b>'",
        ),
        "notes": lambda: (
            write_session(ViewState(config=CONFIG), {HOSTILE[0]: "theirs"}, dataset),
            "1 of your notes would be replaced",
        ),
    }[kind]()
    drop(panel, content)
    assert words in panel.problems.text
    assert panel.problems.visible
    assert explorer.param.values() == before
    panel.accept.clicks += 1
    assert explorer.config() == CONFIG
    explorer.show(run(dataset, CONFIG))
    assert explorer.notes == {HOSTILE[0]: "theirs" if kind == "notes" else "mine"}
    assert explorer.selected is None  # the first of the list, when that is there


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"unit": "spaceships"}, "spaceships"),
        ({"unit": "slots", "household": "nobody", "distance": "tv"}, "not in this dataset: nobody"),
        ({"households": ["nobody", "007"]}, "not in this dataset: nobody;"),
        ({"k": 10**6}, "k must be"),
    ],
)
def test_what_the_page_cannot_show_is_refused_whole(dataset, panel, explorer, config, words):
    explorer.notes = {HOSTILE[0]: "mine"}
    before = explorer.param.values()
    file = json.loads(write_session(ViewState(config=CONFIG), {HOSTILE[0]: "theirs"}, dataset))
    file["scene"]["config"] |= config
    drop(panel, json.dumps(file).encode())
    assert re.search(words, panel.error.text)
    assert not panel.accept.visible
    assert explorer.param.values() == before


def test_a_file_with_points_that_its_map_does_not_have_changes_nothing(
    dataset, panel, explorer, result
):
    before = explorer.param.values()
    view = ViewState(config=CONFIG, selected=result.n)
    drop(panel, write_session(view, {HOSTILE[0]: "note"}, dataset))
    assert "of a map with" in panel.error.text
    assert explorer.param.values() == before
    explorer.show(result)
    view = ViewState(config=CONFIG, selected=0, names=("somebody",))
    before = explorer.param.values()
    drop(panel, write_session(view, {HOSTILE[0]: "note"}, dataset))
    assert panel.error.text == "somebody is not on this map; nothing was changed"
    assert explorer.param.values() == before


def test_two_worklists_are_merged_without_loss(dataset, panel, explorer):
    for by, verdict in (("Ann", "fault"), ("Bo", "fine")):
        worklist = Worklist(dataset=dataset.digest).flag(HOSTILE[0], verdict, by=by)
        groups = {"ours": (HOSTILE[0], HOSTILE[1] if by == "Ann" else HOSTILE[2])}
        view = ViewState(config=CONFIG)
        drop(panel, write_session(view, {}, dataset, worklist=worklist, groups=groups))
    case = explorer.flagged.worklist.cases()[HOSTILE[0]]
    assert [(flag.by, flag.verdict) for flag in case.flags] == [("Ann", "fault"), ("Bo", "fine")]
    assert case.disputed
    assert list(explorer.groups.groups) == ["ours", "ours (2)"]


def test_a_worklist_of_the_command_line_is_added(dataset, panel, explorer):
    theirs = Worklist(dataset=dataset.digest).flag(HOSTILE[1], "EV", by="Cy")
    drop(panel, json.dumps(theirs.to_json()).encode())
    assert explorer.flagged.verdict_of(HOSTILE[1]) == "EV"
    drop(panel, json.dumps(Worklist(theirs.flags, "0" * 64).to_json()).encode())
    assert "different datasets" in panel.error.text
    drop(panel, b'{"format": "wattfold worklist", "version": 1, "flags": 3}')
    assert "damaged" in panel.error.text


def test_a_session_with_the_worklist_of_other_data_is_refused(dataset, panel, explorer):
    file = json.loads(write_session(ViewState(config=CONFIG), {}, dataset))
    file["worklist"]["dataset"] = "0" * 64
    drop(panel, json.dumps(file).encode())
    assert "worklist is damaged" in panel.error.text
    assert explorer.flagged.worklist.flags == frozenset()


def test_a_received_file_is_not_kept(panel):
    path = drop(panel, b"nonsense")
    assert "no file that Wattfold writes" in panel.error.text
    assert not path.parent.exists()
