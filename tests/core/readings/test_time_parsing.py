"""Times as they are written: orders of day and month, offsets from UTC, and what is asked."""

from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError
from core.readings import IngestOptions, UndecidedError, ingest

START = datetime(2020, 1, 6)


def write(path: Path, times: list[str]) -> Path:
    rows = [f"h,{time},0.{k % 9 + 1}" for k, time in enumerate(times)]
    path.write_text("\n".join(["id,time,kwh", *rows]) + "\n")
    return path


def half_hours(style: str, count: int = 480, start: datetime = START) -> list[str]:
    return [(start + timedelta(minutes=30 * k)).strftime(style) for k in range(count)]


def times(path: Path, **options: object) -> list[pd.Timestamp]:
    dataset = ingest([path], path.with_name("d"), options=IngestOptions(**options))
    return dataset.readings("h").time.tolist()


@pytest.mark.parametrize("days", [1, 3, 10])
def test_a_year_of_two_digits_that_may_stand_first_is_asked_for(days, tmp_path):
    source = write(tmp_path / "a.csv", half_hours("%y-%m-%d %H:%M", 48 * days))
    with pytest.raises(UndecidedError, match="'20-01-06 00:00' can be read in") as raised:
        times(source)
    meanings = {choice.label.partition(" is ")[2] for choice in raised.value.choices}
    assert {"6 January 2020", "20 January 2006"} <= meanings
    answer = next(c for c in raised.value.choices if "6 January 2020" in c.label)
    assert times(source, **answer.options)[0] == pd.Timestamp(START)


@pytest.mark.parametrize("style", ["%d/%m/%y %H:%M", "%d.%m.%y %H:%M"])
def test_days_that_follow_each_other_tell_day_from_month(style, tmp_path):
    found = times(write(tmp_path / "a.csv", half_hours(style)))
    assert found == list(pd.date_range(START, periods=480, freq="30min"))


def test_one_day_does_not_tell_day_from_month(tmp_path):
    source = write(tmp_path / "a.csv", half_hours("%d/%m/%Y %H:%M", 48))
    with pytest.raises(UndecidedError, match="can be read in 2 ways"):
        times(source)


def test_z_alone_is_utc_and_said(tmp_path):
    source = write(tmp_path / "a.csv", half_hours("%Y-%m-%dT%H:%M:%SZ"))
    dataset = ingest([source], tmp_path / "d")
    assert dataset.readings("h").time[0] == START
    assert any("UTC" in notice for notice in dataset.health["notices"])
    found = times(source, timezone="Australia/Sydney")
    assert found[0] == START + timedelta(hours=11)


def test_offsets_of_one_place_leave_the_clock_as_it_is_written(tmp_path):
    """The clocks went forward on 29 March 2020 in Berlin."""
    zone = "Europe/Berlin"
    moments = pd.date_range("2020-03-27", "2020-04-02", freq="30min", tz=zone, inclusive="left")
    source = write(tmp_path / "a.csv", [moment.isoformat() for moment in moments])
    dataset = ingest([source], tmp_path / "d")
    assert dataset.readings("h").time.tolist() == list(moments.tz_localize(None))
    assert not dataset.health["notices"]


@pytest.mark.parametrize(
    "second", ["%Y-%m-%dT%H:%M:%S+05:00", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]
)
def test_offsets_of_no_one_place_are_asked_for(second, tmp_path):
    first = half_hours("%Y-%m-%dT%H:%M:%S+01:00", 240)
    later = half_hours(second, 240, START + timedelta(days=5))
    mixed = [each for pair in zip(first, later, strict=True) for each in pair]
    source = write(tmp_path / "a.csv", mixed)
    with pytest.raises(UndecidedError, match="offsets from UTC") as raised:
        times(source)
    assert {"timezone": "UTC"} in [dict(choice.options) for choice in raised.value.choices]


@pytest.mark.parametrize("minutes", [7, 11, 13, 50])
def test_a_pace_that_does_not_divide_a_day_is_refused(minutes, tmp_path):
    stamps = [(START + timedelta(minutes=minutes * k)).isoformat() for k in range(3000)]
    source = write(tmp_path / "a.csv", stamps)
    with pytest.raises(InputError, match=rf"a\.csv: readings come every {minutes} minutes"):
        times(source)


def test_a_pace_of_one_minute_is_one(tmp_path):
    stamps = [(START + timedelta(minutes=k)).isoformat() for k in range(3000)]
    assert len(times(write(tmp_path / "a.csv", stamps))) == 3000
