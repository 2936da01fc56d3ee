import json

import pandas as pd
import pytest

from core.cli import main


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))


def test_json_table_and_figure(demo_path, tmp_path, capsys):
    ids = [f"{each}" for each in _households(demo_path)]
    pd.DataFrame({"household": ids, "group": ["a"] * 20 + ["b"] * 40}).to_csv(
        tmp_path / "groups.csv", index=False
    )
    out, figure = tmp_path / "hours.csv", tmp_path / "groups.png"
    arguments = ["groups", str(demo_path), "--groups", str(tmp_path / "groups.csv")]
    arguments += ["--permutations", "99", "--out", str(out), "--figure", str(figure)]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    [comparison] = result["comparisons"]
    assert [each["households"] for each in comparison["groups"]] == [20, 40]
    assert 0.01 <= comparison["p"] <= 1
    assert len(pd.read_csv(out)) == 48
    assert figure.stat().st_size > 10_000
    assert main(arguments) == 0
    assert "hours that differ most" in capsys.readouterr().out


def test_by_attribute_each_against_the_rest(demo_path, capsys):
    assert main(["groups", str(demo_path), "--by", "region", "--permutations", "19", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["comparisons"]) >= 2
    assert all(each["groups"][1]["name"] == "the rest" for each in result["comparisons"])
    named = [row["attribute"] for row in result["comparisons"][0]["attributes"]]
    assert "tariff" in named
    assert "region" not in named


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--by", "nothing"], "no attribute 'nothing'"),
        (["--by", "tariff", "--against", "nobody"], "no group 'nobody'"),
        (["--by", "region", "--figure", "x.png"], "--figure draws two groups"),
        (["--by", "tariff", "--permutations", "3"], "permutations must be a whole number"),
        ([], "one of the arguments --by --groups is required"),
    ],
)
def test_bad_input_is_said(demo_path, capsys, more, message):
    try:
        status = main(["groups", str(demo_path), *more])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert message in capsys.readouterr().err


def _households(path):
    from core.readings import Dataset

    return Dataset.open(path).households["household"]
