"""A layout that is killed goes on from its last checkpoint, to the same map."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.demo import make_demo
from core.embedding import umap_layout
from core.errors import Cancelled
from core.readings import Dataset
from core.runs import RunConfig, Store, checkpoints, run
from core.runs.checkpoints import STAGE, StoredCheckpoints

CONFIG = RunConfig(
    unit="household-slots",
    bins=20,
    k=5,
    neighbors="exact",
    slots="Mon",
    minimum_sample=1,
    method="umap",
    method_parameters={"epochs": 30},
)

KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import test_checkpoints as test
from core.embedding import _umap_optimiser, umap_layout
from core.readings import Dataset
from core.runs import Store, checkpoints, run

umap_layout.UMAP_LEARN_UP_TO = 50
checkpoints.EVERY_SECONDS = 0.0
whole_epoch = _umap_optimiser._run_epoch

def last_epoch(*arguments):
    if arguments[5] == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    whole_epoch(*arguments)

_umap_optimiser._run_epoch = last_epoch
run(Dataset.open(sys.argv[2]), test.CONFIG, store=Store(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return make_demo(tmp_path_factory.mktemp("demo") / "data", households=12, days=28)


@pytest.fixture
def in_parallel(monkeypatch):
    """Lay out few points as many are."""
    monkeypatch.setattr(umap_layout, "UMAP_LEARN_UP_TO", 50)


@pytest.mark.usefixtures("in_parallel")
def test_a_killed_layout_goes_on_to_the_same_map(demo, tmp_path):
    whole = run(demo, CONFIG)
    store = Store(tmp_path / "store")
    command = [sys.executable, "-c", KILLED, Path(__file__).parent, demo.path, store.path]
    killed = subprocess.run(command, check=False, cwd=Path(__file__).parents[3])
    assert killed.returncode == -signal.SIGKILL
    (name,) = store.names(STAGE)
    assert name.endswith("-20")
    reports = []

    def note(fraction, message=""):
        reports.append((fraction, message))

    resumed = run(Dataset.open(demo.path), CONFIG, store=store, progress=note)
    np.testing.assert_array_equal(resumed.embedding.y, whole.embedding.y)
    assert store.names(STAGE) == []
    # It went on at epoch 20 of 30, so that ten or fewer reports are of moving points.
    moving = [fraction for fraction, message in reports if message == "Embedding"]
    assert len(moving) < 20


@pytest.mark.usefixtures("in_parallel")
def test_a_cancelled_layout_leaves_its_checkpoint(demo, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    store = Store(tmp_path / "store")

    def stop(fraction, message=""):
        if store.names(STAGE):
            raise Cancelled

    with pytest.raises(Cancelled):
        run(demo, CONFIG, store=store, progress=stop)
    assert len(store.names(STAGE)) == 1
    run(demo, CONFIG, store=store)
    assert store.names(STAGE) == []


def test_the_newest_whole_checkpoint_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "EVERY_SECONDS", 0.0)
    store = Store(tmp_path / "store")
    kept = StoredCheckpoints(store, "a" * 32)
    assert kept.load() is None
    places = np.arange(6, dtype=np.float32).reshape(3, 2)
    kept.offer(9, lambda: places)
    kept.offer(10, lambda: places + 1)
    assert len(store.names(STAGE)) == 1
    steps, found = kept.load()
    assert steps == 10
    np.testing.assert_array_equal(found, places + 1)
    assert StoredCheckpoints(store, "b" * 32).load() is None
    (file,) = (store.path / STAGE).glob("*/y.npy")
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-1])
    assert kept.load() is None
    kept.clear()
    assert store.names(STAGE) == []


def test_checkpoints_are_kept_now_and_then(tmp_path):
    store = Store(tmp_path / "store")
    StoredCheckpoints(store, "a" * 32).offer(1, lambda: pytest.fail("nothing is due yet"))
    assert store.names(STAGE) == []
