"""Ingest of whole files: accounts, order, duplicates, clock changes."""

import csv
import gzip
import itertools
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Cancelled, InputError
from core.readings import Dataset, IngestOptions, ingest
from core.readings.formats import FORMATS

DATA = Path(__file__).parents[3] / "data"
SAMPLES = DATA / "samples"
REAL = Path(__file__).parents[4] / "shared" / "data"


def documented_accounts():
    """The table of data/README.md: file, format, input, accepted, collapsed, rejected."""
    row = re.compile(r"\| `([^`]+)` \| `(\w+)` \|.*\| (\d+) = (\d+) \+ (\d+) \+ (\d+) \|")
    found = [row.match(line) for line in (DATA / "README.md").read_text().splitlines()]
    return [(m[1], m[2], *map(int, m.groups()[2:])) for m in found if m]


def assert_accounts(dataset: Dataset) -> None:
    """accepted + collapsed + rejected = input, in total and for every household."""
    health, table = dataset.health, dataset.households
    assert health["accepted"] + health["collapsed"] + health["rejected"] == health["input"]
    assert sum(health["rejected_by_reason"].values()) == health["rejected"]
    assert (table.accepted + table.collapsed + table.rejected == table.input).all()
    assert table.input.sum() + health["without_household"] == health["input"]
    readings = pq.read_table(dataset.path / "readings.parquet").to_pandas()
    counts = readings.household.value_counts().reindex(range(len(table)), fill_value=0)
    assert (counts.to_numpy() == table.accepted.to_numpy()).all()
    order = readings.sort_values(["household", "time"], kind="stable")
    assert order.index.equals(readings.index)


def test_every_sample_and_every_format_is_documented():
    documented = documented_accounts()
    assert {row[1] for row in documented} == set(FORMATS)
    text = (DATA / "README.md").read_text()
    assert all(f"`{path.name}`" in text for path in SAMPLES.iterdir())


@pytest.mark.parametrize("row", documented_accounts(), ids=lambda row: row[0])
def test_samples_come_in_with_the_documented_accounts(row, tmp_path):
    name, format, *accounts = row
    dataset = ingest([SAMPLES / name], tmp_path / "dataset")
    assert dataset.manifest["source_format"] == format
    health = dataset.health
    assert [health[key] for key in ("input", "accepted", "collapsed", "rejected")] == accounts
    assert_accounts(dataset)
    dataset.verify()


def test_lcl_equals_a_plain_reading_of_the_file(tmp_path):
    dataset = ingest([SAMPLES / "lcl.csv"], tmp_path / "dataset")
    expected: dict[tuple[str, datetime], float] = {}
    with (SAMPLES / "lcl.csv").open() as file:
        for row in itertools.islice(csv.reader(file), 1, None):
            try:
                time = datetime.strptime(row[2][:19], "%Y-%m-%d %H:%M:%S")
                value = float(row[3])
            except ValueError:
                continue
            if 0 <= value < 1e9 and time.minute in (0, 30) and time.second == 0:
                expected.setdefault((row[0], time), value)
    found = {
        (household, time.to_pydatetime()): kwh
        for household in dataset.households.household
        for time, kwh in dataset.readings(household).itertuples(index=False)
    }
    assert found == expected


def test_examples_name_file_line_and_text(tmp_path):
    dataset = ingest([SAMPLES / "lcl.csv"], tmp_path / "dataset")
    lines = (SAMPLES / "lcl.csv").read_text().splitlines()
    examples = dataset.health["examples"]
    assert set(examples) == set(dataset.health["rejected_by_reason"])
    for reason, found in examples.items():
        for example in found:
            assert example["file"] == "lcl.csv", reason
            household = example["text"].partition(",")[0]
            assert lines[example["line"] - 1].startswith(household)
    assert "abc" in lines[examples["unparsable value"][0]["line"] - 1]


def test_blank_and_malformed_lines_do_not_shift_the_lines_of_others(tmp_path):
    rows = [f"a,2020-01-01 {h:02d}:{m:02d},0.{h}" for h in range(24) for m in (0, 30)]
    rows[10:10] = ["", "a,2020-01-01 00:00", "a,b,c,d,e", ""]
    rows.append("a,2020-01-02 00:00,oops")
    source = tmp_path / "a.csv"
    source.write_text("id,time,kwh\n" + "\n".join(rows) + "\n")
    dataset = ingest([source], tmp_path / "dataset")
    assert_accounts(dataset)
    assert dataset.health["input"] == len(rows) - 2  # blank lines are no readings
    lines = source.read_text().splitlines()
    for example in itertools.chain(*dataset.health["examples"].values()):
        assert lines[example["line"] - 1].replace(",", ", ").startswith(example["text"][:2])
    assert dataset.health["examples"]["unparsable value"][0]["line"] == len(lines)
    assert [e["line"] for e in dataset.health["examples"]["malformed line"]] == [13, 14]


def test_wide_reads_decimal_commas_and_leaves_the_calendar_out(tmp_path):
    dataset = ingest([SAMPLES / "wide.csv"], tmp_path / "dataset")
    assert list(dataset.households.household) == ["Flat 1", "Flat 2", "Flat 3"]
    assert dataset.interval_minutes == 60
    with (SAMPLES / "wide.csv").open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    expected = {
        datetime.strptime(row["Date"] + row["Time"], "%d.%m.%Y%H:%M"): row["Flat 1"] for row in rows
    }
    found = dataset.readings("Flat 1").set_index("time").kwh
    assert len(found) == len(expected)
    for time, text in expected.items():
        assert found[time] == float(text.replace(",", "."))


@pytest.mark.parametrize("sign", [",", ".", " "])
@pytest.mark.parametrize("first", ["100", "NA", "-5"])
def test_thousands_are_found_where_homes_that_use_little_come_first(sign, first, tmp_path):
    hours = pd.date_range("2024-03-04", periods=2_600, freq="h").strftime("%Y-%m-%d %H:%M:%S")
    small = [first, *(str(100 + 37 * row % 700) for row in range(1, 2_600))]
    values = [1_000 + 37 * row % 2_600 for row in range(2_600)]
    large = [f"{wh // 1000}{sign}{wh % 1000:03}" for wh in values]
    rows = [f"A1;{hour};{wh}" for hour, wh in zip(hours, small, strict=True)]
    rows += [f"B2;{hour};{wh}" for hour, wh in zip(hours, large, strict=True)]
    file = tmp_path / "wh.csv"
    file.write_text("\n".join(["meter;time;Wh", *rows]) + "\n")
    dataset = ingest([file], tmp_path / "dataset")
    assert dataset.health["rejected"] == (0 if first == "100" else 1)
    assert dataset.readings("B2").kwh.tolist() == [wh / 1000 for wh in values]


@pytest.mark.parametrize("error", ["0,5", "0,500", "1,234.5"])
def test_a_typing_error_does_not_decide_how_numbers_are_written(error, tmp_path):
    hours = pd.date_range("2024-03-04", periods=2_600, freq="h").strftime("%Y-%m-%d %H:%M:%S")
    rows = [f"A1;{hour};0" for hour in hours]
    expected = [(407 + 37 * row % 1_100) / 1_000 for row in range(2_599)]
    rows += [f"B2;{hour};{kwh:.3f}" for hour, kwh in zip(hours[1:], expected, strict=True)]
    file = tmp_path / "kwh.csv"
    file.write_text("\n".join(["meter;time;kWh", *rows, f"B2;{hours[0]};{error}"]) + "\n")
    dataset = ingest([file], tmp_path / "dataset")
    assert dataset.health["rejected"] == 1
    assert dataset.readings("B2").kwh.tolist() == expected


def test_cer_times_and_allocation(tmp_path):
    options = IngestOptions(allocation=str(SAMPLES / "cer-allocation.csv"))
    dataset = ingest([SAMPLES / "cer.txt"], tmp_path / "dataset", options=options)
    assert dataset.health["rejected_by_reason"]["not residential"] == 672
    assert dataset.households.set_index("household").accepted["5001"] == 0
    found = dataset.readings("1003").set_index("time").kwh
    for line in (SAMPLES / "cer.txt").read_text().splitlines():
        meter, code, kwh = line.split()
        half_hour = int(code[3:])
        if meter == "1003" and half_hour <= 48:
            time = datetime(2009, 1, 1) + timedelta(days=int(code[:3]) - 1)
            assert found[time + timedelta(minutes=30 * (half_hour - 1))] == float(kwh)
    assert_accounts(dataset)


def test_nem12_registers(tmp_path):
    dataset = ingest([SAMPLES / "nem12.csv"], tmp_path / "import")
    export = ingest(
        [SAMPLES / "nem12.csv"], tmp_path / "export", options=IngestOptions(value_column="B1")
    )
    assert dataset.readings("6102001234").kwh.sum() != export.readings("6102001234").kwh.sum()
    first = next(
        line for line in (SAMPLES / "nem12.csv").read_text().splitlines() if line[0] == "3"
    )
    day = dataset.readings("6102001234").kwh[:48]
    assert day.tolist() == [float(cell) for cell in first.split(",")[2:50]]


def test_several_files_make_one_dataset_and_their_order_decides_conflicts(tmp_path):
    times = pd.date_range("2020-01-01", periods=96, freq="30min").strftime("%Y-%m-%d %H:%M")
    for name, value in (("one.csv", 1), ("two.csv", 2)):
        rows = [f"h,{time},{value}" for time in times]
        (tmp_path / name).write_text("id,time,kwh\n" + "\n".join(rows))
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    forward = ingest([one, two], tmp_path / "forward")
    backward = ingest([two, one], tmp_path / "backward")
    assert set(forward.readings("h").kwh) == {1.0}
    assert set(backward.readings("h").kwh) == {2.0}
    assert forward.health["conflicting_duplicates"] == 96
    assert forward.health["collapsed"] == backward.health["collapsed"] == 96


def long_file(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    path.write_text("id,time,kwh\n" + "".join(f"{','.join(row)}\n" for row in rows))
    return path


def day(date: str, values: dict[str, float], *, without: tuple[str, ...] = ()):
    """A day of half-hours with some extra readings, in the order given."""
    rows = [(f"{h:02d}:{m:02d}", "0.1") for h in range(24) for m in (0, 30)]
    rows = [(time, kwh) for time, kwh in rows if time not in without]
    rows += [(time, str(kwh)) for time, kwh in values.items()]
    return [("h", f"{date} {time}", kwh) for time, kwh in rows]


@pytest.mark.parametrize("timezone", [None, "Europe/Berlin"])
def test_a_spring_hour_stored_under_the_hour_before_is_moved_back(timezone, tmp_path):
    rows = day("2013-03-30", {}) + day(
        "2013-03-31", {"01:00": 0.7, "01:30": 0.8}, without=("02:00", "02:30")
    )
    source = long_file(tmp_path / "a.csv", rows)
    dataset = ingest([source], tmp_path / "d", options=IngestOptions(timezone=timezone))
    found = dataset.readings("h").set_index("time").kwh
    assert found[pd.Timestamp("2013-03-31 02:00")] == 0.7
    assert found[pd.Timestamp("2013-03-31 02:30")] == 0.8
    assert found[pd.Timestamp("2013-03-31 01:00")] == 0.1
    assert dataset.health["moved_out_of_the_hour_before"] == 2
    assert dataset.health["collapsed"] == 0
    assert_accounts(dataset)


@pytest.mark.parametrize("timezone", [None, "Europe/Berlin"])
def test_the_repeated_autumn_hour_counts_twice(timezone, tmp_path):
    rows = day("2013-10-26", {}) + day("2013-10-27", {"02:00": 0.7, "02:30": 0.8})
    source = long_file(tmp_path / "a.csv", rows)
    dataset = ingest([source], tmp_path / "d", options=IngestOptions(timezone=timezone))
    found = dataset.readings("h").set_index("time").kwh
    assert sorted(found[pd.Timestamp("2013-10-27 02:00")]) == [0.1, 0.7]
    assert dataset.health["collapsed"] == 0
    assert dataset.health["second_readings_of_a_repeated_hour"] == 2
    assert_accounts(dataset)


def test_with_a_time_zone_even_equal_readings_of_the_repeated_hour_are_kept(tmp_path):
    rows = day("2013-10-26", {}) + day("2013-10-27", {"02:00": 0.1, "02:30": 0.1}) * 2
    source = long_file(tmp_path / "a.csv", rows)
    options = IngestOptions(timezone="Europe/Berlin")
    dataset = ingest([source], tmp_path / "d", options=options)
    times = Counter(dataset.readings("h").time)
    assert times[pd.Timestamp("2013-10-27 02:00")] == 2
    assert times[pd.Timestamp("2013-10-27 03:00")] == 1
    assert_accounts(dataset)


def test_doubled_hours_on_other_days_are_duplicates(tmp_path):
    rows = day("2013-10-21", {"02:00": 0.7, "02:30": 0.8}) + day("2013-10-22", {})
    for timezone in (None, "Europe/Berlin"):
        dataset = ingest(
            [long_file(tmp_path / "a.csv", rows)],
            tmp_path / "d",
            options=IngestOptions(timezone=timezone),
        )
        assert dataset.health["collapsed"] == dataset.health["conflicting_duplicates"] == 2


def test_stamps_at_the_end_of_the_interval(tmp_path):
    source = long_file(tmp_path / "a.csv", day("2013-01-07", {}) * 2)
    dataset = ingest([source], tmp_path / "d", options=IngestOptions(stamp="end"))
    assert dataset.readings("h").time.min() == pd.Timestamp("2013-01-06 23:30")
    rows = [(h, t + ":59", k) for h, t, k in day("2013-01-07", {})]
    rows = [(h, t.replace(":00:59", ":29:59").replace(":30:59", ":59:59"), k) for h, t, k in rows]
    dataset = ingest([long_file(tmp_path / "b.csv", rows * 3)], tmp_path / "e")
    assert dataset.readings("h").time.min() == pd.Timestamp("2013-01-07 00:00")
    assert "00:29:59" in dataset.health["notices"][0]


def test_negative_readings_are_kept_on_request(tmp_path):
    rows = [*day("2013-01-07", {}), ("h", "2013-01-08 00:00", "-0.25")]
    source = long_file(tmp_path / "a.csv", rows)
    assert ingest([source], tmp_path / "d").health["rejected_by_reason"] == {"negative value": 1}
    options = IngestOptions(allow_negative=True)
    assert ingest([source], tmp_path / "d", options=options).readings("h").kwh.min() == -0.25


@pytest.mark.parametrize(
    ("first", "second"),
    [("13/01/2020 00:00", "%d/%m/%Y"), ("01/13/2020 00:00", "%m/%d/%Y"), ("13-Jan-20 00:00", "")],
)
def test_days_and_months_are_told_apart(first, second, tmp_path):
    times = pd.date_range("2020-01-13", periods=96, freq="30min")
    style = {"%d/%m/%Y": "%d/%m/%Y %H:%M", "%m/%d/%Y": "%m/%d/%Y %H:%M", "": "%d-%b-%y %H:%M"}
    rows = [("h", time.strftime(style[second]), "1") for time in times]
    assert rows[0][1] == first
    dataset = ingest([long_file(tmp_path / "a.csv", rows)], tmp_path / "d")
    assert dataset.readings("h").time.tolist() == times.tolist()


def test_a_date_that_can_be_read_two_ways_is_not_guessed(tmp_path):
    rows = [("h", f"0{d}/0{m}/2020 00:00", "1") for d in range(1, 10) for m in range(1, 10)]
    source = long_file(tmp_path / "a.csv", rows)
    with pytest.raises(InputError, match="--time-format"):
        ingest([source], tmp_path / "d")
    options = IngestOptions(time_format="%d/%m/%Y %H:%M")
    dataset = ingest([source], tmp_path / "d", options=options)
    assert dataset.readings("h").time[1] == pd.Timestamp("2020-01-02")


def test_mixed_intervals(tmp_path):
    half = pd.date_range("2020-01-01", periods=200, freq="30min").astype(str)
    hour = pd.date_range("2020-01-01", periods=200, freq="60min").astype(str)
    rows = [("a", t, "1") for t in half] + [("b", t, "1") for t in half]
    source = long_file(tmp_path / "a.csv", rows + [("c", t, "1") for t in hour])
    with pytest.raises(InputError, match=r"household c is read every 60 minutes .* --interval 30"):
        ingest([source], tmp_path / "d")
    assert not (tmp_path / "d").exists()
    dataset = ingest([source], tmp_path / "d", options=IngestOptions(interval_minutes=30))
    assert dataset.health["rejected_by_reason"] == {"other interval": 200}
    assert_accounts(dataset)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_metadata_joins_by_household(suffix, tmp_path):
    table = SAMPLES / "households.csv"
    if suffix == ".parquet":
        pd.read_csv(table).to_parquet(tmp_path / "households.parquet")
        table = tmp_path / "households.parquet"
    dataset = ingest([SAMPLES / "lcl.csv"], tmp_path / "d", metadata=table)
    assert list(dataset.metadata.columns) == ["dwelling", "occupants", "tariff"]
    assert dataset.metadata.occupants.tolist() == [2, 1, 2]
    assert dataset.households.household.tolist() == ["MAC000002", "MAC000003", "MAC000004"]
    assert dataset.metadata.tariff[1] == "night saver"


def test_metadata_that_fits_no_household_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"sgsc.csv.*|households.csv: no column holds"):
        ingest([SAMPLES / "sgsc.csv"], tmp_path / "d", metadata=SAMPLES / "households.csv")
    assert not (tmp_path / "d").exists()


def test_unusual_ids_pass_unchanged(tmp_path):
    ids = [
        "007",
        "../x",
        "<img onerror=alert(1)>",
        "=cmd()",
        "\u00e9",
        "e\u0301",
        "נהג",
        "🏠",
        "x" * 10_000,
    ]
    times = pd.date_range("2020-01-01", periods=3, freq="30min").astype(str)
    rows = [(name, time, "1") for name in ids for time in times]
    dataset = ingest([long_file(tmp_path / "a[1].csv", rows)], tmp_path / "d")
    assert dataset.households.household.tolist() == sorted(ids)
    assert len(dataset.readings("🏠")) == 3


def test_utf8_errors_are_malformed_lines(tmp_path):
    source = long_file(tmp_path / "a.csv", day("2020-01-01", {}) * 2)
    source.write_bytes(source.read_bytes() + b"\xff\xfe,2020-01-02 00:00,1\n")
    dataset = ingest([source], tmp_path / "d")
    assert dataset.health["rejected_by_reason"] == {"malformed line": 1}
    assert_accounts(dataset)


def test_parquet_with_other_column_types(tmp_path):
    times = pd.date_range("2020-01-01", periods=96, freq="30min")
    table = pa.table(
        {
            "meter_id": np.full(96, 10006414.0),
            "when_time": pa.array(times.tz_localize("UTC")),
            "kwh": np.tile([0.25, 0.5], 48).astype(np.float32),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    dataset = ingest([tmp_path / "a.parquet"], tmp_path / "d")
    assert dataset.households.household.tolist() == ["10006414"]
    assert dataset.readings("10006414").time.tolist() == times.tolist()
    options = IngestOptions(timezone="Asia/Tokyo")
    moved = ingest([tmp_path / "a.parquet"], tmp_path / "d", options=options)
    assert moved.readings("10006414").time[0] == pd.Timestamp("2020-01-01 09:00")


READING = st.tuples(
    st.sampled_from(["a", "b", "c "]),
    st.integers(0, 60),
    st.sampled_from(["0.1", "0.2", " 0.3", "-1", "Null", "", "x", "inf", "1e-3"]),
    st.sampled_from([0, 0, 0, 0, 30, 59, 120, 700]),  # seconds off the grid
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(rows=st.lists(READING, min_size=1, max_size=60), order=st.randoms(use_true_random=False))
def test_accounts_hold_whatever_the_order(rows, order, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("accounts")
    start = datetime(2020, 1, 8)  # a Wednesday far from any clock change
    full = [("full", start + timedelta(minutes=30 * i), "1") for i in range(100)]
    written = full + [
        (name, start + timedelta(minutes=30 * slot, seconds=off), kwh)
        for name, slot, kwh, off in rows
    ]

    def run(lines, name):
        cells = [(name, str(time), kwh) for name, time, kwh in lines]
        return ingest([long_file(tmp_path / f"{name}.csv", cells)], tmp_path / name)

    straight = run(written, "straight")
    order.shuffle(written)
    shuffled = run(written, "shuffled")
    for dataset in (straight, shuffled):
        assert_accounts(dataset)
    keys = ("input", "accepted", "collapsed", "rejected", "rejected_by_reason")
    assert [straight.health[key] for key in keys] == [shuffled.health[key] for key in keys]

    def usable(kwh):
        return kwh.strip() not in ("", "Null", "x", "inf", "-1")

    slots = {
        (name.strip(), slot + (off > 0 and off >= 900))
        for name, slot, kwh, off in rows
        if usable(kwh) and min(off, 1800 - off) <= 60
    }
    assert straight.health["accepted"] == 100 + len(slots)


@pytest.mark.skipif(not (REAL / "sgsc10.csv.gz").exists(), reason="the real readings are not here")
def test_ten_real_households(tmp_path):
    source = REAL / "sgsc10.csv.gz"
    dataset = ingest([source], tmp_path / "d", metadata=REAL / "sgsc10-households.csv")
    assert_accounts(dataset)
    frame = pd.read_csv(source, parse_dates=["reading_datetime"])
    assert dataset.health["accepted"] == len(frame) == 293_874
    for household, rows in frame.groupby("customer_id"):
        expected = rows.sort_values("reading_datetime")
        found = dataset.readings(str(household))
        assert found.time.tolist() == expected.reading_datetime.tolist()
        assert found.kwh.tolist() == expected.general_supply_kwh.tolist()
    assert dataset.metadata.shape == (10, 37)


def test_gzip_of_any_name(tmp_path):
    rows = "id,time,kwh\n" + "".join(",".join(row) + "\n" for row in day("2020-01-01", {}) * 2)
    with gzip.open(tmp_path / "readings.bin", "wt") as file:
        file.write(rows)
    assert ingest([tmp_path / "readings.bin"], tmp_path / "d").health["accepted"] == 48
    assert not list(tmp_path.glob(".*partial*"))


@pytest.mark.parametrize("stop_at", ["reading", "sorting", "writing"])
def test_a_cancelled_ingest_leaves_what_was_there(stop_at, tmp_path):
    target = tmp_path / "d"
    before = ingest([SAMPLES / "sgsc.csv"], target).digest

    def stop(fraction, message=""):
        if message.startswith(stop_at):
            raise Cancelled

    with pytest.raises(Cancelled):
        ingest([SAMPLES / "lcl.csv"], target, progress=stop)
    assert Dataset.open(target).digest == before
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_progress_only_grows_and_ends_at_one(tmp_path):
    seen = []
    ingest(
        [SAMPLES / "lcl.csv"], tmp_path / "d", progress=lambda share, message="": seen.append(share)
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_the_database_draws_no_progress_bar(tmp_path):
    """It would, after two seconds, in a notebook and wherever code is no file."""
    program = f"""
from pathlib import Path
from core.readings.staging import open_staging
with open_staging(Path({str(tmp_path)!r})) as staging:
    print(staging.query("SELECT current_setting('enable_progress_bar')"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[(False,)]\n"
