"""``wattfold embed``, ``cache`` and the cube part of ``info`` as people and machines meet them."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.cli import main
from core.commands._run_flags import _owners
from core.demo import make_demo
from core.embedding import METHODS
from core.export.table_files import defuse
from core.neighbors import BACKENDS
from core.quality import MEASURES
from core.runs import RunConfig, command_line, run

KEYS = {
    "n", "n_bins", "unit", "distance", "neighbors", "method", "components",
    "intrinsic_dimension", "recall", "quality",
    "quality_intervals", "anomalies", "typical", "seconds", "cached", "peak_memory_mb", "left_out",
    "notices", "config", "period",
}  # fmt: skip
QUICK = ("--neighbors", "exact", "--k", "5", "--bins", "20")
ROW_KEYS = {"label", "density", "hdr", "rank"}
LEVELS = {"1", "20", "40", "60", "80", "99", ">99"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A small demo dataset."""
    return make_demo(tmp_path_factory.mktemp("demo") / "data", households=30, days=28)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def wattfold(capsys):
    """Run the command; return status, standard output and standard error."""

    def run_command(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        output = capsys.readouterr()
        return status, output.out, output.err

    return run_command


@pytest.mark.parametrize(
    ("arguments", "unit", "distance", "n"),
    [
        ((), "profiles", "tv", 30),
        (("--unit", "slots", "--household", "1001", "--window", "3"), "slots", "hellinger", 336),
        (("--unit", "households"), "households", "hellinger", 30),
        (
            ("--unit", "household-slots", "--window", "3", "--slots", "Mon18:00-20:00,Tue"),
            "household-slots",
            "hellinger",
            30 * 52,
        ),
    ],
)
def test_json_of_every_unit(wattfold, demo, arguments, unit, distance, n):
    status, out, err = wattfold("embed", demo.path, *QUICK, *arguments, "--quality", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert set(result) == KEYS
    assert (result["unit"], result["distance"], result["n"]) == (unit, distance, n)
    assert result["neighbors"] == {"backend": "exact", "k": 5}
    assert (result["method"], result["recall"]) == ("isomap", 1.0)
    assert result["components"] >= 1
    assert 2 <= result["n_bins"] <= 20
    assert tuple(result["quality"]) == MEASURES
    assert all(-1 <= value <= 1 for value in result["quality"].values())
    assert [row["rank"] for row in result["anomalies"]] == list(range(1, 11))
    keys = ROW_KEYS | ({"surprise"} if unit in ("slots", "household-slots") else set())
    assert all(set(row) == keys for row in result["anomalies"])
    assert {row["hdr"] for row in result["anomalies"]} <= LEVELS
    densities = [row["density"] for row in result["anomalies"]]
    assert densities == sorted(densities)
    assert len(result["typical"]) == -(-n // 100)
    assert list(result["seconds"]) == [
        "cube", "vectors", "neighbors", "embedding", "quality", "density",
    ]  # fmt: skip
    assert result["peak_memory_mb"] > 50
    again = json.loads(wattfold("embed", demo.path, *QUICK, *arguments, "--quality", "--json")[1])
    assert again["cached"] == list(result["seconds"])
    assert set(again["seconds"].values()) == {0.0}
    for key in KEYS - {"seconds", "cached", "peak_memory_mb"}:
        assert again[key] == result[key]


def test_defaults_are_those_of_the_config(wattfold, demo):
    status, out, err = wattfold("embed", demo.path, "--json")
    assert status == 0, err
    result = json.loads(out)
    assert RunConfig.from_json(result["config"]) == RunConfig()
    assert result["neighbors"]["backend"] in BACKENDS
    assert result["quality"] is None


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_out_is_the_run(wattfold, demo, tmp_path, suffix):
    out = tmp_path / f"map.{suffix}"
    households = ",".join(demo.households["household"][:12])
    arguments = (*QUICK, "--method", "lle", "--ridge", "0.01", "--households", households)
    status, text, err = wattfold("embed", demo.path, *arguments, "--out", out, "--json")
    assert status == 0, err
    result = json.loads(text)
    assert result["out"] == str(out)
    asked = RunConfig.from_json(result["config"])
    expected = run(demo, asked).table()
    if suffix == "parquet":
        found = pd.read_parquet(out)
        kept = json.loads(pq.read_schema(out).metadata[b"wattfold"])
        pd.testing.assert_frame_equal(found, expected)
    else:
        found = pd.read_csv(out, dtype={"label": str, "household": str, "hdr": str})
        kept = json.loads((tmp_path / "map.csv.json").read_text())
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert RunConfig.from_json(kept["config"]) == asked
    assert kept["dataset"] == demo.digest
    assert asked.method_parameters["ridge"] == 0.01
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_drawn(wattfold, demo, tmp_path, suffix):
    figure = tmp_path / f"map.{suffix}"
    status, _, err = wattfold("embed", demo.path, *QUICK, "--figure", figure)
    assert status == 0, err
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert figure.read_bytes().startswith(start)
    if suffix == "png":
        from matplotlib.image import imread

        pixels = imread(figure)
        assert min(pixels.shape[:2]) > 300
        assert np.ptp(pixels[..., :3]) == 1.0


def test_a_line_is_drawn_too(wattfold, demo, tmp_path):
    status, _, err = wattfold(
        "embed", demo.path, *QUICK, "--dim", "1", "--figure", tmp_path / "a.png"
    )
    assert status == 0, err
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_words_for_people(wattfold, demo):
    status, out, _ = wattfold("embed", demo.path, *QUICK, "--quality", "--n-anomalies", "3")
    assert status == 0
    assert "30 profiles, tv, 20 bins" in out
    assert "5 each by exact" in out
    assert "trustworthiness" in out
    assert out.count("99") >= 1
    rows = out[out.index("rank  anomaly") :].splitlines()[1:4]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert all(row.split()[1] in set(demo.households["household"]) for row in rows)
    assert "by number of axes" not in out
    solid = wattfold("embed", demo.path, *QUICK, "--dim", "3")[1]
    assert re.search(r"neighbours kept, by number of axes: 1: \d+%, 2: \d+%, 3: \d+%\n", solid)
    again = wattfold("embed", demo.path, *QUICK, "--quality", "--n-anomalies", "3")[1]
    assert "stored before: cube, vectors, neighbors, embedding, quality, density" in again


def test_the_command_of_a_run_repeats_it(wattfold, demo):
    asked = RunConfig(
        households=tuple(demo.households["household"][3:15]),
        slots="weekdays",
        bins=20,
        neighbors="exact",
        k=4,
        method="tsne",
        method_parameters={"perplexity": 3.5, "iterations": 50},
        quality=True,
    )
    words = shlex.split(command_line(asked, demo.path))
    assert words[0] == "wattfold"
    status, out, err = wattfold(*words[1:], "--json")
    assert status == 0, err
    assert RunConfig.from_json(json.loads(out)["config"]) == asked


def test_every_parameter_of_the_registries_is_a_flag(wattfold):
    status, out, _ = wattfold("embed", "--help")
    assert status == 0
    for registry in (BACKENDS, METHODS):
        for entry in registry.values():
            for parameter in entry.parameters:
                assert parameter.flag in out
    # One flag can stand for several parameters only if they take the same kind of value.
    for owners in _owners().values():
        assert len({parameter.kind for _, _, parameter in owners}) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--k", "0"), "k must be a whole number from 1 to 1000, got 0"),
        (("--k", "many"), "--k"),
        (("--bins", "1"), "bins must be"),
        (("--unit", "streets"), "--unit"),
        (("--unit", "slots"), "unit slots shows one household"),
        (("--household", "1001"), "household '1001' is given"),
        (("--unit", "slots", "--household", "nobody"), "no household 'nobody'"),
        (("--households", "1001,nobody"), "no household 'nobody'"),
        (("--households", "@nowhere.txt"), "nowhere.txt cannot be read"),
        (("--households", ","), "names no household"),
        (("--slots", "Montag"), "Montag"),
        (("--perplexity", "5"), "--perplexity belongs to --method tsne"),
        (("--method", "tsne", "--perplexity", "0"), "perplexity must be"),
        (("--method", "tsne", "--landmarks", "5"), "--landmarks belongs to --method isomap"),
        (("--window", "400"), "window must be a whole number from 0 to 167"),
        (("--unit", "households", "--window", "1"), "take no window"),
        (("--minimum-sample", "100000"), "none of 30 profiles can be shown"),
        (("--out", "map.xlsx"), "map.xlsx must end in .parquet or .csv"),
        (("--out", "nowhere/map.csv"), "no directory nowhere"),
        (("--figure", "map.jpg"), "map.jpg must end in .png, .svg or .pdf"),
        (("--method", "hessian", "--dim", "5"), "Hessian"),
    ],
)
def test_what_is_wrong_is_one_line(wattfold, demo, arguments, words):
    status, out, err = wattfold("embed", demo.path, *QUICK[:2], *arguments)
    assert status == 2, err
    assert out == ""
    assert err.count("\n") == 1
    assert words in err
    assert "Traceback" not in err


def test_js_with_another_backend_says_who_can(wattfold, demo):
    for name in BACKENDS:
        if "js" not in BACKENDS[name].distances:
            status, _, err = wattfold("embed", demo.path, "--distance", "js", "--neighbors", name)
            assert status == 2
            assert "exact" in err


def test_cells_that_start_a_formula_are_defused():
    table = pd.DataFrame(
        {
            "label": ["=1+1", "+x", "-x", "@x", "\tx", "plain", "-5", "+1.5e3"],
            "y1": [-1.0, -2.0, 3.0, np.nan, 0.0, 0.0, 0.0, 0.0],
            "=evil": [None, "=a", "b", "-", "", "c", "d", "e"],
            "when": pd.Timestamp("2020-01-01"),
        }
    )
    safe = defuse(table)
    assert safe["label"].tolist() == [
        "'=1+1", "'+x", "'-x", "'@x", "'\tx", "plain", "-5", "+1.5e3",
    ]  # fmt: skip
    pd.testing.assert_series_equal(safe["y1"], table["y1"])
    assert safe["'=evil"].tolist()[1:] == ["'=a", "b", "'-", "", "c", "d", "e"]
    assert pd.isna(safe["'=evil"][0])
    assert table.columns[2] == "=evil"


def test_cache_info_and_clear(wattfold, demo, tmp_path):
    status, out, _ = wattfold("cache", "info", "--json")
    assert status == 0
    assert json.loads(out)["entries"] == 0
    wattfold("embed", demo.path, *QUICK)
    found = json.loads(wattfold("cache", "info", "--json")[1])
    assert found["path"] == str(tmp_path / "cache")
    assert {"points", "vectors", "neighbors", "embedding", "density"} <= set(found["stages"])
    assert found["bytes"] == sum(stage["bytes"] for stage in found["stages"].values()) > 0
    assert f"{found['entries']} results" in wattfold("cache", "info")[1]
    assert json.loads(wattfold("cache", "clear", "--json")[1])["entries"] == found["entries"]
    assert json.loads(wattfold("cache", "info", "--json")[1])["entries"] == 0
    result = json.loads(wattfold("embed", demo.path, *QUICK, "--json")[1])
    assert result["cached"] == ["cube"]


def test_a_bad_limit_is_one_line(wattfold, monkeypatch):
    monkeypatch.setenv("WATTFOLD_CACHE_SIZE", "much")
    status, _, err = wattfold("cache", "info")
    assert status == 2
    assert "cannot read 'much' as a size" in err


def test_info_tells_of_the_cube(wattfold, demo):
    cube = json.loads(wattfold("info", demo.path, "--json")[1])["cube"]
    assert (cube["bins"], cube["households"], cube["slots"]) == (100, 30, 336)
    m = cube["sample_size"]
    assert 0 <= m["min"] <= m["median"] <= m["max"] == 4
    assert f"{m['min']} to 4 readings, median 4" in wattfold("info", demo.path)[1]
