"""Errors of an ingest end when their cure is followed to the letter, and what comes in is right.

Every question (``UndecidedError``) is met by one of the cases; so is every error whose cure is
something to do with the file. Errors about damaged files and bombs are met by their own tests.
"""

import ast
import csv
import io
import json
import re
import shlex
import traceback
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from openpyxl import Workbook
from test_ingestion import assert_accounts
from test_samples import START, expected, found, kwh

from core.cli import COMMANDS, build_parser, main
from core.commands.ingest_options import said_options
from core.errors import InputError
from core.readings import Dataset, IngestOptions, UndecidedError, append, ingest

PACKAGE = Path(__file__).parents[3] / "core" / "readings"
BOTH = {"A1": 0, "B2": 1}
ISO = "%Y-%m-%d %H:%M"
COUNT = 144


def table(header: Iterable[str] | None, rows: Iterable[Iterable[object]], sign: str = ",") -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=sign, lineterminator="\n")
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def readings(style: str = ISO, value: str = "{:.3f}", factor: float = 1.0, minutes: int = 30):
    """Household, time and value of every reading that the formula gives."""
    for name, number in BOTH.items():
        for k in range(COUNT):
            time = START + timedelta(minutes=minutes * k)
            yield name, time.strftime(style), value.format(factor * kwh(number, k))


def wide(columns: dict[str, float], value: str = "{:.3f}"):
    """A row per time with both households, each times its factor."""
    for k in range(COUNT):
        time = (START + timedelta(minutes=30 * k)).strftime(ISO)
        factors = zip(range(len(columns)), columns.values(), strict=True)
        yield time, *(value.format(factor * kwh(number % 2, k)) for number, factor in factors)


def workbook(sheets: dict[str, Iterable[Iterable[object]]]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def two_sheets() -> bytes:
    rows = list(readings())
    halves = {"first": rows[:COUNT], "second": rows[COUNT:]}
    return workbook(
        {name: [["id", "time", "kWh"], *[(h, t, float(v)) for h, t, v in half]]
         for name, half in halves.items()}
    )  # fmt: skip


def registers_and_demand() -> str:
    rows = []
    for name, number in BOTH.items():
        total = 100.0
        for k in range(COUNT):
            total = total + kwh(number, k) if name == "A1" else kwh(number, k)
            rows.append((name, (START + timedelta(minutes=30 * k)).strftime(ISO), f"{total:.3f}"))
    return table(["id", "time", "kWh"], rows)


@dataclass(frozen=True)
class Question:
    """A file that can be read in several ways, and the answer that is right.

    ``answer`` is a part of the right choice's flags; ``given`` are flags from the start.
    """

    content: Callable[[], str | bytes]
    answer: str
    name: str = "readings.csv"
    given: str = ""
    truth: dict[str, dict] | None = None


def days_with_two_dates() -> str:
    rows = (
        [(START + timedelta(days=day)).strftime("%Y-%m-%d"), "2024-05-01", household]
        + [f"{kwh(number, day * 48 + k):.3f}" for k in range(48)]
        for household, number in BOTH.items()
        for day in range(COUNT // 48)
    )
    return table(["date", "billed", "household", *(f"HH{k + 1:02d}" for k in range(48))], rows)


def with_two_clocks() -> str:
    rows = ((n, t[:10], t[11:], t[11:], v) for n, t, v in readings())
    return table(["id", "date", "clock", "hhmm clock", "kwh"], rows)


def with_two_periods() -> str:
    rows = (
        (n, t[:10], int(t[11:13]) * 2 + int(t[14:]) // 30 + 1, k % 40 + 1, v)
        for k, (n, t, v) in enumerate(readings())
    )
    return table(["id", "date", "period", "slot", "kwh"], rows)


def without_clock() -> str:
    """The half-hour of the day is in a column whose name does not say so."""
    rows = ((n, t[:10], int(t[11:13]) * 2 + int(t[14:]) // 30 + 1, v) for n, t, v in readings())
    return table(["id", "date", "block", "kwh"], rows)


def without_household() -> str:
    rows = ((t, v, {"A1": 71, "B2": 72}[n]) for n, t, v in readings())
    return table(["time", "kwh", "flat"], rows)


def quarters_beside_halves() -> str:
    rows = [("A1", t, v) for n, t, v in readings() if n == "A1"]
    times = (START + timedelta(minutes=15 * k) for k in range(COUNT))
    rows += [("quarter", time.strftime(ISO), "0.1") for time in times]
    return table(["id", "time", "kwh"], rows)


def one_comma_each() -> str:
    """Values from 1,015 to 1,255: a thousand Wh, or one and a fraction."""
    rows = ((n, t, f"1,{round(float(v) * 100):03d}") for n, t, v in readings())
    return table(["id", "time", "Wh"], rows)


ONE = {"A1": expected(0)}
QUESTIONS = {
    "which sheets": Question(two_sheets, "--sheet first --sheet second", "book.xlsx"),
    "no such sheet": Question(two_sheets, "--sheet first", "book.xlsx", "--sheet frist", truth=ONE),
    "which column is the household": Question(
        lambda: table(["meter", "customer", "time", "kwh"],
                      ((n, f"c{i % 3}", t, v) for i, (n, t, v) in enumerate(readings()))),
        "--id-column meter",
    ),
    "a column that is not there": Question(
        lambda: table(["id", "time", "kwh", "kwh raw"], ((*row, "7") for row in readings())),
        "--value-column kwh", given="--value-column khw",
    ),
    "which column is the reading": Question(
        lambda: table(["id", "time", "kwh a", "kwh b"], ((*row, "0.5") for row in readings())),
        "--value-column 'kwh a'",
    ),
    "readings in parts": Question(
        lambda: table(["id", "time", "peak kwh", "offpeak kwh"],
                      ((n, t, "0", v) if k % 3 else (n, t, v, "0")
                       for k, (n, t, v) in enumerate(readings()))),
        "--value-column 'peak kwh' --add-column 'offpeak kwh'",
    ),
    "which column is the time": Question(
        lambda: table(["id", "time a", "time b", "kwh"],
                      ((n, t, shifted(t), v) for n, t, v in readings())),
        "--time-column 'time a'",
    ),
    "no column of times": Question(
        lambda: table(["id", "when", "kwh"], readings("%Y%m%d%H%M")), "--time-column when",
    ),
    "which clock": Question(with_two_clocks, "--time-column date --time-column clock"),
    "which period": Question(with_two_periods, "--time-column date --time-column period"),
    "which date of a day's row": Question(
        days_with_two_dates, "--time-column date", given="--format days",
    ),
    "how times are written": Question(
        lambda: table(["id", "time", "kwh"], readings("%Y_%m_%d_%H_%M")),
        "--time-format %Y_%m_%d_%H_%M", given="--time-column time",
    ),
    "day or month first": Question(
        lambda: table(["id", "time", "kwh"],
                      ((n, t, v) for k, (n, t, v) in enumerate(readings("%m/%d/%Y %H:%M"))
                       if k % COUNT < 48)),
        "--time-format '%m/%d/%Y %H:%M'",
        truth={name: expected(n, count=48) for name, n in BOTH.items()},
    ),
    "a year of two digits, first or last": Question(
        lambda: table(["id", "time", "kwh"], readings("%y-%m-%d %H:%M")),
        "--time-format '%y-%m-%d %H:%M'",
    ),
    "offsets that no place has": Question(
        lambda: table(["id", "time", "kwh"],
                      ((n, f"{t}+0{k % 2}:00" if k % 2 == 0 else f"{shifted(t)}+01:00", v)
                       for k, (n, t, v) in enumerate(readings()))),
        "--timezone UTC",
    ),
    "commas of thousands": Question(
        one_comma_each, "--decimal .",
        truth={name: {time: 1 + round(value * 100) / 1000 for time, value in expected(n).items()}
               for name, n in BOTH.items()},
    ),
    "commas of fractions": Question(
        lambda: one_comma_each().replace("Wh", "kWh"), "--decimal ,",
        truth={name: {time: 1 + round(value * 100) / 1000 for time, value in expected(n).items()}
               for name, n in BOTH.items()},
    ),
    "which unit by size": Question(
        lambda: table(["id", "time", "value"], readings(factor=1000, value="{:.0f}")),
        "--energy-unit Wh",
    ),
    "kW or W": Question(
        lambda: table(["id", "time", "power"], list(readings(factor=2))[:30]),
        "--energy-unit kW", truth={"A1": expected(0, count=30)},
    ),
    "a load may be power": Question(
        lambda: table(["id", "time", "load"], readings(factor=2)), "--energy-unit kW",
    ),
    "power and energy in cells": Question(
        lambda: table(["id", "time", "use"],
                      ((n, t, f"{v} {'kW' if k % 9 == 0 else 'kWh'}")
                       for k, (n, t, v) in enumerate(readings()))),
        "--energy-unit kWh",
    ),
    "columns in different units": Question(
        lambda: table(["time", "A1 (kWh)", "B2 (kW)"], wide({"A1": 1, "B2": 2})),
        "--ignore-column 'B2 (kW)'", truth=ONE,
    ),
    "two households of one name": Question(
        lambda: table(["time", "A1", "B2", "B2"], wide({"A1": 1, "B2": 1, "x": 1})),
        "--ignore-column 'B2 (2)'",
    ),
    "registers beside demand": Question(
        registers_and_demand, "--no-cumulative",
        truth={"B2": expected(1)},
    ),
    "two intervals": Question(quarters_beside_halves, "--interval 30", truth=ONE),
    "a day's periods or households": Question(
        lambda: table(["date", *(f"Meter {k}" for k in range(1, 25))],
                      ([(START + timedelta(days=d)).strftime("%Y-%m-%d")]
                       + [f"{kwh(0, 24 * d + k):.3f}" for k in range(24)] for d in range(6))),
        "--format days", "A1.csv",
        truth={"A1": {START + timedelta(hours=k): kwh(0, k) for k in range(COUNT)}},
    ),
    "the time of day in a column of another name": Question(
        without_clock, "--time-column date --time-column block"
    ),
    "the household in a column of another name": Question(
        without_household, "--id-column flat",
        truth={"71": expected(0), "72": expected(1)},
    ),
}  # fmt: skip


def shifted(time: str) -> str:
    """An hour later, as a clock one hour ahead shows it."""
    return str(datetime_of(time) + timedelta(hours=1))[:16]


def datetime_of(time: str):
    return type(START).strptime(time, ISO)


def choices_in(error: str) -> list[str]:
    """The flags that an error offers, as they are written."""
    cure = error.rpartition("choose with ")[2]
    if cure == error:
        cure = error.rpartition("say it as in ")[2]
    return re.split(r" or (?=--)", re.sub(r" and \d+ more$", "", cure))


def raised_at(error: BaseException) -> tuple[str, int]:
    """The statement that raised an error, in our package."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(PACKAGE) in f.filename]
    return str(Path(frames[-1].filename).relative_to(PACKAGE)), frames[-1].lineno


met: dict[str, set[tuple[str, int]]] = {"questions": set(), "errors": set()}


def ask(sources: list[Path], to: Path, flags: str) -> str:
    """The text of the question that an ingest with these flags raises."""
    argv = ["ingest", *map(str, sources), "--to", str(to), *shlex.split(flags)]
    said = said_options(build_parser(COMMANDS, argv).parse_args(argv))
    with pytest.raises(UndecidedError) as raised:
        ingest(sources, to, options=IngestOptions(**said))
    met["questions"].add(raised_at(raised.value))
    assert "--" not in raised.value.problem
    assert all("--" not in choice.label for choice in raised.value.choices)
    assert not to.exists()
    return str(raised.value)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_answer_to_a_question_leads_to_the_right_readings(name, tmp_path, capsys):
    case = QUESTIONS[name]
    source, to = tmp_path / case.name, tmp_path / "dataset"
    content = case.content()
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    question = ask([source], to, case.given)
    offered = choices_in(question)
    if "say it as in" not in question:
        assert case.answer in offered, offered
        # No answer leads back to the same question.
        for flags in offered:
            status = main(["ingest", str(source), "--to", str(to), *answered(case.given, flags)])
            said = capsys.readouterr().err
            assert status == 0 or question.partition(";")[0] not in said
    assert main(["ingest", str(source), "--to", str(to), *answered(case.given, case.answer)]) == 0
    dataset = Dataset.open(to)
    assert_accounts(dataset)
    truth = case.truth or {each: expected(number) for each, number in BOTH.items()}
    for household, readings in truth.items():
        assert found(dataset, household) == pytest.approx(readings, abs=1e-9)


def answered(given: str, answer: str) -> list[str]:
    """The flags of the second attempt: what was asked for replaces what was said before."""
    first = answer.split()[0]
    return shlex.split(answer if first in given else f"{given} {answer}")


# Errors whose cure is something to do: what the file is, what a person does who follows the cure,
# and a part of it that the error has to say.


def halves(rows: Iterable[tuple[str, str, str]], minutes: int) -> dict[str, dict]:
    """The sums by half-hour of readings that come every few minutes."""
    sums: dict[str, dict] = {}
    for name, time, value in rows:
        at = datetime_of(time)
        at -= timedelta(minutes=at.minute % 30)
        sums.setdefault(name, {}).setdefault(at, 0.0)
        sums[name][at] += float(value)
    return sums


def right(folder: Path) -> Path:
    """A file as it should be."""
    path = folder / "right.csv"
    path.write_text(table(["id", "time", "kwh"], readings()))
    return path


def as_csv(folder: Path, rows: Iterable[Iterable[object]], header: Iterable[str]) -> Path:
    path = folder / "mended.csv"
    path.write_text(table(header, rows))
    return path


def seven_minutes():
    return list(readings(minutes=7))


def seconds():
    return [(n, t + f":{20 * (k % 3):02d}", v) for k, (n, t, v) in enumerate(
        (n, (START + timedelta(minutes=k // 3)).strftime(ISO), "0.001")
        for n in BOTH for k in range(COUNT))]  # fmt: skip


def fuels():
    return [(*row[:2], fuel, row[2] if fuel == "electricity" else "9.5")
            for row in readings() for fuel in ("gas", "electricity")]  # fmt: skip


def zipped(content: dict[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return target.getvalue()


LONG = ["id", "time", "kwh"]
TEXT = table(LONG, readings())
PERIODS = [(n, t[:10], int(t[11:13]) // 3 + 1, v) for n, t, v in readings()]
NESTED = {"a": {"b": [1, 2]}, "c": {"d": 5}}
# name: (file's name, content, flags, what is said, what is done about it)
ERRORS: dict[str, tuple] = {
    "gas beside electricity": (
        "a.csv", lambda: table(["id", "time", "fuel", "kwh"], fuels()), "",
        "keep those of one of them",
        lambda d: as_csv(d, ((n, t, v) for n, t, f, v in fuels() if f == "electricity"), LONG),
    ),
    "readings that cannot be told apart": (
        "a.csv", lambda: table(LONG, [(n, t, float(v) + k) for n, t, v in readings()
                                      for k in range(2)]), "",
        "name a file that tells its readings apart", right,
    ),
    "seven minutes": (
        "a.csv", lambda: table(LONG, seven_minutes()), "", "add them up to 15, 30 or 60 minutes",
        lambda d: as_csv(d, ((n, t, v) for n, each in halves(seven_minutes(), 7).items()
                             for t, v in each.items()), LONG),
    ),
    "every 20 seconds": (
        "a.csv", lambda: table(LONG, seconds()), "", "add them up to 1, 5, 15, 30 or 60 minutes",
        right,
    ),
    "one column": ("a.csv", lambda: "kwh\n" + "1\n" * 50, "", "separated by a comma", right),
    "a header alone": ("a.csv", lambda: "id,time,kwh\n", "", "name a file with readings", right),
    "a time column and nothing below": (
        "a.csv", lambda: "id,time,kwh\n", "--time-column time", "name a file with readings", right,
    ),
    "no numbers": (
        "a.csv", lambda: table(["id", "time", "note"], ((n, t, "x") for n, t, _ in readings())), "",
        "name a file with readings", right,
    ),
    "a wide table without households": (
        "a.csv", lambda: table(["time", "temperature"], ((t, v) for _, t, v in readings())),
        "--format wide", "name a table with one column per household", right,
    ),
    "eight periods of a day": (
        "a.csv", lambda: table(["id", "date", "period", "kwh"], PERIODS), "",
        "write the times of day instead", right,
    ),
    "no usable reading": (
        "a.csv", lambda: table(LONG, ((n, t, "-1") for n, t, _ in readings())), "",
        "name the columns or the format", right,
    ),
    "no file of tables": ("pictures", None, "", "name CSV, text, Excel or Parquet", right),
    "an old workbook": (
        "a.xls", lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "", "save it as .xlsx or CSV", right,
    ),
    "a workbook without readings": (
        "a.xlsx", lambda: workbook({"one": [["a", "b"]], "two": [["c", "d"]]}), "",
        "name a workbook with readings", right,
    ),
    "a damaged workbook": (
        "a.xlsx", lambda: zipped({"xl/workbook.xml": "<x"}), "", "save it anew, or as CSV", right,
    ),
    "an empty archive": ("a.zip", lambda: zipped({}), "", "name a file with readings", right),
    "an archive in an archive": (
        "a.zip", lambda: zipped({"b.zip": zipped({"c.csv": TEXT})}), "", "unpack it yourself",
        lambda d: unpacked(d / "a.zip", d),
    ),
    "an empty member": ("a.zip", lambda: zipped({"b.csv": ""}), "", "name a file", right),
    "an empty file": ("a.csv", lambda: "", "", "name a file with readings", right),
    "no such file": ("a.csv", None, "", "check the name", right),
    "a text that is UTF-16 by half": (
        "a.txt", lambda: TEXT.encode("utf-16")[:3001] + b"\x00\xd8" * 30, "",
        "save it as CSV in UTF-8", right,
    ),
    "nested JSON": (
        "a.json", lambda: json.dumps([NESTED] * 9), "", "or a CSV file", right,
    ),
    "damaged JSON": ("a.json", lambda: '[{"id": 1, ', "", "fetch it again", right),
    "a line that never ends its quotes": (
        "a.csv", lambda: 'id,time,kwh\n"' + "x" * 9_000_000, "", "name a file with readings", right,
    ),
}  # fmt: skip
for _format in ("cer", "lcl", "days", "across"):
    ERRORS[f"not {_format}"] = (
        "a.csv", lambda: TEXT, f"--format {_format}", "leave the format out", lambda d: d / "a.csv",
    )  # fmt: skip


def unpacked(path: Path, folder: Path) -> Path:
    """Unpack an archive in an archive."""
    with zipfile.ZipFile(path) as outer, zipfile.ZipFile(io.BytesIO(outer.read("b.zip"))) as inner:
        return Path(inner.extract("c.csv", folder))


@pytest.mark.parametrize("name", ERRORS)
def test_what_an_error_asks_for_is_enough(name, tmp_path, capsys):
    file, content, flags, said, mend = ERRORS[name]
    source, to = tmp_path / file, tmp_path / "dataset"
    if content is not None:
        made = content()
        source.write_bytes(made if isinstance(made, bytes) else made.encode())
    elif file == "pictures":
        source.mkdir()
        (source / "a.png").write_bytes(b"png")
    command = ["ingest", str(source), "--to", str(to)]
    assert main([*command, *shlex.split(flags)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert file in error
    assert not to.exists()
    mended = mend(tmp_path)
    assert main(["ingest", str(mended), "--to", str(to)]) == 0
    dataset = Dataset.open(to)
    assert_accounts(dataset)
    if name == "seven minutes":
        for household, truth in halves(seven_minutes(), 7).items():
            assert found(dataset, household) == pytest.approx(truth)
    else:
        for household, number in BOTH.items():
            assert found(dataset, household) == pytest.approx(expected(number))


@pytest.mark.parametrize(
    ("flags", "said", "instead"),
    [
        ("--interval 7", "give one such as 15, 30 or 60", "--interval 30"),
        ("--timezone Nowhere/Else", "such as Europe/Dublin", "--timezone Europe/Dublin"),
        ("--maximum-kw 0", "over 0 and at most", "--maximum-kw 100"),
        ("--maximum-kw nan", "over 0 and at most", "--maximum-kw 100"),
        ("--maximum-kw 1e30", "over 0 and at most", "--maximum-kw 100"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_named_with_a_right_one(flags, said, instead, tmp_path, capsys):
    command = ["ingest", str(right(tmp_path)), "--to", str(tmp_path / "d")]
    assert main([*command, *shlex.split(flags)]) == 2
    assert said in capsys.readouterr().err
    assert main([*command, *shlex.split(instead)]) == 0
    assert found(Dataset.open(tmp_path / "d"), "A1") == expected(0)


@pytest.mark.parametrize("others", ["no unit", "power"])
def test_files_of_two_units_are_read_one_after_the_other(others, tmp_path):
    """As the error says: a dataset of the one kind, and the others appended."""
    factor, header = (1000, "Value") if others == "no unit" else (2, "kW")
    for name, number in BOTH.items():
        times = (1, "kWh") if name == "A1" else (factor, header)
        rows = ((t, f"{times[0] * float(v):.3f}") for n, t, v in readings() if n == name)
        (tmp_path / f"{name}.csv").write_text(table(["time", times[1]], rows))
        assert number in (0, 1)
    files = [tmp_path / "A1.csv", tmp_path / "B2.csv"]
    with pytest.raises(InputError, match="and append the others to it") as raised:
        ingest(files, tmp_path / "d")
    met["errors"].add(raised_at(raised.value))
    ingest(files[:1], tmp_path / "d")
    with pytest.raises(UndecidedError) as asked:
        append(tmp_path / "d", files[1:])
    met["questions"].add(raised_at(asked.value))
    right_choice = {"no unit": "Wh", "power": "kW"}[others]
    [answer] = [c for c in choices_in(str(asked.value)) if c == f"--energy-unit {right_choice}"]
    assert main(["append", str(tmp_path / "d"), str(files[1]), *shlex.split(answer)]) == 0
    dataset = Dataset.open(tmp_path / "d")
    for name, number in BOTH.items():
        assert found(dataset, name) == pytest.approx(expected(number))


def test_a_register_is_appended_where_the_user_says_so(tmp_path):
    ingest([right(tmp_path)], tmp_path / "d")
    total, rows = 50.0, []
    for k in range(COUNT + 1):
        rows.append(("C3", (START + timedelta(minutes=30 * k)).strftime(ISO), f"{total:.3f}"))
        total += kwh(0, k)
    source = as_csv(tmp_path, rows, LONG)
    with pytest.raises(UndecidedError, match="looks like a running register") as raised:
        append(tmp_path / "d", [source])
    met["questions"].add(raised_at(raised.value))
    [answer] = [c for c in choices_in(str(raised.value)) if c == "--cumulative"]
    assert main(["append", str(tmp_path / "d"), str(source), answer]) == 0
    assert found(Dataset.open(tmp_path / "d"), "C3") == pytest.approx(expected(0))


def test_files_of_two_formats_can_be_told_to_be_one(tmp_path):
    (tmp_path / "a.csv").write_text(table(["time", "A1"], wide({"A1": 1})))
    rows = ((t, v) for n, t, v in readings() if n == "B2")
    (tmp_path / "B2.csv").write_text(table(["time", "kwh"], rows))
    files = [tmp_path / "a.csv", tmp_path / "B2.csv"]
    question = ask(files, tmp_path / "d", "")
    assert choices_in(question) == ["--format wide", "--format long"]
    for answer in choices_in(question):
        main(["ingest", *map(str, files), "--to", str(tmp_path / "d"), *answer.split()])
    # They are two datasets; each by itself comes in.
    for file, name, number in ((files[0], "A1", 0), (files[1], "B2", 1)):
        assert found(ingest([file], tmp_path / "d"), name) == expected(number)


def test_export_is_read_on_request(tmp_path):
    rows = [(n, t, v, f"{float(v) / 2:.4f}") for n, t, v in readings()]
    source = as_csv(tmp_path, rows, ["id", "time", "Import kWh", "Export kWh"])
    assert found(ingest([source], tmp_path / "d"), "A1") == expected(0)
    assert main(["ingest", str(source), "--to", str(tmp_path / "d"), "--flow", "export"]) == 0
    half = {time: round(value / 2, 4) for time, value in expected(0).items()}
    assert found(Dataset.open(tmp_path / "d"), "A1") == pytest.approx(half)


def test_every_question_is_asked_by_one_of_the_cases():
    """Runs last: a question that no case meets has a cure that nobody has followed."""
    if len(met["questions"]) < 20:
        pytest.skip("not all cases were run")
    makers = {"UndecidedError", "choose_column", "_ask_for_unit"}
    written = {
        (str(path.relative_to(PACKAGE)), node.lineno)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and getattr(node.exc.func, "id", "") in makers
    }
    assert written
    assert written - met["questions"] == set()
