import json

import pandas as pd
import pytest

from core.cli import main
from core.readings import Dataset
from core.runs import RunConfig, Store, anomaly_stage
from core.runs.anomaly_stage import keep_anomalies


@pytest.fixture(scope="module")
def told(demo_path, tmp_path_factory):
    """Return what the command says as JSON, and the table that it writes."""
    out = tmp_path_factory.mktemp("out") / "anomalies.csv"
    arguments = ["anomalies", str(demo_path), "--top", "7", "--resamples", "2", "--out", str(out)]
    return arguments, out


def test_json_and_table(told, capsys):
    arguments, out = told
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n"] == 60
    assert [row["rank"] for row in result["anomalies"]] == list(range(1, 8))
    assert 0 <= result["expected_false"] <= 7
    assert result["seconds"]["anomalies"] > 0
    table = pd.read_csv(out, dtype={"household": str})
    assert len(table) == 60
    assert table["household"].head(7).tolist() == [r["household"] for r in result["anomalies"]]
    assert {"reason", "since", "kwh_per_week", "stability", "dwelling"} <= set(table.columns)


def test_people_read_reasons(told, capsys):
    assert main(told[0]) == 0
    text = capsys.readouterr().out
    assert "rank  household" in text
    assert text.count("\n") >= 10


def test_half_hours(demo_path, capsys):
    assert main(["anomalies", str(demo_path), "--unit", "household-slots", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["n"] == 60 * 336
    assert {"slot", "reason"} <= set(result["anomalies"][0])
    assert main(["anomalies", str(demo_path), "--unit", "household-slots", "--top", "3"]) == 0
    assert capsys.readouterr().out.startswith("half-hours    20,160, the first 3 below")


def test_what_the_page_has_found_is_read(demo_path, cache, monkeypatch, capsys):
    config, dataset = RunConfig(), Dataset.open(demo_path)
    kept = keep_anomalies(dataset, config, Store(cache))
    monkeypatch.setattr(anomaly_stage, "find_anomalies", None)
    assert main(["anomalies", str(demo_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["anomalies"]
    assert [row["household"] for row in told] == kept.table["household"].head(20).tolist()
