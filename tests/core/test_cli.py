"""The command line as people and machines meet it: results, errors, nothing left behind."""

import json
import os
import resource
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.cli import main

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


@pytest.fixture
def wattfold(capsys):
    """Run the command; return status, standard output and standard error."""

    def run(*arguments):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        output = capsys.readouterr()
        return status, output.out, output.err

    return run


def test_ingest_and_info_agree_in_json_and_in_words(wattfold, tmp_path):
    target = tmp_path / "dataset"
    status, out, err = wattfold("ingest", SAMPLES / "lcl.csv", "--to", target, "--json")
    assert (status, err) == (0, "")
    accounts = json.loads(out)
    assert accounts["readings"] == 2023
    assert accounts["accepted"] + accounts["collapsed"] + accounts["rejected"] == 2023
    assert accounts["interval_minutes"] == 30
    assert accounts["first"] == "2012-12-10T00:00:00"
    assert sum(accounts["rejected_by_reason"].values()) == accounts["rejected"] == 9
    status, out, _ = wattfold("info", target, "--json", "--verify")
    found = json.loads(out)
    assert found.items() >= accounts.items()
    status, out, _ = wattfold("info", target)
    assert status == 0
    assert "2,023 = 2,010 accepted + 4 collapsed + 9 rejected" in out
    assert "line 302" in out


def bad_inputs(folder: Path):
    """Yield a name, the arguments of ingest, and what the message must say."""

    def file(name: str, content: str | bytes) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    times = pd.date_range("2020-01-01", periods=100, freq="30min").astype(str)
    table = [f"h,{time},1" for time in times]
    whole = folder / "whole.parquet"
    pq.write_table(pa.table({"id": ["a"], "time": ["2020-01-01"], "kwh": [1.0]}), whole)
    yield "empty", [file("empty.csv", "")], "empty.csv is empty"
    yield "blank", [file("blank.csv", "\n\n \n")], "blank.csv is empty"
    yield "header only", [file("header.csv", "id,time,kwh\n")], "header.csv"
    yield "truncated", [file("cut.parquet", whole.read_bytes()[:-20])], "cut.parquet is no whole"
    yield "not a table", [file("a.png", b"\x89PNG\r\n\0\0\0")], "a.png is no text table"
    yield (
        "prose",
        [file("a.txt", "Dear customer\nyour meter\nis broken\n")],
        "a.txt, line 1: only one",
    )
    yield (
        "no numbers",
        [file("words.csv", "id,time,kwh\n" + "\n".join(f"h,{t},many" for t in times))],
        "words.csv: no column of numbers",
    )
    yield "one column", [file("one.csv", "kwh\n1\n2\n")], "one.csv, line 1: only one column"
    yield (
        "two ids",
        [file("two.csv", "meter,house,time,kwh\n" + "\n".join(f"1,{r}" for r in table))],
        "'meter', 'house'; choose with --id-column meter",
    )
    yield (
        "two values",
        [file("values.csv", "id,time,in_kwh,out_kwh\n" + "\n".join(f"{r},1" for r in table))],
        "'in_kwh', 'out_kwh'; choose with --value-column",
    )
    yield (
        "no times",
        [file("times.csv", "id,kwh\na,1\nb,2\n")],
        "no column of times among 'id', 'kwh'; choose with --time-column",
    )
    yield "no such column", [SAMPLES / "lcl.csv", "--format", "long", "--id-column", "x"], "'x'"
    (folder / "empty folder").mkdir()
    yield "a directory", [folder / "empty folder"], "no table of readings"
    yield "a missing file", [folder / "none.csv"], "none.csv does not exist"
    yield (
        "two formats",
        [SAMPLES / "lcl.csv", SAMPLES / "cer.txt"],
        "lcl.csv looks like lcl and cer.txt like cer",
    )
    yield "wrong format", [SAMPLES / "lcl.csv", "--format", "cer"], "lcl.csv, line 1"
    yield "wrong zone", [SAMPLES / "lcl.csv", "--timezone", "Mars/Base"], "no time zone 'Mars/Base'"
    yield "no metadata", [SAMPLES / "lcl.csv", "--metadata", folder / "m.csv"], "m.csv is no file"
    yield "damaged zip", [file("a.zip", (SAMPLES / "lcl-blocks.zip").read_bytes()[300:])], "a.zip"
    yield "damaged gzip", [file("a.gz", b"\x1f\x8b\x08\x00 no gzip at all")], "a.gz cannot be"
    bomb = folder / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.csv", b"0" * 50_000_000)
    yield "a zip bomb", [bomb], "bomb.zip unpacks to 50 MB"
    yield "a huge line", [file("line.csv", "id,time,kwh\n" + "1," * 3_000_000)], "line.csv"


NAMES = (
    "empty", "blank", "header only", "truncated", "not a table", "prose", "no numbers",
    "one column", "two ids", "two values", "no times", "no such column", "a directory",
    "a missing file", "two formats", "wrong format", "wrong zone", "no metadata", "damaged zip",
    "damaged gzip", "a zip bomb", "a huge line",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_bad_input_is_one_line_and_leaves_nothing(name, wattfold, tmp_path):
    (tmp_path / "in").mkdir()
    cases = {case: (arguments, words) for case, arguments, words in bad_inputs(tmp_path / "in")}
    assert set(cases) == set(NAMES)
    arguments, words = cases[name]
    (tmp_path / "out").mkdir()
    status, out, err = wattfold("ingest", *arguments, "--to", tmp_path / "out" / "dataset")
    assert status == 2, err
    assert out == ""
    assert err.startswith("wattfold: ")
    assert err.count("\n") == 1
    assert words in err
    assert list((tmp_path / "out").iterdir()) == []


def test_a_failing_ingest_keeps_the_dataset_that_was_there(wattfold, tmp_path):
    target = tmp_path / "dataset"
    assert wattfold("ingest", SAMPLES / "sgsc.csv", "--to", target)[0] == 0
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    bad = tmp_path / "bad.csv"
    bad.write_text("id,time,kwh\na,never,1\n")
    assert wattfold("ingest", bad, "--to", target)[0] == 2
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    assert wattfold("ingest", SAMPLES / "wide.csv", "--to", target)[0] == 0
    assert {path.name for path in tmp_path.iterdir()} == {"dataset", "bad.csv"}


def test_what_is_no_dataset_is_never_replaced(wattfold, tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    status, _, err = wattfold("ingest", SAMPLES / "sgsc.csv", "--to", tmp_path)
    assert status == 2
    assert "exists and is no dataset" in err
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_no_permission_is_said(wattfold, tmp_path, monkeypatch):
    # The tests may run as root, to whom nothing is forbidden.
    def forbidden(self, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", forbidden)
    status, _, err = wattfold("ingest", SAMPLES / "lcl.csv", "--to", tmp_path / "d")
    assert status == 2
    assert "lcl.csv cannot be read: Permission denied; check its permissions" in err


def limit_file_size():
    """Make the disk look full after 4 kB in one file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, 4_000))


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-c", "import sys; from core.cli import main; sys.exit(main())"]
    arguments = ["ingest", str(SAMPLES / "lcl.csv"), "--to", str(tmp_path / "dataset")]
    done = subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        preexec_fn=limit_file_size,
        env={**os.environ, "PYTHONPATH": str(SAMPLES.parents[1])},
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: (path / "manifest.json").unlink(), "has no manifest.json"),
        (lambda path: (path / "manifest.json").write_text("{"), "manifest.json cannot be read"),
        (lambda path: (path / "manifest.json").write_text("{}"), "is incomplete"),
        (lambda path: (path / "readings.parquet").unlink(), "readings.parquet is missing"),
        (lambda path: (path / "readings.parquet").write_bytes(b"PAR1"), "has 4 bytes where"),
    ],
)
def test_a_damaged_dataset_is_told(damage, words, wattfold, tmp_path):
    target = tmp_path / "dataset"
    wattfold("ingest", SAMPLES / "sgsc.csv", "--to", target)
    damage(target)
    status, _, err = wattfold("info", target)
    assert status == 2
    assert words in err


def test_a_changed_byte_is_found_by_verify(wattfold, tmp_path):
    target = tmp_path / "dataset"
    wattfold("ingest", SAMPLES / "sgsc.csv", "--to", target)
    content = bytearray((target / "readings.parquet").read_bytes())
    content[1000] ^= 1
    (target / "readings.parquet").write_bytes(content)
    status, _, err = wattfold("info", target, "--verify")
    assert status == 2
    assert "readings.parquet does not match its checksum" in err


@pytest.mark.parametrize("arguments", [[], ["fly"], ["ingest"], ["info", "a", "b"], ["info", "-x"]])
def test_wrong_arguments_are_one_line(arguments, wattfold):
    status, out, err = wattfold(*arguments)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1


def test_info_of_nothing(wattfold, tmp_path):
    status, _, err = wattfold("info", tmp_path / "none")
    assert status == 2
    assert "there is no dataset at" in err
