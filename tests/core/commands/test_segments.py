import json

import pandas as pd

from core.cli import main


def test_segments_are_groups_to_compare(demo_path, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "segments.csv"
    assert main(["segments", str(demo_path), "--out", str(out), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    table = pd.read_csv(out)
    assert len(table) == result["n"]
    assert sum(each["households"] for each in result["segments"]) + result["between"] == result["n"]
    assert main(["segments", str(demo_path), "--detail", "-1"]) == 0
    assert "kWh a day  segment" in capsys.readouterr().out
    arguments = ["groups", str(demo_path), "--groups", str(out), "--permutations", "19", "--json"]
    assert main(arguments) == 0
    compared = json.loads(capsys.readouterr().out)["comparisons"]
    assert {each["groups"][0]["name"] for each in compared} >= {
        each["name"] for each in result["segments"]
    }


def test_bad_detail(demo_path, capsys):
    assert main(["segments", str(demo_path), "--detail", "99"]) == 2
    assert "detail must be a whole number from -10 to 10" in capsys.readouterr().err
