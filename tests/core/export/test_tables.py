"""Tables that leave Wattfold: what is in them, and that they come back the same."""

import csv
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from export_runs import HOSTILE, hostile_dataset, parquet_description

from core.cube import build_cube
from core.errors import InputError
from core.export import Provenance
from core.export.run_tables import distribution_table, edge_table, point_table
from core.export.table_files import defuse, read_csv, write_frame, write_zip
from core.runs import RunConfig, run
from core.slots import slot_of


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return hostile_dataset(tmp_path_factory.mktemp("hostile") / "data")


@pytest.fixture(scope="module")
def result(dataset):
    return run(dataset, RunConfig(bins=20, k=4, neighbors="exact"))


def test_points_have_all_columns_and_a_flag(result):
    table = point_table(result, chosen=[2, 5])
    assert np.flatnonzero(table["selected"]).tolist() == [2, 5]
    expected = result.table()
    pd.testing.assert_frame_equal(table.drop(columns="selected"), expected)
    assert {"=tariff", "address", "rooms", "density", "hdr", "rank", "y1", "y2"} <= {*table}


def test_by_rank_the_most_anomalous_comes_first(result):
    table = point_table(result, chosen=[2], by_rank=True)
    assert table["rank"].tolist() == list(range(1, result.n + 1))
    assert table["selected"].to_numpy()[result.hdr.rank[2] - 1]


@pytest.mark.parametrize("packed", [False, True])
def test_a_csv_comes_back_as_it_was(result, tmp_path, packed):
    table = point_table(result, chosen=[0]).assign(
        text=["'=x", "=x", "''", "+1", "-1.5", "\tx", "\n=x", "", None, "＝x", "nan", 'a"b']
    )
    told = Provenance.of(result).to_json()
    if packed:
        write_zip(table, tmp_path / "points.zip", told)
        with zipfile.ZipFile(tmp_path / "points.zip") as archive:
            assert sorted(archive.namelist()) == ["points.csv", "points.csv.json"]
            archive.extractall(tmp_path)
    else:
        write_frame(table, tmp_path / "points.csv", told)
    expected = table.assign(text=table["text"].replace("", None)).astype({"text": "str"})
    pd.testing.assert_frame_equal(read_csv(tmp_path / "points.csv"), expected, check_exact=True)


def test_no_cell_of_a_csv_starts_a_formula(result, tmp_path):
    write_frame(point_table(result), tmp_path / "points.csv", {})
    with (tmp_path / "points.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    started = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    # Only numbers.
    assert [float(cell) for cell in started]
    assert "'=tariff" in cells
    assert "'-5+3" in cells


def test_numbers_are_not_defused():
    table = pd.DataFrame({"x": [-1.5, np.nan], "text": ["-2", "-2 "], "b": [True, False]})
    pd.testing.assert_frame_equal(defuse(table), table)


def test_a_csv_without_its_description_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match=r"a\.csv\.json"):
        read_csv(tmp_path / "a.csv")


def test_parquet_keeps_types_and_tells_where_it_comes_from(result, tmp_path):
    table = point_table(result, chosen=[1])
    told = Provenance.of(result).to_json()
    write_frame(table, tmp_path / "points.parquet", told)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "points.parquet"), table)
    assert json.loads(parquet_description(tmp_path / "points.parquet")) == told
    assert [path.name for path in tmp_path.iterdir()] == ["points.parquet"]


@pytest.mark.parametrize("by_rank", [False, True])
def test_edges_are_the_graph(result, by_rank):
    table = edge_table(result, by_rank=by_rank)
    labels = result.units["label"]
    found = {
        (row.point, row.neighbor): (row.nearest, row.distance)
        for row in table.itertuples(index=False)
    }
    expected = {
        (labels[i], labels[j]): (place + 1, distance)
        for i in range(result.n)
        for place, (j, distance) in enumerate(
            zip(result.neighbors.indices[i], result.neighbors.distances[i], strict=True)
        )
    }
    assert found == expected
    assert (table["point"].iat[0] == labels[result.hdr.anomalies[0]]) or not by_rank


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(bins=20, k=4),
        RunConfig(bins=20, k=4, unit="households", slots="weekend"),
        RunConfig(bins=20, k=4, unit="slots", household=HOSTILE[0], window=2, minimum_sample=1),
        RunConfig(
            bins=20,
            k=4,
            unit="household-slots",
            slots="Mon",
            households=HOSTILE[:3],
            minimum_sample=1,
        ),
    ],
)
def test_distributions_count_the_readings_behind_points(dataset, config):
    result = run(dataset, config)
    cube = build_cube(dataset, bins=20)
    rows = [0, result.n // 2]
    table = distribution_table(result, dataset, cube, rows)
    assert set(table["label"]) == set(result.units["label"].iloc[rows])
    for row in rows:
        unit = result.units.iloc[row]
        own = table[table["label"] == unit["label"]]
        readings = dataset.readings(unit["household"])
        slots = slot_of(readings["time"].to_numpy(), 30)
        bins = np.searchsorted(cube.edges, readings["kwh"].to_numpy(), side="left") + 1
        blocks = [None]
        if config.unit == "profiles":
            blocks = list(range(336))
        elif "slot" in unit:
            blocks = [unit["slot"]]
        for block in blocks:
            if block is None:
                counted = bins[slots >= 5 * 48]
                part = own
            else:
                apart = (slots - block + 168) % 336 - 168
                counted = bins[np.abs(apart) <= config.window]
                part = own[own["slot"] == block]
            found, counts = np.unique(counted, return_counts=True)
            assert part["bin"].tolist() == found.tolist()
            assert part["readings"].tolist() == counts.tolist()
            np.testing.assert_allclose(part["share"].sum(), 1)
    edges = np.array([-np.inf, *cube.edges, np.inf])
    np.testing.assert_array_equal(table["above_kwh"], edges[table["bin"] - 1])
    np.testing.assert_array_equal(table["up_to_kwh"], edges[table["bin"]])


def test_no_points_have_no_distributions(dataset, result):
    table = distribution_table(result, dataset, build_cube(dataset, bins=20), [])
    assert table.empty
    assert "share" in table
