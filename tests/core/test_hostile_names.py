"""Hostile ids pass from the readings to the last table and figure as the text they are."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from hostile_names import COLUMN, HTML, NAMES, hostile_readings, ingest_hostile

from core.cli import main
from core.cube import build_cube
from core.readings import Dataset, ingest
from core.runs import RunConfig, Store, run


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return ingest_hostile(tmp_path_factory.mktemp("names"), days=21)


@pytest.fixture(scope="module")
def result(dataset, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"))
    run(dataset, RunConfig(k=5), store=store)
    return run(dataset, RunConfig(k=5), store=store)  # as it comes back from the disk


def test_ids_come_in_as_they_are(dataset):
    assert set(NAMES) <= set(dataset.households["household"])
    assert len(dataset.households) == 24  # no two of them became one
    readings = hostile_readings(days=21)
    for name in NAMES:
        expected = readings.loc[readings["household"] == name, "kwh"].to_numpy()
        np.testing.assert_array_equal(dataset.readings(name)["kwh"].to_numpy(), expected)
    assert set(dataset.metadata[COLUMN]) == {HTML, "flat"}


def test_they_come_in_as_columns_of_a_wide_table_and_of_parquet_too(tmp_path):
    readings = hostile_readings(days=3)
    wide = readings.pivot(index="time", columns="household", values="kwh").reset_index()
    wide.to_csv(tmp_path / "wide.csv", index=False)
    readings.to_parquet(tmp_path / "long.parquet")
    for name in ("wide.csv", "long.parquet"):
        dataset = ingest([tmp_path / name], tmp_path / f"{name}.d")
        assert set(NAMES) <= set(dataset.households["household"])


def test_a_column_of_nothing_but_signs_is_a_household(tmp_path):
    signs = ["🏠", "<>", "../", "=()"]
    rows = [f"2020-01-01 {hour:02d}:00,{','.join('1234')}" for hour in range(24)]
    text = "\n".join([",".join(["time", *signs]), *rows])
    (tmp_path / "wide.csv").write_text(text, encoding="utf-8")
    dataset = ingest([tmp_path / "wide.csv"], tmp_path / "dataset")
    assert set(dataset.households["household"]) == set(signs)


def test_they_come_through_counts_run_and_store(dataset, result):
    assert build_cube(dataset, bins=10).counts.shape[0] == 24
    assert set(NAMES) <= set(result.units["label"])
    assert set(NAMES) <= set(result.table()["household"])
    for name in NAMES:
        config = RunConfig(unit="slots", household=name, k=5, minimum_sample=1)
        again = run(dataset, config)
        assert set(again.units["household"]) == {name}


def test_they_come_through_the_url(result, dataset):
    for name in NAMES:
        config = RunConfig(unit="slots", household=name)
        assert RunConfig.from_json(json.loads(json.dumps(config.to_json()))) == config


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_they_come_through_tables_harmlessly(dataset, tmp_path, monkeypatch, suffix):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    out = tmp_path / f"points.{suffix}"
    assert main(["embed", str(dataset.path), "--k", "5", "--out", str(out)]) == 0
    if suffix == "parquet":
        assert set(NAMES) <= set(pd.read_parquet(out)["household"])
        return
    with out.open(encoding="utf-8", newline="") as file:
        found = {
            row["household"] for row in csv.DictReader(line for line in file if line[0] != "#")
        }
    for name in NAMES:
        # What a spreadsheet would compute is marked as text.
        assert name in found or f"'{name}" in found
    assert not any(name.startswith(("=", "+", "@")) for name in found)


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_they_come_through_figures(dataset, tmp_path, monkeypatch, suffix):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    figure = tmp_path / f"map.{suffix}"
    embed = ["embed", str(dataset.path), "--k", "5", "--n-anomalies", "24"]
    assert main([*embed, "--figure", str(figure)]) == 0
    assert 1000 < figure.stat().st_size < 5_000_000
    if suffix == "svg":
        text = figure.read_text(encoding="utf-8")
        assert "<img" not in text
        assert "<script" not in text


def test_the_command_line_names_them(dataset, capsys):
    assert main(["info", str(dataset.path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["households"] == 24
    assert Dataset.open(dataset.path).code(HTML) >= 0
