"""How a dataset was read, as `info` tells it."""

import json
from pathlib import Path

import pytest

from core.cli import main
from core.readings import IngestOptions, ingest
from core.readings.accounts import accounts_text, dataset_accounts, decisions

SAMPLES = Path(__file__).parents[3] / "data" / "samples"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("power.csv", {"unit": "kW (the column's name", "values": "demand by interval"}),
        ("register.csv", {"values": "a running register, differenced (the values only rise)"}),
        ("days-clock.csv", {"times mark": "the end of their interval (the values begin at"}),
        ("preamble.csv", {"unit": "Wh (the row below the header)"}),
        ("units-in-cells.csv", {"unit": "kWh (written in the cells)"}),
        ("lcl.csv", {"times mark": "the start of their interval (the format)"}),
    ],
)
def test_every_decision_is_kept_with_its_reason(name, told, tmp_path, capsys):
    dataset = ingest([SAMPLES / name], tmp_path / "d")
    found = decisions(dataset_accounts(dataset))
    for what, words in told.items():
        assert found[what].startswith(words)
        assert f"{what:<13} {words}" in accounts_text(dataset_accounts(dataset))
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert {"unit", "unit_because", "cumulative", "cumulative_because", "stamp", "stamp_because",
            "median_daily_kwh", "source_format", "options"} <= manifest.keys()  # fmt: skip
    assert main(["info", str(tmp_path / "d"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["unit_because"] == manifest["unit_because"]


def test_what_the_user_said_is_told_as_said(tmp_path):
    options = IngestOptions(energy_unit="MWh", stamp="end", ignore_columns=("Flat 1", "Flat 2"))
    dataset = ingest([SAMPLES / "wide.csv"], tmp_path / "d", options=options)
    found = decisions(dataset_accounts(dataset))
    assert found["unit"] == "MWh (said by the user)"
    assert found["times mark"] == "the end of their interval (said by the user)"
    assert "which no home uses: check the unit" in found["a day"]
    assert "ignore columns Flat 1, Flat 2" in found["chosen"]
