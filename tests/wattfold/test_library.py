"""``import wattfold as wf``, as a Python user meets it."""

import ast
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import core
import core.anomalies
import wattfold as wf
from core.errors import InputError

ROOT = Path(__file__).parents[2]


def test_importing_it_imports_nothing_heavy():
    lines = "import sys, wattfold; print(sorted(set(sys.modules) & {'numpy', 'pandas', 'panel'}))"
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", core.__all__)
def test_it_has_the_public_names_of_core(name):
    assert name in dir(wf)
    assert getattr(wf, name) is getattr(core, name)


def test_it_has_no_other_names():
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = wf.magic


def imports_for_type_checkers(package):
    """The modules of the names that a package imports under their own names."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    return {
        alias.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }


def test_type_checkers_see_every_name_where_it_is():
    """The imports for type checkers are those that are made when a name is used."""
    assert set(core.__all__) == set(core._HOMES)
    for package in (core, core.anomalies):
        homes = {name: f"{package.__name__}.{home}" for name, home in package._HOMES.items()}
        assert imports_for_type_checkers(package) == homes
    for package in (core, wf):
        assert (Path(package.__file__).parent / "py.typed").exists()


@pytest.fixture
def readings(tmp_path):
    """A small file that names no unit."""
    times = pd.date_range("2024-01-01", periods=14 * 48, freq="30min")
    table = pd.DataFrame({"home": "A", "time": times, "kWh": 0.25})
    table.to_csv(tmp_path / "readings.csv", index=False)
    return tmp_path / "readings.csv"


def test_a_file_is_read_and_a_dataset_opened(readings, tmp_path):
    dataset = wf.read(readings, to=tmp_path / "data")
    assert dataset.readings("A")["kwh"].tolist() == [0.25] * 14 * 48
    assert wf.open(tmp_path / "data").digest == dataset.digest


def test_options_and_metadata_are_those_of_ingest(readings, tmp_path):
    (tmp_path / "homes.csv").write_text("household,dwelling\nA,flat\n")
    dataset = wf.read(readings, metadata=tmp_path / "homes.csv", stamp="end")
    assert dataset.readings("A")["time"].iat[0] == pd.Timestamp("2023-12-31 23:30")
    assert dataset.metadata["dwelling"].tolist() == ["flat"]
    with pytest.raises(InputError, match="nothing to ingest"):
        wf.read()


def test_without_a_place_the_dataset_goes_when_the_program_ends(readings):
    lines = "import sys, wattfold as wf; print(wf.read(sys.argv[1]).path)"
    done = subprocess.run(
        [sys.executable, "-c", lines, readings],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert not Path(done.stdout.strip()).exists()


def test_results_are_told_in_a_line(demo_path):
    dataset = wf.open(demo_path)
    result = wf.run(dataset, wf.RunConfig(k=8))
    found = wf.find_anomalies(dataset, resamples=0)
    for each in (dataset, result, result.neighbors, result.embedding, result.hdr, found):
        assert len(repr(each)) < 400
        assert "\n" not in repr(each)
        assert each._repr_html_().count("<table") == 1
    assert "60 profiles" in repr(result)
    assert result.table()["isolation"].tolist() == result.neighbors.distances[:, 7].tolist()


def test_the_default_run_is_that_of_the_page(demo_path):
    dataset = wf.open(demo_path)
    assert wf.run(dataset).config == wf.RunConfig()


def test_a_dataset_that_is_gone_can_still_be_told(readings, tmp_path):
    dataset = wf.read(readings, to=tmp_path / "data")
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    assert "problem: " in repr(dataset)
