"""A full disk: a clean error or a result that is not kept, and earlier data as they were."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.cli import main
from core.cube import build_cube
from core.errors import InputError
from core.readings import Dataset, ingest
from core.runs import RunConfig, Store, run
from dashboard.server import health

SAMPLES = Path(__file__).parents[2] / "data" / "samples"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of two megabytes; only the administrator may make one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["/bin/mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here; test_cli fills a disk by a limit")
    yield place
    # Arrays that are mapped from it may outlive the test: it goes with the last of them.
    subprocess.run(["/bin/umount", "--lazy", str(place)], check=True)


def fill(disk: Path, *, leave: int = 0) -> None:
    """Write until nothing goes in any more, but for some bytes."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
    (disk / "filler").write_bytes(bytes(max(0, free - leave)))


def test_ingest_is_refused_and_the_earlier_dataset_stays(small_disk):
    earlier = ingest([SAMPLES / "sgsc.csv"], small_disk / "dataset")
    before = {path.name: path.read_bytes() for path in earlier.path.iterdir()}
    fill(small_disk, leave=50_000)
    for sample in ("lcl.csv", "cer.txt", "nem12.csv", "lcl-blocks.zip"):
        with pytest.raises((InputError, OSError)) as caught:
            ingest([SAMPLES / sample], small_disk / "dataset")
        assert str(caught.value)
        assert {path.name: path.read_bytes() for path in earlier.path.iterdir()} == before
        assert {path.name for path in small_disk.iterdir()} == {"dataset", "filler"}


def test_a_run_is_made_but_not_kept_and_what_was_kept_stays(small_disk, demo_path):
    dataset, store = Dataset.open(demo_path), Store(small_disk / "store")
    first = run(dataset, RunConfig(unit="households", k=5), store=store)
    before = len(store.entries())
    assert before
    fill(small_disk)
    second = run(dataset, RunConfig(unit="households", k=6), store=store)
    assert np.isfinite(second.y).all()
    assert any("not kept" in notice or "No space" in notice for notice in second.notices)
    assert len(store.entries()) == before
    again = run(dataset, RunConfig(unit="households", k=5), store=store)
    np.testing.assert_array_equal(again.y, first.y)
    assert len(again.cached) > len(second.cached)


def test_counts_are_made_but_not_kept(small_disk):
    dataset = ingest([SAMPLES / "sgsc.csv"], small_disk / "dataset")
    right = build_cube(dataset, bins=10)
    fill(small_disk)
    assert build_cube(dataset, bins=11).counts.sum() == right.counts.sum()
    dataset.verify()
    assert list(dataset.path.rglob(".*")) == []


def test_an_export_is_refused_and_the_earlier_file_stays(
    small_disk, demo_path, capsys, monkeypatch
):
    monkeypatch.setenv("WATTFOLD_CACHE", str(small_disk.parent / "cache"))
    embed = ["embed", str(demo_path), "--unit", "households", "--k", "5"]
    out = small_disk / "points.csv"
    assert main([*embed, "--out", str(out)]) == 0
    before = out.read_bytes()
    fill(small_disk, leave=1000)
    assert main([*embed, "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert "No space left" in message
    assert message.count("\n") == 1
    assert out.read_bytes() == before
    assert pd.read_csv(out, comment="#").shape[0] == 60
    assert list(small_disk.glob(".*")) == []


def test_readiness_tells(small_disk, monkeypatch):
    monkeypatch.setenv("WATTFOLD_CACHE", str(small_disk / "not" / "yet"))
    assert "MB are free for results" in health.check_disk()
