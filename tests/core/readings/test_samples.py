"""Every reading of the samples whose values follow a formula (data/README.md)."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from test_ingestion import assert_accounts

from core.readings import IngestOptions, ingest

SAMPLES = Path(__file__).parents[3] / "data" / "samples"
START = datetime(2024, 3, 4)
BOTH = {"A1": 0, "B2": 1}


def kwh(household: int, half_hour: int) -> float:
    return round(0.15 + (17 * half_hour + 29 * household) % 41 * 0.06, 3)


def expected(household: int, without: tuple[int, ...] = (), count: int = 144) -> dict:
    return {
        START + timedelta(minutes=30 * k): kwh(household, k)
        for k in range(count)
        if k not in without
    }


def found(dataset, household: str) -> dict:
    readings = dataset.readings(household)
    return dict(zip(readings.time.dt.to_pydatetime(), readings.kwh, strict=True))


# The households of each sample, what it says of its unit, and the end that its times mark.
WHOLE = {
    "days.csv": (BOTH, "kWh", "start"),
    "days-clock.csv": ({"days-clock": 0}, "kWh", "end"),
    "across.csv": (BOTH, "kWh", "start"),
    "workbook.xlsx": (BOTH, "kWh", "start"),
    "utf16.txt": (BOTH, "kWh", "start"),
    "epoch.csv": (BOTH, "kWh", "start"),
    "preamble.csv": (BOTH, "Wh", "start"),
    "start-end.csv": ({"start-end": 0}, "kWh", "start"),
    "from-to.csv": ({"from-to": 0}, "kWh", "start"),
    "units-in-cells.csv": (BOTH, "kWh", "start"),
    "thousands.csv": (BOTH, "Wh", "start"),
    "import-export.csv": (BOTH, "kWh", "start"),
    "settlement-periods.csv": (BOTH, "kWh", "start"),
    "power.csv": (BOTH, "kW", "start"),
    "offsets.csv": (BOTH, "kWh", "start"),
    "us-dates.csv": (BOTH, "kWh", "start"),
    "spaces.txt": (BOTH, "kWh", "start"),
    "records.json": (BOTH, "kWh", "start"),
    "one-file-each": (BOTH, "kWh", "start"),
    "one-file-each.zip": (BOTH, "kWh", "start"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_reading_is_right(name, tmp_path):
    households, unit, stamp = WHOLE[name]
    dataset = ingest([SAMPLES / name], tmp_path / "d")
    assert_accounts(dataset)
    assert list(dataset.households.household) == sorted(households)
    assert (dataset.manifest["unit"], dataset.manifest["stamp"]) == (unit, stamp)
    for household, number in households.items():
        assert found(dataset, household) == pytest.approx(expected(number), abs=1e-9)


def test_values_in_kwh_and_wh_come_out_as_written(tmp_path):
    """870 Wh is 0.87 kWh to the last bit, as a file in kWh would have it."""
    for name in ("preamble.csv", "thousands.csv", "units-in-cells.csv"):
        dataset = ingest([SAMPLES / name], tmp_path / name)
        assert found(dataset, "A1") == expected(0)


def test_quarter_hours_without_a_header(tmp_path):
    dataset = ingest([SAMPLES / "days-quarters.csv"], tmp_path / "d")
    assert dataset.interval_minutes == 15
    assert dataset.readings("B2").kwh.tolist() == [round(kwh(1, k) / 4, 4) for k in range(288)]


def test_hours_of_a_day(tmp_path):
    dataset = ingest([SAMPLES / "days-hours.csv"], tmp_path / "d")
    assert dataset.interval_minutes == 60
    readings = dataset.readings("B2")
    assert readings.kwh.tolist() == [kwh(1, k) for k in range(144)]
    assert readings.time.tolist() == [START + timedelta(hours=k) for k in range(144)]


def test_a_register_is_differenced_but_for_gaps_and_resets(tmp_path):
    dataset = ingest([SAMPLES / "register.csv"], tmp_path / "d")
    assert dataset.manifest["cumulative"]
    health = dataset.health
    assert health["rejected_by_reason"] == {"register before a gap": 3, "register reset": 1}
    # Before the gap, before the exchange, and at the end there is no difference.
    assert found(dataset, "A1") == pytest.approx(expected(0, (29, 30, 31, 32, 33, 143)))
    assert found(dataset, "B2") == pytest.approx(expected(1, (59, 143)))
    lines = (SAMPLES / "register.csv").read_text().splitlines()
    example = health["examples"]["register reset"][0]
    assert lines[example["line"] - 1].startswith("B2,2024-03-05 05:30")


def test_codes_for_no_value_are_rejected(tmp_path):
    dataset = ingest([SAMPLES / "no-value-codes.csv"], tmp_path / "d")
    assert dataset.health["rejected_by_reason"] == {
        "code for no value": 2,
        "beyond the physical bound": 2,
    }
    assert found(dataset, "A1") == expected(0, (5, 6, 7, 8))
    options = IngestOptions(maximum_kw=2000)
    dataset = ingest([SAMPLES / "no-value-codes.csv"], tmp_path / "d", options=options)
    assert dataset.readings("A1").kwh.max() == 700


def test_what_is_no_reading_is_ignored_and_listed(tmp_path):
    ignored = ingest([SAMPLES / "preamble.csv"], tmp_path / "d").health["ignored"]
    assert ignored["columns"] == {"Day": "calendar", "Outdoor temp": "weather", "Total": "total"}
    assert ignored["cells"] == {"total row": 2}
    ignored = ingest([SAMPLES / "days.csv"], tmp_path / "d").health["ignored"]
    assert ignored == {"columns": {}, "cells": {"no such period": 12}}


def test_the_folder_and_the_archive_say_things_once(tmp_path):
    for name in ("one-file-each", "one-file-each.zip"):
        notices = ingest([SAMPLES / name], tmp_path / "d").health["notices"]
        assert len(notices) == 2
        assert any(notice.startswith("2 files, such as") for notice in notices)


def test_moments_since_1970_are_shown_in_the_time_of_the_meters(tmp_path):
    options = IngestOptions(timezone="Asia/Tokyo")
    dataset = ingest([SAMPLES / "epoch.csv"], tmp_path / "d", options=options)
    assert dataset.readings("A1").time[0] == START + timedelta(hours=9)
    notices = ingest([SAMPLES / "epoch.csv"], tmp_path / "d").health["notices"]
    assert any("UTC" in notice for notice in notices)


def test_power_becomes_energy_by_the_interval(tmp_path):
    dataset = ingest([SAMPLES / "power.csv"], tmp_path / "d")
    total = sum(kwh(0, k) for k in range(144))
    assert dataset.readings("A1").kwh.sum() == pytest.approx(total)
    daily = [sum(kwh(h, k) for k in range(144)) / 3 for h in (0, 1)]
    assert dataset.manifest["median_daily_kwh"] == pytest.approx(np.median(daily))
