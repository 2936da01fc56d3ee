"""More readings for a dataset: exact accounts, the same twice, all or nothing."""

import json
import random
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_ingestion import assert_accounts

from core.cli import main
from core.errors import Cancelled, InputError
from core.readings import Dataset, IngestOptions, UndecidedError, append, ingest

SAMPLES = Path(__file__).parents[3] / "data" / "samples"


def rows(household: str, start: str, count: int, *, minutes: int = 30, factor: float = 1.0):
    chance = random.Random(f"{household} {start}")
    times = pd.date_range(start, periods=count, freq=f"{minutes}min")
    return [(household, str(time), f"{factor * chance.random():.3f}") for time in times]


def write(path: Path, lines, header: str = "id,time,kwh") -> Path:
    path.write_text("\n".join([header, *map(",".join, lines)]) + "\n")
    return path


@pytest.fixture
def weeks(tmp_path):
    """Two households in a first week; one more, and a gap, in the second."""
    first = rows("b", "2024-01-08", 336) + rows("d", "2024-01-08", 336)
    second = rows("a", "2024-01-15", 96) + rows("b", "2024-01-15", 336)
    return write(tmp_path / "first.csv", first), write(tmp_path / "second.csv", second)


def state(dataset: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in dataset.iterdir()}


def test_appending_is_the_same_as_ingesting_both(weeks, tmp_path):
    first, second = weeks
    ingest([first], tmp_path / "d")
    done = append(tmp_path / "d", [second])
    assert (done.input, done.added, done.new_households) == (432, 432, 1)
    both = ingest([first, second], tmp_path / "both")
    assert_accounts(done.dataset)
    done.dataset.verify()
    assert done.dataset.households.equals(both.households)
    for household in both.households.household:
        assert done.dataset.readings(household).equals(both.readings(household))
    assert [source["name"] for source in done.dataset.manifest["sources"]] == [
        "first.csv",
        "second.csv",
    ]


def test_the_same_file_twice_changes_nothing(weeks, tmp_path):
    first, second = weeks
    ingest([first, second], tmp_path / "d")
    before = state(tmp_path / "d")
    for source in (first, second, tmp_path / "second.csv"):
        done = append(tmp_path / "d", [source])
        assert done.skipped == (source.name,)
        assert done.input == 0
    # The same readings under another name are met one by one.
    copy = write(tmp_path / "copy.csv", rows("b", "2024-01-15", 336)[10:50])
    done = append(tmp_path / "d", [copy])
    assert (done.input, done.collapsed, done.added, done.corrected) == (40, 40, 0, 0)
    assert state(tmp_path / "d") == before
    assert not list(tmp_path.glob(".*partial*"))


def test_a_corrected_reading_replaces_the_old_one(weeks, tmp_path):
    first, second = weeks
    ingest([first, second], tmp_path / "d")
    kept = first.read_text().splitlines()[2].split(",")
    change = [("b", "2024-01-08 00:00:00", "7.5"), tuple(kept), ("b", "2024-02-01 00:00", "x")]
    done = append(tmp_path / "d", [write(tmp_path / "c.csv", change)])
    counts = (done.input, done.added, done.corrected, done.collapsed, done.rejected)
    assert counts == (3, 0, 1, 1, 1)
    assert_accounts(done.dataset)
    assert done.dataset.readings("b").kwh[0] == 7.5
    assert done.dataset.health["rejected_by_reason"] == {"unparsable value": 1}
    assert done.dataset.health["corrected"] == 1
    # Back to the old value: the first file itself is known, so it takes another one.
    back = [("b", "2024-01-08 00:00:00", rows("b", "2024-01-08", 1)[0][2])]
    done = append(tmp_path / "d", [write(tmp_path / "back.csv", back)])
    assert done.corrected == 1
    assert_accounts(done.dataset)


def test_the_repeated_hour_of_autumn_stays_twice(tmp_path):
    options = IngestOptions(timezone="Europe/Berlin")
    autumn = rows("h", "2023-10-28", 96)
    autumn += [("h", "2023-10-29 02:00", "5"), ("h", "2023-10-29 02:30", "6")]
    source = write(tmp_path / "a.csv", autumn)
    dataset = ingest([source], tmp_path / "d", options=options)
    assert dataset.health["second_readings_of_a_repeated_hour"] == 2
    again = write(tmp_path / "b.csv", [*autumn, *rows("h", "2023-10-30", 48)])
    done = append(tmp_path / "d", [again])
    assert (done.added, done.corrected, done.collapsed) == (48, 0, 98)
    assert_accounts(done.dataset)
    assert done.dataset.health["accepted"] == 98 + 48


@pytest.mark.parametrize(
    ("lines", "header", "said"),
    [
        (rows("b", "2024-03-01", 200, minutes=60), "id,time,kwh", "every 60 minutes"),
        (rows("b", "2024-03-01", 200, factor=1000), "id,time,Wh", "is in Wh"),
        (rows("b", "2024-03-01", 200, factor=1000), "id,time,value", "names no unit"),
        ([("b", f"2024-03-01 {h:02d}:00", str(5000 + h + m)) for m in range(3) for h in range(24)],
         "id,time,x,y", "id,time"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_and_nothing_changes(lines, header, said, weeks, tmp_path):
    ingest([weeks[0]], tmp_path / "d")
    before = state(tmp_path / "d")
    with pytest.raises(InputError) as raised:
        append(tmp_path / "d", [write(tmp_path / "new.csv", lines, header)])
    assert "\n" not in str(raised.value)
    if said != "id,time":
        assert said in str(raised.value)
    assert state(tmp_path / "d") == before


def test_a_register_is_not_appended_to_demand(weeks, tmp_path):
    ingest([weeks[0]], tmp_path / "d")
    times = pd.date_range("2024-03-01", periods=96, freq="30min")
    rising = [("b", str(time), str(5000 + k)) for k, time in enumerate(times)]
    with pytest.raises(UndecidedError, match="looks like a running register"):
        append(tmp_path / "d", [write(tmp_path / "r.csv", rising)])


def test_another_unit_is_converted_where_the_user_says_so(weeks, tmp_path):
    ingest([weeks[0]], tmp_path / "d")
    new = write(tmp_path / "wh.csv", rows("b", "2024-03-01", 200, factor=1000), "id,time,Wh")
    done = append(tmp_path / "d", [new], options=IngestOptions(energy_unit="Wh"))
    assert done.added == 200
    assert done.dataset.readings("b").kwh.max() <= 1


def test_options_of_the_ingest_hold_for_what_is_appended(tmp_path):
    ended = [(h, str(pd.Timestamp(t) + pd.Timedelta(minutes=30)), v)
             for h, t, v in rows("b", "2024-01-08", 336)]  # fmt: skip
    options = IngestOptions(stamp="end", timezone="Europe/Dublin")
    ingest([write(tmp_path / "a.csv", ended)], tmp_path / "d", options=options)
    done = append(tmp_path / "d", [write(tmp_path / "b.csv", [("b", "2024-01-15 00:30", "1")])])
    assert done.dataset.readings("b").time.max() == pd.Timestamp("2024-01-15 00:00")


def test_metadata_stays_with_its_households(tmp_path):
    ingest([SAMPLES / "lcl.csv"], tmp_path / "d", metadata=SAMPLES / "households.csv")
    more = write(tmp_path / "m.csv", rows("AAA", "2013-01-01", 96), "LCLid,tstp,energy(kWh/hh)")
    done = append(tmp_path / "d", [more])
    table = done.dataset.households.set_index("household")
    assert table.dwelling["MAC000003"] == "flat"
    assert pd.isna(table.dwelling["AAA"])


def test_two_at_once_both_come_in(weeks, tmp_path):
    """One waits for the other; while it waits, it can be stopped."""
    ingest([weeks[0]], tmp_path / "d")
    new = [write(tmp_path / f"{name}.csv", rows(name, "2024-02-01", 96)) for name in ("x", "y")]
    held, waited = threading.Event(), threading.Event()

    def hold(fraction, message=""):
        held.set()
        assert waited.wait(60)

    def stop(fraction, message=""):
        if message.startswith("waiting"):
            raise Cancelled

    with ThreadPoolExecutor() as threads:
        first = threads.submit(append, tmp_path / "d", new[:1], progress=hold)
        assert held.wait(60)
        with pytest.raises(Cancelled):
            append(tmp_path / "d", new[1:], progress=stop)
        second = threads.submit(append, tmp_path / "d", new[1:])
        waited.set()
        assert first.result().added == second.result().added == 96
    dataset = Dataset.open(tmp_path / "d")
    assert {"x", "y"} <= set(dataset.households.household)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("stop_at", ["reading", "sorting", "writing"])
def test_a_cancelled_append_leaves_what_was_there(stop_at, weeks, tmp_path):
    first, second = weeks
    ingest([first], tmp_path / "d")
    before = state(tmp_path / "d")

    def stop(fraction, message=""):
        if message.startswith(stop_at):
            raise Cancelled

    with pytest.raises(Cancelled):
        append(tmp_path / "d", [second], progress=stop)
    assert state(tmp_path / "d") == before


def test_the_command_says_what_became_of_the_readings(weeks, tmp_path, capsys):
    first, second = weeks
    ingest([first], tmp_path / "d")
    assert main(["append", str(tmp_path / "d"), str(second), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["appended"]["added"] == 432
    assert result["households"] == 3
    assert main(["append", str(tmp_path / "d"), str(second)]) == 0
    assert "second.csv: it is in the dataset already" in capsys.readouterr().out
    assert main(["append", str(tmp_path / "nowhere"), str(second)]) == 2


READING = st.tuples(
    st.sampled_from("abc"), st.integers(0, 20), st.sampled_from(["0.1", "0.2", "x"])
)


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(st.lists(READING, min_size=1, max_size=25), min_size=1, max_size=3))
def test_any_parts_in_turn_leave_the_last_value_of_each_time(parts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    start = datetime(2024, 1, 10)
    base = [("full", str(start + timedelta(minutes=30 * k)), "0.3") for k in range(96)]
    ingest([write(folder / "base.csv", base)], folder / "d")
    truth: dict[tuple[str, datetime], float] = {}
    for number, part in enumerate(parts):
        lines = [(name, start + timedelta(minutes=30 * k), kwh) for name, k, kwh in part]
        usable: dict[tuple[str, datetime], float] = {}
        for name, time, kwh in lines:
            if kwh != "x":
                usable.setdefault((name, time), float(kwh))
        source = write(folder / f"{number}.csv", [(n, str(t), k) for n, t, k in lines])
        try:
            done = append(folder / "d", [source])
        except InputError:
            assert not usable
            continue
        assert done.input in (0, len(lines))
        parts_of_it = done.added + done.corrected + done.collapsed + done.rejected
        assert parts_of_it == done.input
        if not done.skipped:
            truth |= usable
        assert_accounts(done.dataset)
    dataset = Dataset.open(folder / "d")
    found = {
        (name, time.to_pydatetime()): kwh
        for name in set(dataset.households.household) - {"full"}
        for time, kwh in dataset.readings(name).itertuples(index=False)
    }
    assert found == truth
    assert np.array_equal(dataset.readings("full").kwh, np.full(96, 0.3))
    shutil.rmtree(folder)
