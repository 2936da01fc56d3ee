"""Cancel in the middle of every stage: the process is gone, and a warm one takes the next job.

Every stage runs in a worker of its own, which imports just what that stage needs.
"""

import itertools
import os
import time
from functools import partial
from pathlib import Path

import pytest

from dashboard.jobs import WorkerPool
from dashboard.jobs import pool as pool_module

# What a worker that got warm remembers, in its own process.
WARM: list[str] = []


def get_warm() -> None:
    WARM.append("warm")


def who_are_you(argument, progress):
    return os.getpid(), WARM


def some_points():
    """Vectors of 400 points and their neighbours."""
    from dataclasses import replace

    import numpy as np

    from core.neighbors import find_neighbors
    from core.vectors import Vectors

    rows = np.random.default_rng(0).random((400, 30), dtype=np.float32)
    vectors = Vectors.from_array(rows / rows.sum(axis=1, keepdims=True), distance="hellinger")
    vectors = replace(vectors, block_sizes=np.full((400, 1), 500))
    return vectors, find_neighbors(vectors, k=30, backend="exact")


def count_readings(path, number, progress):
    from core.cube import build_cube
    from core.readings import Dataset

    # Other bins each time: the counts of the time before are kept.
    build_cube(Dataset.open(path), bins=10 + number % 900, progress=progress)


def make_vectors(path, number, progress):
    from core.cube import build_cube
    from core.readings import Dataset
    from core.vectors import make_vectors

    dataset = Dataset.open(path)
    make_vectors(build_cube(dataset), dataset, progress=progress)


def find_neighbors(path, number, progress):
    from core.neighbors import find_neighbors

    vectors, _ = some_points()
    find_neighbors(vectors, k=30, backend="exact", progress=progress)


def embed(method, path, number, progress):
    from core.embedding import embed

    vectors, neighbors = some_points()
    embed(method, neighbors, vectors, progress=progress)


def measure_quality(path, number, progress):
    from core.quality import measure_quality

    vectors, _ = some_points()
    measure_quality(vectors, vectors.x[:, :2], k=10, progress=progress)


def measure_surprise(path, number, progress):
    from core.anomalies import measure_surprise

    measure_surprise(*some_points(), progress=progress)


def estimate_density(path, number, progress):
    from core.density import hdr_density

    vectors, _ = some_points()
    hdr_density(vectors.x[:, :2], progress=progress)


METHODS = ("isomap", "lle", "laplacian", "hessian", "tsne", "umap")
STAGES = {
    "cube": count_readings,
    "vectors": make_vectors,
    "neighbours": find_neighbors,
    **{f"embedding by {method}": partial(embed, method) for method in METHODS},
    "quality": measure_quality,
    "surprise": measure_surprise,
    "density": estimate_density,
}


def do_for_ever(argument, progress):
    """Repeat one stage; the first that is heard of it comes from the stage itself."""
    stage, path = argument
    for number in itertools.count():
        STAGES[stage](path, number, lambda fraction, message="": progress(fraction, stage))


@pytest.fixture(scope="module")
def pool():
    # A spare gets warm at once, however short the job before.
    long_seconds, pool_module._LONG_SECONDS = pool_module._LONG_SECONDS, 0.0
    pool = WorkerPool(1, warm_up=(get_warm,))
    yield pool
    pool.close()
    pool_module._LONG_SECONDS = long_seconds


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("stage", STAGES)
def test_cancel_frees_the_worker_in_every_stage(stage, pool, demo_path):
    job = pool.submit("me", stage, do_for_ever, (stage, str(demo_path)))
    wait_until(lambda: job.message == stage or job.finished.is_set(), 120)
    assert job.error == ""
    worker, spare = sorted(pool._workers, key=lambda worker: worker.job is None)
    wait_until(lambda: spare.state == "warm", 60)
    cancelled, warm = worker.process.pid, spare.process.pid
    pool.cancel("me", job)
    assert job.state == "cancelled"
    # It takes some milliseconds; the rest is for a machine that is busy with something else.
    wait_until(lambda: not Path(f"/proc/{cancelled}").exists(), 5)
    following = pool.submit("me", "next", who_are_you, None)
    assert following.finished.wait(60)
    assert following.result == (warm, ["warm"])


def test_every_method_is_cancelled():
    from core.embedding import METHODS as REGISTERED

    assert set(REGISTERED) == set(METHODS)
