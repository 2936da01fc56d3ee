"""What the workers do for the page: fit a run into the store, and get warm for it."""

import atexit
import multiprocessing.util  # noqa: F401 (see pool)
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from typing import Any

from core.progress import Progress
from core.readings import Dataset
from core.runs import Run, RunConfig, run
from dashboard import map_layers
from dashboard.datasets import store_of
from dashboard.jobs import Job, WorkerPool
from dashboard.manners import give_way
from dashboard.rates import Rate

# Those that import and compile the most, the default first.
WARM_METHODS = ("isomap", "tsne", "umap")
# A person changes a choice every second at most; all methods on all backends are 36 runs at once.
SUBMISSIONS = Rate(burst=80, per_second=1.0)


def fit(argument: tuple[str, dict[str, Any]], progress: Progress) -> dict[str, Any]:
    """Run a config on a dataset; all its stages end up in the store."""
    path, config = argument
    result = run(
        Dataset.open(path), RunConfig.from_json(config), store=store_of(path), progress=progress
    )
    return {
        "seconds": dict(result.seconds),
        "cached": list(result.cached),
        "peak_memory_mb": result.peak_memory_mb,
    }


class _NotStoredError(Exception):
    """Something of a run would have to be computed."""


def fetch(dataset: Dataset, config: RunConfig) -> Future[Run | None]:
    """Read a run if all its stages are in the store; None if one is not.

    In a thread, not in the pool: nobody who has it should wait for the runs of others.
    """
    return _readers().submit(_fetch, dataset, config)


def _fetch(dataset: Dataset, config: RunConfig) -> Run | None:
    def refuse(stage: str) -> None:
        raise _NotStoredError

    try:
        result = run(dataset, config, store=store_of(dataset.path), computing=refuse)
    except _NotStoredError:
        return None
    if result.n > map_layers.MAXIMUM_MARKERS:
        map_layers.warm_up()
    return result


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="fetch", initializer=give_way)


def submit(session: str, dataset: Dataset, config: RunConfig) -> Job:
    """Ask the pool for a run; the same run asked for by two sessions is fitted once."""
    # The path, too: results on the same data are kept in two places if one of them is an upload.
    key = (str(dataset.path), dataset.digest, str(config.to_json()))
    return pool().submit(session, key, fit, (str(dataset.path), config.to_json()))


@cache
def pool() -> WorkerPool:
    """The one pool of the server, started when it is first needed."""
    maps = [partial(_map_a_few, method) for method in WARM_METHODS]
    workers = WorkerPool(warm_up=(*maps, _know_the_machine), rate=SUBMISSIONS)
    # Runs before multiprocessing's own way out, which is registered by the import above and would
    # meet workers that the pool has buried.
    atexit.register(workers.close)
    return workers


def _know_the_machine() -> None:
    """Have the rates by which the page tells what a run will take."""
    from core.neighbors.cost import machine

    machine()


def _map_a_few(method: str) -> None:
    """Import and compile what a method needs, and the stages before and after it."""
    import numpy as np

    from core.density import hdr_density, sample_size_notice
    from core.distance import Vectors
    from core.embedding import embed
    from core.neighbors import find_neighbors

    rows = np.random.default_rng(0).random((64, 4), dtype=np.float32)
    vectors = Vectors.from_array(rows, distance="hellinger")
    embedding = embed(method, find_neighbors(vectors, k=10, backend="exact"), vectors)
    sample_size_notice(hdr_density(embedding.y).rank, np.arange(len(rows)))
