"""What is written is for this user alone, unless sharing is asked for."""

import os
from pathlib import Path

import pytest

from core import atomic
from core.cli import main
from core.demo import make_demo


@pytest.fixture(autouse=True)
def usual_umask(monkeypatch):
    """New files can be read by others, if nobody takes care."""
    monkeypatch.delenv("WATTFOLD_SHARED", raising=False)
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    """What others may read, write or list below a folder."""
    paths = [folder, *folder.rglob("*")]
    return [str(path.relative_to(folder)) for path in paths if path.stat().st_mode & 0o077]


def write_everything(folder: Path, monkeypatch) -> list[Path]:
    """A dataset with its counts, a cache, a map and exports."""
    monkeypatch.setenv("WATTFOLD_CACHE", str(folder / "cache"))
    make_demo(folder / "demo", households=12, days=21)
    embed = ["embed", str(folder / "demo"), "--unit", "households", "--k", "3"]
    for flag, name in (("out", "points.csv"), ("out", "points.parquet"), ("figure", "map.svg")):
        assert main([*embed, f"--{flag}", str(folder / name)]) == 0
    assert main(["study", str(folder / "demo"), "--k", "3", "--methods", "isomap",
                 "--backends", "exact", "--out", str(folder / "report")]) == 0  # fmt: skip
    written = [path for path in folder.iterdir() if not path.name.startswith(".")]
    assert len(written) == 7  # a table as CSV has its description beside it
    return written


def test_datasets_results_and_exports_are_private(tmp_path, monkeypatch, capsys):
    for path in write_everything(tmp_path, monkeypatch):
        assert path.stat().st_mode & 0o077 == 0, path
        # Folders of the cache that hold entries are protected by that of the cache.
        if path.name != "cache":
            assert open_to_others(path) == []
    entries = [path.parent for path in (tmp_path / "cache").rglob("entry.json")]
    assert entries
    assert all(open_to_others(entry) == [] for entry in entries)


def test_they_are_shared_if_that_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WATTFOLD_SHARED", "1")
    for path in write_everything(tmp_path, monkeypatch):
        shared = 0o055 if path.is_dir() else 0o044
        assert path.stat().st_mode & 0o077 == shared, path
        for part in path.rglob("[!.]*"):
            assert part.stat().st_mode & 0o044 == 0o044, part


def test_what_replaces_something_that_others_may_read_stays_so(tmp_path):
    dataset = make_demo(tmp_path / "demo", households=3, days=14)
    for path in (dataset.path, *dataset.path.rglob("*")):
        path.chmod(path.stat().st_mode | 0o055)
    make_demo(dataset.path, households=3, days=15)
    assert dataset.path.stat().st_mode & 0o077 == 0o055
    assert (dataset.path / "readings.parquet").stat().st_mode & 0o077 == 0o044
    file = tmp_path / "table.csv"
    file.touch(mode=0o644)
    with atomic.new_file(file) as temporary:
        temporary.write_text("x")
    assert file.stat().st_mode & 0o077 == 0o044
