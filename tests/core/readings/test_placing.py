"""Ids, codes for no value and physical bounds."""

from pathlib import Path

import pandas as pd
import pytest
from test_ingestion import assert_accounts

from core.readings import Dataset, IngestOptions, ingest

TIMES = pd.date_range("2024-01-08", periods=96, freq="30min").astype(str)


def write(path: Path, cells: dict[int, tuple[str, str]], header: str = "id,time,kwh") -> Path:
    """Two days of one household, in which some rows have another id and value."""
    rows = [[*cells.get(k, ("h", f"0.{k % 9 + 1}")), time] for k, time in enumerate(TIMES)]
    lines = [f'"{id}",{time},{value}' for id, value, time in rows]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def ingested(source: Path, **options: object) -> Dataset:
    dataset = ingest([source], source.with_name("d"), options=IngestOptions(**options))
    assert_accounts(dataset)
    return dataset


@pytest.mark.parametrize("blank", ["\t", " \t ", "\u00a0", "\u2003"])
def test_an_id_of_blanks_is_none(blank, tmp_path):
    dataset = ingested(write(tmp_path / "a.csv", {5: (blank, "1"), 6: (f"{blank}h", "1")}))
    assert dataset.households.household.tolist() == ["h"]
    assert dataset.health["rejected_by_reason"] == {"missing household": 1}
    assert len(dataset.readings("h")) == 95


CODES = ["4294967295", "2147483647", "65535", "32767", "99999", "9999.99", "1e38"]


@pytest.mark.parametrize("code", CODES)
def test_what_meters_write_for_no_value_has_its_own_reason(code, tmp_path):
    cells = dict.fromkeys((5, 6, 7, 8), ("h", code))
    dataset = ingested(write(tmp_path / "a.csv", cells))
    assert dataset.health["rejected_by_reason"] == {"code for no value": 4}
    [example, *_] = dataset.health["examples"]["code for no value"]
    assert (example["file"], example["line"]) == ("a.csv", 7)
    assert 0 < dataset.readings("h").kwh.mean() < 1
    assert 10 < dataset.manifest["median_daily_kwh"] < 30


def test_codes_for_no_value_do_not_decide_the_unit(tmp_path):
    source = write(tmp_path / "a.csv", {5: ("h", "99999"), 9: ("h", "1e38")}, "id,time,demand")
    dataset = ingested(source)
    assert dataset.manifest["unit"] == "kWh"
    assert dataset.health["rejected_by_reason"] == {"code for no value": 2}


@pytest.mark.parametrize(("value", "reason"), [
    ("1e308", "beyond the physical bound"), ("500.1", "beyond the physical bound"),
    ("1e400", "infinite value"), ("-1e308", "negative value"),
])  # fmt: skip
def test_what_no_connection_carries_is_rejected(value, reason, tmp_path):
    source = write(tmp_path / "a.csv", {5: ("h", value)})
    assert ingested(source).health["rejected_by_reason"] == {reason: 1}


def test_the_bound_is_a_power_and_can_be_changed(tmp_path):
    source = write(tmp_path / "a.csv", {5: ("h", "500"), 6: ("h", "500.1"), 7: ("h", "11.6")})
    assert ingested(source).readings("h").kwh.max() == 500  # 1000 kW for half an hour
    assert ingested(source, maximum_kw=2000).readings("h").kwh.max() == 500.1
    small = ingested(source, maximum_kw=23)
    assert small.health["rejected_by_reason"] == {"beyond the physical bound": 3}
    assert small.manifest["options"] == {"maximum_kw": 23}


def test_a_large_code_in_power_is_one_by_the_power_that_it_says(tmp_path):
    source = write(tmp_path / "a.csv", {5: ("h", "65535"), 6: ("h", "999")}, "id,time,power (W)")
    dataset = ingested(source)
    assert dataset.health["rejected_by_reason"] == {"code for no value": 1}
    assert dataset.readings("h").kwh.max() == pytest.approx(0.4995)
