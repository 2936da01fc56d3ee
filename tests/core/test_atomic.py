"""Whole or not at all: atomic files and directories."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core import atomic

ROOT = Path(__file__).parents[2]

WRITER = """
import sys, time
from pathlib import Path
from core import atomic
target = Path(sys.argv[1])
for generation in range(1, 10_000):
    with atomic.new_directory(target) as staging:
        for name in "abc":
            (staging / name).write_text(str(generation) * 1000)
"""


def test_a_failed_write_leaves_the_old_file_and_no_leftovers(tmp_path):
    path = tmp_path / "a.json"
    atomic.write_json(path, {"x": 1})
    with pytest.raises(RuntimeError), atomic.new_file(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == '{\n "x": 1\n}\n'
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_a_directory_replaces_the_old_one_in_one_step(tmp_path):
    for content in ("old", "new"):
        with atomic.new_directory(tmp_path / "d") as staging:
            (staging / "file").write_text(content)
    assert (tmp_path / "d" / "file").read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]
    with pytest.raises(RuntimeError), atomic.new_directory(tmp_path / "d") as staging:
        (staging / "file").write_text("broken")
        raise RuntimeError
    assert (tmp_path / "d" / "file").read_text() == "new"
    assert [entry.name for entry in (tmp_path / "d").iterdir()] == ["file"]


def test_without_an_exchange_of_names_directories_are_still_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_exchange", lambda first, second: False)
    for content in ("old", "new"):
        with atomic.new_directory(tmp_path / "d") as staging:
            (staging / "file").write_text(content)
    assert (tmp_path / "d" / "file").read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]


def test_names_with_pattern_characters(tmp_path):
    with atomic.new_directory(tmp_path / "a[1]*") as staging:
        (staging / "x").touch()
    (tmp_path / ".a[1]*.partial-0").mkdir()
    (tmp_path / ".a1b.partial-0").mkdir()
    atomic.sweep(tmp_path / "a[1]*")
    assert {entry.name for entry in tmp_path.iterdir()} == {"a[1]*", ".a1b.partial-0"}


def test_what_a_living_writer_has_is_not_swept(tmp_path):
    with atomic.new_directory(tmp_path / "d") as staging:
        atomic.sweep(tmp_path / "d")
        assert staging.is_dir()


def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new(tmp_path):
    target = tmp_path / "d"
    moments = random.Random(1)
    seen = set()
    for _ in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)], env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        while not target.exists():
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.3))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        contents = {(target / name).read_text() for name in "abc"}
        assert len(contents) == 1  # one generation, never a mix
        assert len(contents.pop()) % 1000 == 0
        seen.update(entry.name for entry in tmp_path.iterdir())
    with atomic.new_directory(target) as staging:
        (staging / "a").touch()
    assert [entry.name for entry in tmp_path.iterdir()] == ["d"]
