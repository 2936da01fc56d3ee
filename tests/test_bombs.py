"""Small files that would fill the machine: refused soon, within little memory."""

import gzip
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import InputError
from core.readings.sources import Source

ROOT = Path(__file__).parents[1]

# Reports the seconds and the megabytes that an ingest takes beyond those of its imports.
PROGRAM = """
import json, resource, sys, time
from pathlib import Path
from core.errors import InputError
from core.readings import ingest
sample = Path(sys.argv[1]).with_name("idle.csv")
rows = [f"a,2020-01-01 {h:02d}:{m:02d},1" for h in range(24) for m in (0, 30)]
sample.write_text("id,time,kwh\\n" + "\\n".join(rows))
ingest([sample], sample.with_name("idle"))
idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.monotonic()
try:
    error = str(ingest([sys.argv[1]], sys.argv[2]).health["rejected_by_reason"])
except InputError as refused:
    error = str(refused)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([error, time.monotonic() - started, (peak - idle) / 1024]))
"""


def parquet_of_many_rows(path: Path) -> None:
    """A billion readings in some kilobytes: run lengths and compression upon compression."""
    table = pa.table(
        {
            "id": pa.DictionaryArray.from_arrays(np.zeros(10**6, np.int32), ["a"]),
            "time": pa.array(np.zeros(10**6, "datetime64[us]")),
            "kwh": np.zeros(10**6),
        }
    )
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(100):
            writer.write_table(table, row_group_size=10**6)


def parquet_of_a_long_text(path: Path) -> None:
    text = "a" * 10**8
    pq.write_table(
        pa.table({"id": [text, text], "time": ["2020-01-01"] * 2, "kwh": [1.0, 2.0]}),
        path,
        compression="zstd",
    )


def parquet_of_many_columns(path: Path) -> None:
    names = [f"c{number}" for number in range(60_000)]
    pq.write_table(pa.table([pa.array([1.0])] * len(names), names=names), path)


def zip_of_zeros(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.csv", bytes(2 * 10**8))


def gzip_of_zeros(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(20):
            file.write(b"0" * 10**7)


def gzip_of_one_line_again_and_again(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"id,time,kwh\n")
        for _ in range(20):
            file.write(b"a,2020-01-01 00:00,1\n" * 500_000)


def a_line_of_100_megabytes(path: Path) -> None:
    a_long_line(path, megabytes=100)


def a_long_line(path: Path, megabytes: int) -> None:
    with path.open("wb") as file:
        file.write(b"id,time,kwh\n")
        for hour in range(24):
            file.write(b"a,2020-01-01 %02d:00,1\na,2020-01-01 %02d:30,1\n" % (hour, hour))
        file.write(b"a,2020-01-02 00:00,")
        for _ in range(megabytes):
            file.write(b"1" * 10**6)


def a_first_line_of_100_megabytes(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 10**6)


def ten_million_columns(path: Path) -> None:
    with path.open("wb") as file:
        for start in range(0, 10**7, 10**5):
            names = (f"c{number}" for number in range(start, start + 10**5))
            file.write(",".join(names).encode() + b",")
        file.write(b"end\n" + b"1," * 10**7 + b"1\n")


def a_hundred_thousand_columns(path: Path) -> None:
    """Few enough bytes for a line, and far more than there are meters."""
    names = ",".join(f"c{number}" for number in range(10**5))
    path.write_text(f"time,{names}\n2020-01-01 00:00{',1' * 10**5}\n")


BOMBS = {
    "rows.parquet": parquet_of_many_rows,
    "text.parquet": parquet_of_a_long_text,
    "columns.parquet": parquet_of_many_columns,
    "zeros.zip": zip_of_zeros,
    "zeros.csv.gz": gzip_of_zeros,
    "again.csv.gz": gzip_of_one_line_again_and_again,
    "line.csv": a_line_of_100_megabytes,
    "first-line.csv": a_first_line_of_100_megabytes,
    "ten-million.csv": ten_million_columns,
    "hundred-thousand.csv": a_hundred_thousand_columns,
}


def ingest_apart(file: Path) -> tuple[str, float, float]:
    """Ingest in a process of its own: the error or what was rejected, seconds, megabytes."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, file, file.with_name("dataset")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said, seconds, megabytes = json.loads(done.stdout)
    print(f"{file.name}: {seconds:.2f} s, {megabytes:.0f} MB: {said}")
    return said, seconds, megabytes


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_soon_and_within_little_memory(name, tmp_path):
    BOMBS[name](tmp_path / name)
    error, seconds, megabytes = ingest_apart(tmp_path / name)
    assert name in error
    assert len(error) < 500
    assert megabytes < 200
    assert seconds < 5  # what is promised; it takes a tenth of it
    assert not (tmp_path / "dataset").exists()


def test_a_line_of_some_megabytes_is_rejected_and_the_others_are_not(tmp_path):
    a_long_line(tmp_path / "line.csv", megabytes=10)
    rejected, seconds, megabytes = ingest_apart(tmp_path / "line.csv")
    assert rejected == "{'malformed line': 1}"
    assert megabytes < 200
    assert seconds < 5


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("readings", [0, 1_500_000])
def test_a_line_that_would_get_lost_is_found_wherever_it_is(packed, readings, tmp_path):
    file = tmp_path / "readings.csv"
    with file.open("wb") as text:
        text.write(b"id,time,kwh\n" + b"a,2020-01-01 00:00,1\n" * readings)
        text.write(random.Random(1).randbytes(50 << 20).replace(b"\n", b"x"))
        text.write(b"\na,2020-01-01 00:00,1\n" * 1000)
    if packed:
        file.with_suffix(".gz").write_bytes(gzip.compress(file.read_bytes(), 1))
        file = file.with_suffix(".gz")
    with pytest.raises(InputError, match="has a line of over 32 MB"):
        Source(file, file.name).check_lines()


def test_lines_of_any_usual_length_are_no_problem(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_bytes((b"x" * (30 << 20) + b"\n") * 4)
    Source(file, file.name).check_lines()
