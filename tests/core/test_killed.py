"""Programs killed while they ingest, count or export leave the old state or the new one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd
import pytest

from core import atomic
from core.cube import build_cube
from core.readings import Dataset, ingest
from core.runs import RunConfig, run

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "data" / "samples"
MOMENTS = [8, pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])]

# A process that has imported everything; programs born of it start at once.
NURSERY = """
import os, sys
sys.path.insert(0, sys.argv[1])
import test_killed
work, folder = getattr(test_killed, sys.argv[2]), sys.argv[3]
work(folder, 0)
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            work(folder, int(line))
            os._exit(0)
        finally:
            os._exit(1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def ingest_one_of_two(folder: str, number: int) -> None:
    name = ("sgsc.csv", "wide.csv")[number % 2]
    ingest([SAMPLES / name], Path(folder) / "dataset", threads=1)


def count_into_more_bins(folder: str, number: int) -> None:
    build_cube(Dataset.open(Path(folder) / "counted"), bins=10 + number)


def export_one_of_two(folder: str, number: int) -> None:
    from core.commands._output_tables import write_table

    dataset = Dataset.open(Path(folder) / "counted")
    config = RunConfig(bins=10, neighbors="exact", k=2, n_anomalies=1 + number % 2)
    result = run(dataset, config)
    for name in ("points.csv", "points.parquet"):
        write_table(result, Path(folder) / name)


@contextmanager
def killing(work: Callable[[str, int], None], folder: Path, seconds: float):
    """Yield a function that starts a program, kills it at some moment, and returns its end."""
    nursery = subprocess.Popen(
        [sys.executable, "-c", NURSERY, Path(__file__).parent, work.__name__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=ROOT,
        env={**os.environ, "WATTFOLD_CACHE": str(folder / "cache")},
    )
    chance = random.Random(3)

    def start_and_kill(number: int) -> int:
        nursery.stdin.write(f"{number}\n")
        program = int(nursery.stdout.readline())
        time.sleep(chance.uniform(0.0, seconds))
        with suppress(ProcessLookupError):  # it was faster
            os.kill(program, signal.SIGKILL)
        return int(nursery.stdout.readline())

    with nursery:
        assert nursery.stdout.readline() == "ready\n"
        yield start_and_kill
        nursery.stdin.close()


@pytest.fixture
def small_dataset(tmp_path):
    return ingest([SAMPLES / "sgsc.csv"], tmp_path / "counted")


@pytest.mark.parametrize("moments", MOMENTS)
def test_ingest(moments, tmp_path):
    with killing(ingest_one_of_two, tmp_path, 0.4) as start_and_kill:
        ends = []
        for number in range(1, moments + 1):
            ends.append(start_and_kill(number))
            dataset = Dataset.open(tmp_path / "dataset")
            dataset.verify()
            assert dataset.manifest["source_format"] in ("sgsc", "wide")
    assert set(ends) <= {0, -signal.SIGKILL}
    assert -signal.SIGKILL in ends
    ingest_one_of_two(str(tmp_path), 1)  # one more, which sweeps
    assert {path.name for path in tmp_path.iterdir()} <= {"dataset", "cache"}


@pytest.mark.parametrize("moments", MOMENTS)
def test_cube(moments, small_dataset, tmp_path):
    untouched = ingest([SAMPLES / "sgsc.csv"], tmp_path / "untouched")
    with killing(count_into_more_bins, tmp_path, 0.1) as start_and_kill:
        for number in range(1, moments + 1):
            assert start_and_kill(number) in (0, -signal.SIGKILL)
            kept = build_cube(Dataset.open(small_dataset.path), bins=10 + number)
            fresh = build_cube(untouched, bins=10 + number)
            assert (kept.counts == fresh.counts).all()
            small_dataset.verify()
    build_cube(small_dataset, bins=500)  # one more, which sweeps
    assert list(small_dataset.path.rglob(".*")) == []


@pytest.mark.parametrize("moments", MOMENTS)
def test_export(moments, small_dataset, tmp_path):
    export_one_of_two(str(tmp_path), 0)
    right = pd.read_csv(tmp_path / "points.csv", comment="#")
    with killing(export_one_of_two, tmp_path, 0.15) as start_and_kill:
        for number in range(1, moments + 1):
            assert start_and_kill(number) in (0, -signal.SIGKILL)
            csv = pd.read_csv(tmp_path / "points.csv", comment="#")
            pd.testing.assert_frame_equal(csv[["label", "y1"]], right[["label", "y1"]])
            parquet = pd.read_parquet(tmp_path / "points.parquet")
            assert parquet["label"].astype(str).tolist() == right["label"].astype(str).tolist()
    export_one_of_two(str(tmp_path), 0)  # one more, which sweeps
    assert list(tmp_path.glob(".*partial*")) == []


def test_the_file_of_a_living_writer_is_not_swept(tmp_path):
    with atomic.new_file(tmp_path / "a") as temporary:
        temporary.write_text("half")
        atomic.sweep(tmp_path / "a")
        assert temporary.exists()
    abandoned = tmp_path / ".a.partial-0"
    abandoned.touch()
    with atomic.new_file(tmp_path / "a") as temporary:
        assert not abandoned.exists()
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_is_swept_of_what_is_dead_and_of_no_more(tmp_path):
    (tmp_path / ".old.partial-1").mkdir()
    (tmp_path / ".older.partial-1.lock").touch()
    (tmp_path / "done").mkdir()
    with atomic.new_directory(tmp_path / "new") as staging:
        atomic.sweep_folder(tmp_path)
        assert staging.is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {"done", "new"}
