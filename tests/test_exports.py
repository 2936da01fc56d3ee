"""What a worker makes of every request, and the way back from its files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export_runs import HOSTILE, hostile_dataset

from core.errors import InputError
from core.export import Paper, read_provenance
from core.progress import silent
from core.runs import RunConfig, run
from dashboard.exports import KINDS, MOST_DISTRIBUTIONS, Request, make_export
from dashboard.restoring import Restoring
from dashboard.scene import Scene
from dashboard.session_file import write_session
from dashboard.state import Explorer

CONFIG = RunConfig(bins=20, k=4, neighbors="exact")


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATTFOLD_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def result(dataset):
    return run(dataset, CONFIG)


@pytest.fixture
def request_of(dataset, result, tmp_path):
    """A request as the dialog makes it."""

    def make(kind, suffix=None, **changes):
        row = int(result.hdr.anomalies[0])
        return Request(
            dataset=str(dataset.path),
            config=CONFIG,
            kind=kind,
            suffix=suffix or next(iter(KINDS[kind].formats.values())),
            directory=str(tmp_path),
            paper=Paper(width_cm=8, height_cm=6),
            **{"rows": (row,), "view": Scene(config=CONFIG, selected=row).to_json(), **changes},
        )

    return make


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
            request_of(kind, suffix, compared=compared, chosen=(1, 2)),
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


def test_colours_that_would_identify_are_replaced(request_of):
    path = make_export(
        request_of("map", "html", privacy="hash", color_by="address", view={"selected": 3}), silent
    )
    text = Path(path).read_text(encoding="utf-8")
    assert "Secret Lane" not in text
    assert "Coloured by HDR" in text
    assert "selected" not in read_provenance(path).view


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
def restoring(dataset):
    explorer = Explorer(dataset)
    return Restoring(explorer, done=lambda: None)


def test_a_figure_restores_settings_and_view(request_of, restoring, result):
    config = CONFIG.change(method="lle", method_parameters={"ridge": 0.02}, k=5)
    view = Scene(config=config, color_by="=tariff", selected=4, pins=(2, 3)).to_json()
    path = make_export(replace(request_of("map", "svg", view=view), config=config), silent)
    assert restoring.restore(Path(path)) == ""
    explorer = restoring.explorer
    assert explorer.config() == config
    explorer.show(run(explorer.dataset, config))
    assert (explorer.selected, explorer.pins, explorer.color_by) == (4, [2, 3], "=tariff")


def test_what_was_withheld_is_said(request_of, restoring):
    path = make_export(request_of("map", "png", privacy="hash"), silent)
    assert "ids of households are keyed hashes" in restoring.restore(Path(path))
    assert restoring.explorer.config() == CONFIG


def test_a_file_of_other_data_gives_its_settings_alone(restoring, tmp_path):
    path = tmp_path / "a.csv.json"
    told = {"config": CONFIG.to_json(), "dataset": "other", "view": {"selected": 5}}
    path.write_text(json.dumps(told))
    assert "made of other data" in restoring.restore(path)
    restoring.explorer.show(run(restoring.explorer.dataset, CONFIG))
    assert restoring.explorer.selected == restoring.explorer.run.hdr.anomalies[0]


def test_a_view_that_was_meddled_with_is_left_out(dataset, restoring, tmp_path):
    path = tmp_path / "a.csv.json"
    told = {"config": CONFIG.to_json(), "dataset": dataset.digest, "view": {"pins": "<b>"}}
    path.write_text(json.dumps(told))
    assert restoring.restore(path) == ""
    assert restoring.explorer.config() == CONFIG


def test_a_session_file_is_opened_as_well(dataset, restoring, tmp_path):
    path = tmp_path / "session.json"
    path.write_bytes(write_session(Scene(config=CONFIG), {HOSTILE[0]: "note"}, dataset))
    assert restoring.restore(path) == ""
    assert restoring.explorer.notes == {HOSTILE[0]: "note"}


def test_a_config_that_this_data_cannot_have_is_refused(restoring, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"config": {"version": 1, "unit": "spaceships"}}))
    with pytest.raises(InputError, match="spaceships"):
        restoring.restore(path)


def test_a_received_file_is_not_kept(restoring):
    place = restoring._place("anything")
    place.write_bytes(b"nonsense")
    restoring._received(place)
    assert "no file that Wattfold writes" in restoring.error.text
    assert not place.parent.exists()
