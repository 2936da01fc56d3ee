"""Whether the server can do its work, part by part."""

from types import SimpleNamespace

import pytest

from dashboard.jobs import run_jobs
from dashboard.server import health


@pytest.fixture
def workers(monkeypatch, tmp_path, demo_path):
    """Ids of worker processes as the pool tells them; all else is in order."""
    ids = [1]
    monkeypatch.setattr(run_jobs, "pool", lambda: SimpleNamespace(process_ids=ids))
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path))
    monkeypatch.setenv("WATTFOLD_DATA", str(demo_path))
    return ids


def test_nothing_is_wrong(workers):
    assert health.find_problems() == {}


def test_workers_that_are_gone_are_missed(workers):
    workers.clear()
    assert health.find_problems() == {"workers": "no worker process is alive"}


def test_a_dataset_that_is_gone_is_missed_without_telling_where_it_was(
    workers, monkeypatch, tmp_path
):
    monkeypatch.setenv("WATTFOLD_DATA", str(tmp_path / "gone"))
    assert health.find_problems() == {"dataset": "the dataset cannot be opened"}


def test_a_disk_that_is_nearly_full_is_told(workers, monkeypatch):
    monkeypatch.setattr(health, "MINIMUM_FREE_BYTES", 10**18)
    problems = health.find_problems()
    assert list(problems) == ["disk"]
    assert "MB are free for results" in problems["disk"]
