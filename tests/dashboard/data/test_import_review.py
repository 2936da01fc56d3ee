"""What the import dialog shows, and what its fields do, without a browser."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from core.errors import InputError
from core.readings import IngestOptions, inspect
from core.readings.formats import FORMATS
from dashboard.data import _import_review as import_review
from dashboard.jobs import uploads

SAMPLES = Path(__file__).parents[3] / "data" / "samples"


@cache
def look(name: str, **said: object):
    options = IngestOptions(**said)
    found = inspect([SAMPLES / name], options=options)
    return found, import_review.review(found, options, "")


def field(review: dict, name: str) -> dict:
    return next(each for each in review["fields"] if each["name"] == name)


def chosen_words(review: dict, name: str) -> str:
    each = field(review, name)
    return dict(map(tuple, each["options"]))[each["value"]]


def test_what_was_recognised_is_in_the_fields():
    found, review = look("power.csv")
    assert chosen_words(review, "format") == "Automatic: One reading per row"
    assert chosen_words(review, "energy_unit").startswith("Automatic: kW (the column's name")
    assert chosen_words(review, "stamp") == "Automatic: Start of the interval (the format)"
    assert chosen_words(review, "interval_minutes") == "Automatic: 30 minutes"
    assert review["account"]["accepted"] == found.account["accepted"] == 288
    assert review["plausibility"]["fine"]
    assert "2 households" in review["summary"]
    preview = review["preview"]
    assert set(preview["roles"]) == {"household", "time", "reading"}
    assert len(preview["rows"][0]) == len(preview["names"])


@pytest.mark.parametrize(
    "name", sorted(path.name for path in SAMPLES.iterdir() if "households" not in path.name)
)
def test_every_sample_can_be_reviewed_without_words_of_the_command_line(name):
    if name == "cer-allocation.csv":
        return
    _, review = look(name)
    assert "--" not in str({key: review[key] for key in review if key != "preview"})
    assert review["questions"] == []


def test_a_change_becomes_an_option_and_is_shown():
    found, _ = look("power.csv")
    columns = [column.name for column in found.columns]
    options = IngestOptions()
    changes = {
        "format": "long",
        "id_column": f"c{columns.index('meter') if 'meter' in columns else 0}",
        "energy_unit": "W",
        "cumulative": "no",
        "stamp": "end",
        "timezone": " Europe/London ",
        "interval_minutes": "15",
        "decimal": ",",
        "flow": "export",
        "maximum_kw": "50",
        "time_format": "DD/MM/YYYY HH:MM",
        "allow_negative": True,
    }
    for name, value in changes.items():
        options = import_review.change(options, name, value, found)
    assert options == IngestOptions(
        format="long", id_column=columns[0], energy_unit="W", cumulative=False, stamp="end",
        timezone="Europe/London", interval_minutes=15, decimal=",", flow="export", maximum_kw=50,
        time_format="%d/%m/%Y %H:%M", allow_negative=True,
    )  # fmt: skip
    review = import_review.review(found, options, "")
    assert field(review, "timezone")["value"] == "Europe/London"
    assert field(review, "time_format")["value"] == "DD/MM/YYYY HH:MM"
    for name in changes:
        automatic = {"allow_negative": False, "flow": "import", "maximum_kw": "1000",
                     "timezone": "", "time_format": ""}  # fmt: skip
        options = import_review.change(options, name, automatic.get(name, "auto"), found)
    assert options == IngestOptions()


def test_times_may_be_in_two_columns():
    found, review = look("from-to.csv")
    assert chosen_words(review, "time") == "Automatic: Date, From"
    columns = [column.name for column in found.columns]
    options = import_review.change(IngestOptions(), "clock", f"c{columns.index('To')}", found)
    assert options.time_columns == ("Date", "To")
    options = import_review.change(options, "clock", "auto", found)
    assert options.time_columns == ("Date",)


def test_columns_of_a_wide_table_can_be_left_out_and_used_again():
    found, review = look("wide.csv")
    place = review["preview"]["names"].index("Flat 2")
    assert review["preview"]["can_leave_out"][place]
    options = import_review.leave_out(IngestOptions(), "Flat 2", found)
    again = inspect([SAMPLES / "wide.csv"], options=options)
    assert again.household_count == 2
    review = import_review.review(again, options, "")
    assert review["answers"] == [["ignore_columns", "Left out: Flat 2"]]
    assert review["preview"]["left_out"][place]
    assert import_review.leave_out(options, "Flat 2", again) == IngestOptions()
    assert import_review.forget(options, "ignore_columns") == IngestOptions()


WILD = [None, 5, [], {}, "x" * 2000, "nowhere", "c99", "-1", "nan"]


@pytest.mark.parametrize("value", WILD, ids=lambda value: str(value)[:10])
@pytest.mark.parametrize(
    "name", ["format", "id_column", "time", "clock", "value_column", "energy_unit", "cumulative",
             "stamp", "timezone", "interval_minutes", "decimal", "flow", "maximum_kw", "other"],
)  # fmt: skip
def test_anything_that_the_browser_may_send(name, value):
    found, _ = look("power.csv")
    with pytest.raises((InputError, ValueError)):
        import_review.change(IngestOptions(), name, value, found)


@pytest.mark.parametrize(("words", "pattern"), [
    ("DD/MM/YYYY HH:MM", "%d/%m/%Y %H:%M"), ("YYYY-MM-DD HH:MM:SS", "%Y-%m-%d %H:%M:%S"),
    ("MM/DD/YY hh:MM AM", "%m/%d/%y %I:%M %p"), ("DD-MMM-YYYY HHMM", "%d-%b-%Y %H%M"),
    ("%d.%m.%Y", "%d.%m.%Y"),
])  # fmt: skip
def test_how_times_are_written_in_words(words, pattern):
    assert import_review.time_pattern(words) == pattern
    assert import_review.time_pattern(import_review.time_words(pattern)) == pattern


def put(folder: Path, *names: str) -> Path:
    (folder / uploads.FILES).mkdir(parents=True)
    for name in names:
        (folder / uploads.FILES / name).write_bytes((SAMPLES / name).read_bytes())
    return folder


def as_argument(folder: Path, **said: object) -> tuple:
    return str(folder), vars(IngestOptions(**said))


def silent(*_: object) -> None:
    pass


def test_an_upload_is_looked_at_and_imported(tmp_path):
    folder = put(tmp_path / "u", "lcl.csv")
    found = uploads.look(as_argument(folder), silent).inspection
    assert found.format == "lcl"
    done = uploads.import_files(as_argument(folder), silent)
    assert done.accounts["readings"] == 2023
    review = import_review.imported(done.accounts)
    assert review["account"]["rejected"] == 9
    assert [path.name for path in sorted(folder.iterdir())] == ["dataset", "files"]
    uploads.remove_files(folder)
    assert [path.name for path in folder.iterdir()] == ["dataset"]


def test_problems_name_files_as_the_analyst_does(tmp_path):
    folder = put(tmp_path / "u")
    (folder / uploads.FILES / "prose.csv").write_text("Dear customer\n" * 30)
    problem = uploads.look(as_argument(folder), silent).problem
    assert problem.startswith("prose.csv, line 1")
    (folder / uploads.FILES / "prose.csv").write_text("")
    assert uploads.look(as_argument(folder), silent).problem.startswith("prose.csv is empty")
    with pytest.raises(InputError, match=r"^prose.csv is empty"):
        uploads.import_files(as_argument(folder), silent)
    assert not (folder / uploads.DATASET).exists()


def test_a_question_that_only_all_rows_raise_is_asked_then(tmp_path):
    """A household that is read every hour stands behind the rows that are looked at."""
    folder = put(tmp_path / "u")
    half, hour = (
        pd.date_range("2010-01-01", periods=count, freq=freq).strftime("%Y-%m-%d %H:%M")
        for count, freq in ((101_000, "30min"), (200, "60min"))
    )
    rows = [f"a,{time},0.2" for time in half] + [f"b,{time},0.4" for time in hour]
    (folder / uploads.FILES / "a.csv").write_text("meter,time,kwh\n" + "\n".join(rows))
    assert uploads.look(as_argument(folder), silent).inspection.doubts == ()
    done = uploads.import_files(as_argument(folder), silent)
    assert done.accounts is None
    assert done.doubt.topic == "interval_minutes"
    assert "--" not in import_review.question(done.doubt)["problem"]
    answer = done.doubt.choices[0].options
    done = uploads.import_files(as_argument(folder, **answer), silent)
    assert done.accounts["rejected_by_reason"] == {"other interval": 200}


def test_readings_that_contradict_each_other_are_asked_about_before_the_import(tmp_path):
    folder = put(tmp_path / "u")
    rows = [f"a,2024-01-{1 + k // 48:02d},{k % 48 + 1},0.{k % 7}" for k in range(960)]
    (folder / uploads.FILES / "a.csv").write_text("meter,date,block,kwh\n" + "\n".join(rows))
    [doubt] = uploads.look(as_argument(folder), silent).inspection.doubts
    assert [choice.label for choice in doubt.choices] == ["block is the time of day"]
    answered = uploads.look(as_argument(folder, **doubt.choices[0].options), silent).inspection
    assert answered.doubts == ()
    assert answered.account["accepted"] == 960


@pytest.mark.parametrize("name", ["cer", *list(FORMATS)[-2:]])
def test_a_format_that_does_not_fit_is_a_problem_and_the_fields_stay(name, tmp_path):
    folder = put(tmp_path / "u", "nem12.csv")
    seen = uploads.look(as_argument(folder, format=name), silent)
    options = replace(IngestOptions(), format=name)
    review = import_review.review(seen.inspection, options, seen.problem)
    assert field(review, "format")["value"] == name
    assert seen.inspection or review["problem"]
