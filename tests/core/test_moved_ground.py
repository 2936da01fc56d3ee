"""Data and caches that change under a program that uses them: an error, or right results."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.cube import build_cube
from core.demo import make_demo
from core.readings import Dataset
from core.readings.dataset import READINGS, DatasetChangedError, DatasetError
from core.runs import RunConfig, Runner, Store, run

CONFIG = RunConfig(unit="households", k=5)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def dataset(tmp_path):
    return make_demo(tmp_path / "demo", households=20, days=21, seed=1)


def replace_dataset(path: Path) -> None:
    make_demo(path, households=20, days=21, seed=2)


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def truncate(path: Path) -> None:
    os.truncate(path / READINGS, 1000)


def change_one_byte(path: Path) -> None:
    content = bytearray((path / READINGS).read_bytes())
    content[len(content) // 2] ^= 1
    (path / READINGS).write_bytes(content)


CHANGES = [replace_dataset, move, shutil.rmtree, truncate, change_one_byte]


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_read_of_other_data(dataset, change):
    household = dataset.households["household"].iat[3]
    before = dataset.readings(household)
    assert dataset.is_unchanged()
    change(dataset.path)
    assert not dataset.is_unchanged()
    for read in (
        lambda: dataset.readings(household),
        lambda: build_cube(dataset, bins=10),
        lambda: Runner(dataset).run(CONFIG),
    ):
        with pytest.raises(DatasetError):
            read()
    assert len(before)


def test_data_that_are_replaced_while_they_are_counted_give_no_counts(dataset):
    done = []

    def replace_soon(fraction: float, message: str = "") -> None:
        if not done:
            done.append(fraction)
            replace_dataset(dataset.path)

    with pytest.raises(DatasetChangedError):
        build_cube(dataset, bins=10, progress=replace_soon)
    assert done
    assert not list(dataset.path.glob("cubes/*"))


def test_the_same_data_again_can_be_opened_again(dataset):
    right = run(dataset, CONFIG).y
    path, digest = dataset.path, dataset.digest
    make_demo(path, households=20, days=21, seed=1)
    assert not dataset.is_unchanged()
    again = Dataset.open(path)
    assert again.digest == digest
    np.testing.assert_array_equal(run(again, CONFIG).y, right)


def test_a_cache_that_is_removed_is_made_again(dataset, tmp_path):
    store = Store(tmp_path / "cache")
    runner = Runner(dataset, store=store)
    right = runner.run(CONFIG).y
    shutil.rmtree(store.path)
    np.testing.assert_array_equal(runner.run(CONFIG).y, right)
    assert runner.stored(CONFIG)

    def remove(fraction: float, message: str = "") -> None:
        shutil.rmtree(store.path, ignore_errors=True)

    other = CONFIG.change(k=6)
    expected = run(dataset, other).y
    np.testing.assert_array_equal(runner.run(other, progress=remove).y, expected)


@pytest.fixture
def read_only_disk(tmp_path, dataset):
    """A disk that holds the dataset and cannot be written; only the administrator may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["/bin/mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    shutil.copytree(dataset.path, place / "demo")
    subprocess.run(["/bin/mount", "-o", "remount,ro", str(place)], check=True)
    yield place
    subprocess.run(["/bin/umount", "--lazy", str(place)], check=True)


def test_data_and_a_cache_that_cannot_be_written_give_maps_all_the_same(
    read_only_disk, dataset, monkeypatch
):
    monkeypatch.setenv("WATTFOLD_CACHE", str(read_only_disk / "cache"))
    right = run(dataset, CONFIG).y
    found = run(Dataset.open(read_only_disk / "demo"), CONFIG, store=Store.default())
    np.testing.assert_array_equal(found.y, right)
    assert any("not kept" in notice for notice in found.notices)


def test_entries_of_a_clock_that_was_set_back_are_used_and_evicted(dataset, tmp_path):
    store = Store(tmp_path / "cache")
    runner = Runner(dataset, store=store)
    right = runner.run(CONFIG).y
    future = 4_000_000_000
    for entry in store.entries():
        os.utime(entry.path, (future, future))
    assert runner.stored(CONFIG)
    np.testing.assert_array_equal(runner.run(CONFIG).y, right)
    small = Store(store.path, limit_bytes=sum(entry.bytes for entry in store.entries()))
    Runner(dataset, store=small).run(CONFIG.change(k=6))
    assert sum(entry.bytes for entry in small.entries()) <= small.limit_bytes


RUN = """
import sys
from core.readings import Dataset
from core.runs import RunConfig, Runner, Store
dataset, store = Dataset.open(sys.argv[1]), Store(sys.argv[2])
for k in (3, 4, 5):
    run = Runner(dataset, store=store).run(RunConfig(unit="households", k=k))
    print(k, run.y.tobytes().hex())
"""


def test_three_processes_and_one_cache(dataset, tmp_path):
    command = [sys.executable, "-c", RUN, str(dataset.path), str(tmp_path / "cache")]
    programs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)
    ]
    said = {program.communicate()[0] for program in programs}
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert len(said) == 1
    assert said.pop().count("\n") == 3
