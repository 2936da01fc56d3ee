"""Small files that would fill the machine: refused before much is read, within little memory."""

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
from core.readings import ingest
from core.readings.bomb_guard import MAXIMUM_UNPACKED_BYTES, Growth, open_gzip
from core.readings.options import IngestOptions
from core.readings.parquet_precheck import unpacked_bytes
from core.readings.table_file import TableFile

ROOT = Path(__file__).parents[3]
SAMPLE_WORKBOOK = ROOT / "data" / "samples" / "workbook.xlsx"
# Imports everything once. For each file that it is told it forks a process that ingests the file
# and reports the seconds that this takes, and the megabytes of memory and those read and written,
# beyond those of a process that has ingested before.
FORKING = """
import json, os, sys, time
from pathlib import Path
from core.errors import InputError
from core.peak_memory import forget_peak_memory, peak_memory_mb
from core.readings import ingest
def megabytes():
    lines = Path("/proc/self/io").read_text().splitlines()
    read, written = (int(line.split()[1]) / 1e6 for line in lines[:2])
    return peak_memory_mb(), read, written
def report(file):
    sample = file.with_name("idle.csv")
    rows = [f"a,2020-01-01 {h:02d}:{m:02d},1" for h in range(24) for m in (0, 30)]
    sample.write_text("id,time,kwh\\n" + "\\n".join(rows))
    ingest([sample], sample.with_name("idle"))
    forget_peak_memory()
    idle = megabytes()
    started = time.monotonic()
    try:
        said = str(ingest([file], file.with_name("dataset")).health["rejected_by_reason"])
    except InputError as refused:
        said = str(refused)
    seconds = time.monotonic() - started
    return said, seconds, *(after - before for after, before in zip(megabytes(), idle))
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print(json.dumps(report(Path(line.rstrip()))), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("it was killed, or failed")
"""


def parquet_of_many_rows(path: Path) -> None:
    """Twenty million readings in some kilobytes: run lengths and compression upon compression."""
    table = pa.table(
        {
            "id": pa.DictionaryArray.from_arrays(np.zeros(10**6, np.int32), ["a"]),
            "time": pa.array(np.zeros(10**6, "datetime64[us]")),
            "kwh": np.zeros(10**6),
        }
    )
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(20):
            writer.write_table(table, row_group_size=10**6)


def parquet_of_a_long_text(path: Path) -> None:
    text = "a" * 10**8
    pq.write_table(
        pa.table({"id": [text, text], "time": ["2020-01-01"] * 2, "kwh": [1.0, 2.0]}),
        path,
        compression="zstd",
    )


def parquet_of_one_text_again_and_again(path: Path) -> None:
    """A megabyte that a dictionary holds once and 100,000 rows refer to."""
    rows = 100_000
    ids = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["a" * 10**6])
    times = np.datetime64("2020-01-01", "us") + np.arange(rows) * np.timedelta64(30, "m")
    values = np.random.default_rng(1).random(rows)
    pq.write_table(pa.table({"id": ids, "time": times, "kwh": values}), path, store_schema=False)


def parquet_that_lies_about_its_pages(path: Path) -> None:
    """A text of 500 MB, and a description of the file that calls it a kilobyte."""
    pq.write_table(
        pa.table({"id": ["a" * (5 * 10**8)], "time": ["2020-01-01"], "kwh": [1.0]}),
        path,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    content, group = path.read_bytes(), pq.ParquetFile(path).metadata.row_group(0)
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    footer = content[start:]
    for size in (group.total_byte_size, group.column(0).total_uncompressed_size):
        said = as_thrift(size, length=5)
        assert said in footer
        footer = footer.replace(said, as_thrift(1000, length=5))
    path.write_bytes(content[:start] + footer)
    assert pq.ParquetFile(path).metadata.row_group(0).total_byte_size == 1000


def as_thrift(number: int, *, length: int) -> bytes:
    """A number as the compact protocol has it: twice it, seven bits a byte, the lowest first."""
    bits = [2 * number >> 7 * place & 0x7F for place in range(length)]
    return bytes([byte | 0x80 for byte in bits[:-1]] + bits[-1:])


def parquet_of_many_columns(path: Path) -> None:
    names = [f"c{number}" for number in range(60_000)]
    pq.write_table(pa.table([pa.array([1.0])] * len(names), names=names), path)


def zip_of_zeros(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.csv", bytes(2 * 10**8))


def zip_of_one_member_again_and_again(path: Path) -> None:
    """Members that share what they are packed in; each by itself grows as readings do."""
    lines = b"".join(
        b"a,2020-01-%02d %02d:%02d,1\n" % (day, hour, minute)
        for day in range(1, 32)
        for hour in range(24)
        for minute in range(60)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"id,time,kwh\n" + lines)
        archive.filelist *= 100


def gzip_of_zeros(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(20):
            file.write(b"0" * 10**7)


def gzip_of_one_line_again_and_again(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"id,time,kwh\n")
        for _ in range(20):
            file.write(b"a,2020-01-01 00:00,1\n" * 500_000)


def gzip_that_begins_as_readings(path: Path, times: int = 50) -> None:
    chance = random.Random(1)
    lines = b"".join(b"a,2020-01-01 00:00,%f\n" % chance.random() for _ in range(1_000_000))
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"id,time,kwh\n" + lines)
    with gzip.open(path, "ab", compresslevel=9) as file:
        for _ in range(times):
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


def workbook_with(path: Path, parts: dict[str, bytes]) -> None:
    """The sample workbook, of which some parts are others."""
    with (
        zipfile.ZipFile(SAMPLE_WORKBOOK) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new,
    ):
        for name in dict.fromkeys([*old.namelist(), *parts]):
            new.writestr(name, parts.get(name) or old.read(name))


def workbook_of_entities(path: Path) -> None:
    """A thousand million laughs."""
    entities = "".join(f'<!ENTITY l{n} "{"".join([f"&l{n - 1};"] * 10)}">' for n in range(1, 10))
    cell = "<row><c t='inlineStr'><is><t>&l9;</t></is></c><c><v>1</v></c></row>"
    sheet = (
        f'<?xml version="1.0"?><!DOCTYPE worksheet [<!ENTITY l0 "laugh">{entities}]>'
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{cell * 9}</sheetData></worksheet>"
    )
    workbook_with(path, {f"xl/worksheets/sheet{n}.xml": sheet.encode() for n in (1, 2)})


def workbook_of_many_rows(path: Path) -> None:
    """Rows that pack well, in a sheet that unpacks to 300 MB."""
    row = b"<row><c><v>1</v></c><c><v>2</v></c></row>"
    sheet = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        + row * (300_000_000 // len(row))
        + b"</sheetData></worksheet>"
    )
    names = {f"xl/worksheets/sheet{number}.xml": sheet for number in (1, 2)}
    workbook_with(path, names)


def workbook_of_one_text_again_and_again(path: Path) -> None:
    """A text of 30,000 signs that 4,000 cells refer to."""
    space = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    strings = b"<sst " + space + b"><si><t>" + b"x" * 30_000 + b"</t></si></sst>"
    chance = random.Random(1)
    cells = b"".join(
        b'<row><c t="inlineStr"><is><t>2020-01-01 00:00</t></is></c><c><v>%f</v></c>'
        b'<c t="s"><v>0</v></c></row>' % chance.random()
        for _ in range(4_000)
    )
    sheet = b"<worksheet " + space + b"><sheetData>" + cells + b"</sheetData></worksheet>"
    parts = {"xl/worksheets/sheet2.xml": sheet}
    # The sample has no shared texts, so its list of parts does not name them.
    with zipfile.ZipFile(SAMPLE_WORKBOOK) as sample:
        types = sample.read("[Content_Types].xml").decode()
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    named = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    parts["[Content_Types].xml"] = types.replace("</Types>", named).encode()
    workbook_with(path, {**parts, "xl/sharedStrings.xml": strings})


def json_of_brackets(path: Path) -> None:
    path.write_bytes(b'[{"a": ' + b"[" * 5_000_000)


# Who makes them, and what is said of them.
BOMBS = {
    "laughs.xlsx": (workbook_of_entities, "cannot be read as an Excel workbook"),
    "rows.xlsx": (workbook_of_many_rows, "unpacks to 300 MB"),
    "texts.xlsx": (workbook_of_one_text_again_and_again, "unpacks to over"),
    "brackets.json": (json_of_brackets, "cannot be read as JSON"),
    "rows.parquet": (parquet_of_many_rows, "unpacks to 20,000,000 rows"),
    "text.parquet": (parquet_of_a_long_text, "unpacks to 2 rows and 100 MB"),
    "dictionary.parquet": (parquet_of_one_text_again_and_again, "rows that take over"),
    "sizes.parquet": (parquet_that_lies_about_its_pages, "unpacks to 1 rows and 500 MB"),
    "columns.parquet": (parquet_of_many_columns, "has 60,000 columns"),
    "zeros.zip": (zip_of_zeros, "unpacks to 200 MB"),
    "shared.zip": (zip_of_one_member_again_and_again, "unpacks to 94 MB"),
    "zeros.csv.gz": (gzip_of_zeros, "line 1 is longer than 4 MB"),
    "again.csv.gz": (gzip_of_one_line_again_and_again, "unpacks to 17 MB"),
    "later.csv.gz": (gzip_that_begins_as_readings, "after its first 34 MB"),
    "line.csv": (a_line_of_100_megabytes, "has a line of over 32 MB"),
    "first-line.csv": (a_first_line_of_100_megabytes, "line 1 is longer than 4 MB"),
    "ten-million.csv": (ten_million_columns, "line 1 is longer than 4 MB"),
    "hundred-thousand.csv": (a_hundred_thousand_columns, "has 100,001 columns"),
}


@pytest.fixture(scope="module")
def ingest_apart():
    """Ingest in a process of its own, which may not take much; what was said or rejected."""
    forking = subprocess.Popen(
        [sys.executable, "-c", FORKING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=ROOT,
    )

    def ingest_file(file: Path, memory_mb: int = 200) -> str:
        forking.stdin.write(f"{file}\n")
        said, seconds, memory, read, written = json.loads(forking.stdout.readline())
        print(f"{file.name}: {seconds:.2f} s, {memory:.0f} MB, {read:.0f} MB read: {said}")
        assert memory < memory_mb
        assert read < 300
        assert written < 200
        return said

    with forking:
        yield ingest_file
        forking.stdin.close()


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_much_is_read_and_within_little_memory(
    name, ingest_apart, tmp_path
):
    make, words = BOMBS[name]
    make(tmp_path / name)
    # DuckDB keeps room for two JSON records of the largest size.
    error = ingest_apart(tmp_path / name, memory_mb=400 if name.endswith("json") else 200)
    assert error.startswith(name)
    assert words in error
    assert len(error) < 500
    assert not (tmp_path / "dataset").exists()


def test_a_line_of_some_megabytes_is_rejected_and_the_others_are_not(ingest_apart, tmp_path):
    a_long_line(tmp_path / "line.csv", megabytes=10)
    assert ingest_apart(tmp_path / "line.csv") == "{'malformed line': 1}"


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
        TableFile(file, file.name).check_lines()


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["zstd", "snappy", "none"])
def test_pages_are_counted_as_sound_files_describe_them(compression, version, dictionary, tmp_path):
    numbers = np.arange(200_000.0)
    table = pa.table({"id": [f"h{n % 50}" for n in range(len(numbers))], "kwh": numbers})
    pq.write_table(
        table,
        tmp_path / "a.parquet",
        compression=compression,
        data_page_version=version,
        use_dictionary=dictionary,
        row_group_size=70_000,
        write_page_checksum=dictionary,
    )
    metadata = pq.ParquetFile(tmp_path / "a.parquet").metadata
    described = sum(metadata.row_group(group).total_byte_size for group in range(3))
    headers = 100 * 2 * 3 * 10  # the description counts them, of some ten pages a column
    counted = unpacked_bytes(tmp_path / "a.parquet", metadata)
    assert described - headers <= counted <= described


def test_columns_that_share_their_pages_are_refused(tmp_path):
    class Twice:
        num_row_groups = 2

        def __init__(self, metadata):
            self.row_group = lambda number: metadata.row_group(0)

    pq.write_table(pa.table({"kwh": np.random.default_rng(1).random(10_000)}), tmp_path / "a")
    metadata = pq.ParquetFile(tmp_path / "a").metadata
    assert unpacked_bytes(tmp_path / "a", metadata) > 80_000
    with pytest.raises(ValueError, match="longer than the file"):
        unpacked_bytes(tmp_path / "a", Twice(metadata))


def test_a_gzip_is_read_no_further_than_it_grows_as_text_does(tmp_path):
    gzip_that_begins_as_readings(tmp_path / "later.csv.gz", times=10)
    read = 0
    with (
        open_gzip(tmp_path / "later.csv.gz", "later") as file,
        pytest.raises(InputError, match=r"later unpacks to 17 MB from 0\.0\d MB, after its"),
    ):
        while block := file.read(1 << 20):
            read += len(block)
    assert 25e6 < read < 70e6  # of 130 million


@pytest.mark.parametrize("place", ["metadata", "allocation"])
def test_tables_beside_the_readings_may_not_grow_either(place, tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"ID,Code\n" + b"1003,1\n" * 3_000_000))
    cer = ROOT / "data" / "samples" / "cer.txt"
    with pytest.raises(InputError, match=r"bomb\.csv\.gz unpacks to 17 MB"):
        if place == "metadata":
            ingest([cer], tmp_path / "dataset", metadata=bomb)
        else:
            ingest([cer], tmp_path / "dataset", options=IngestOptions(allocation=str(bomb)))


def test_a_text_that_shrinks_as_readings_do_has_an_end_too():
    growth = Growth("large")
    half = MAXIMUM_UNPACKED_BYTES // 2
    growth.add(half, half // 10)
    growth.add(half, half // 5)
    with pytest.raises(InputError, match="large unpacks to over 137 GB; divide it"):
        growth.add(1, half // 5)


def test_a_damaged_gzip_is_an_error_of_the_file(tmp_path):
    whole = gzip.compress(random.Random(1).randbytes(10_000))
    for number, damaged in enumerate((whole[:-100], whole[:5000] + b"x" * 5000)):
        (tmp_path / str(number)).write_bytes(damaged)
        with (
            open_gzip(tmp_path / str(number), "packed") as file,
            pytest.raises(InputError, match="packed cannot be unpacked"),
        ):
            file.read()


def test_lines_of_any_usual_length_are_no_problem(tmp_path):
    file = tmp_path / "readings.csv"
    file.write_bytes((b"x" * (30 << 20) + b"\n") * 4)
    TableFile(file, file.name).check_lines()
