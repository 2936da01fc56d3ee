"""Runs: looked for in the store, or computed into it by a worker."""

import atexit
import multiprocessing.util  # noqa: F401 (see pool)
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import Any

from core.neighbors.cost import kept_machine
from core.parallel import available_cores
from core.progress import Progress
from core.readings import Dataset
from core.runs import Run, RunConfig, Runner, Store
from core.runs.anomaly_stage import anomaly_digest, keep_anomalies, stored_anomalies
from core.runs.config import AUTO
from core.runs.forecast import forecast
from core.scene.shading import MAXIMUM_MARKERS, warm_up
from core.study.warm_up import WarmUp
from dashboard.jobs._rate_limit import Rate
from dashboard.jobs.pool import QUICK_SECONDS, WorkerPool
from dashboard.jobs.session_pool import FollowedJob
from dashboard.jobs.workspace import Workspace, WorkspacePaths

# What a run's job ended with when the store could not keep the run.
NOT_KEPT = (
    "the map was computed, but the store did not keep it: give it more room with "
    "WATTFOLD_CACHE_SIZE, or free disk space"
)
# Roughly, for what a forecast does not count: the readings, and density, ranks and trust.
_READINGS_PER_SECOND = 5e6
_SECONDS_PER_POINT = 0.002
# A person changes a setting every second at most; all methods on all backends are 36 runs at once.
SUBMISSIONS = Rate(burst=80, per_second=1.0)


def find(workspace: Workspace, config: RunConfig) -> FollowedJob:
    """Look for a run in the store; the result is None if a stage of it is not there."""
    return workspace.pool.call(_read_run, workspace.dataset, workspace.store, config)


def graph_stored(workspace: Workspace, config: RunConfig) -> bool:
    """Whether only the map of a run is to be made, its neighbours being stored."""
    return Runner(workspace.dataset, store=workspace.store).graph_stored(config)


def _read_run(dataset: Dataset, store: Store, config: RunConfig) -> Run | None:
    runner = Runner(dataset, store=store)
    if not runner.stored(config):
        return None
    run = runner.run(config)
    if run.n > MAXIMUM_MARKERS:
        warm_up()
    return run


def submit(workspace: Workspace, config: RunConfig, *, queue: str = "") -> FollowedJob:
    """Have a run computed; :func:`find` finds it then. Sessions that ask at once share it.

    One that takes a few seconds does not wait for those that take long.
    """
    argument = workspace.paths, config.to_json()
    key = ("run", workspace.paths, str(config.to_json()))
    seconds = predict_seconds(workspace.dataset, config)
    quick = seconds is not None and seconds <= QUICK_SECONDS
    return workspace.pool.submit(key, compute_run, argument, queue=queue, quick=quick)


def predict_seconds(dataset: Dataset, config: RunConfig) -> float | None:
    """How long all of a run takes; None if this machine was not measured yet."""
    machine = kept_machine()
    if machine is None:
        return None
    expected = forecast(dataset, config, machine, threads=available_cores())
    readings = int(dataset.households["accepted"].sum())
    rest = readings / _READINGS_PER_SECOND + expected.n * _SECONDS_PER_POINT
    return expected.seconds + rest


def compute_run(argument: tuple[WorkspacePaths, dict[str, Any]], progress: Progress) -> None:
    """Run a config on a dataset; all its stages end up in the store."""
    paths, content = argument
    config = RunConfig.from_json(content)
    runner = _runner(paths)
    if not runner.dataset.is_unchanged():
        _runner.cache_clear()
        runner = _runner(paths)
    # Compare shows times: none should include the first import of a package.
    backend = "exact" if config.neighbors == AUTO else config.neighbors
    computing = _warm_up(config.distance).before(config.method, backend, None)
    runner.run(config, progress=progress, computing=computing)


def find_unusual(workspace: Workspace, config: RunConfig) -> FollowedJob:
    """Look for the anomalies of a config's households; the result is None if they are not kept."""
    return workspace.pool.call(stored_anomalies, workspace.dataset, config, workspace.store)


def submit_unusual(workspace: Workspace, config: RunConfig) -> FollowedJob:
    """Have the anomalies of a config's households found; :func:`find_unusual` reads them then."""
    digest = anomaly_digest(workspace.dataset, config)
    argument = workspace.paths, config.to_json()
    return workspace.pool.submit(("anomalies", workspace.paths, digest), compute_unusual, argument)


def compute_unusual(argument: tuple[WorkspacePaths, dict[str, Any]], progress: Progress) -> None:
    """Judge the households of a config; the result ends up in the store."""
    paths, content = argument
    dataset, store = paths.open()
    keep_anomalies(dataset, RunConfig.from_json(content), store, progress=progress)


@lru_cache(maxsize=1)
def _runner(paths: WorkspacePaths) -> Runner:
    """The runner of the last dataset: runs share what is too large to be stored."""
    dataset, store = paths.open()
    return Runner(dataset, store=store)


@lru_cache
def _warm_up(distance: Any) -> WarmUp:
    return WarmUp(distance)


def _measure_machine() -> None:
    """Measure the rates from which the page predicts how long a run takes."""
    from core.neighbors.cost import machine

    machine()


def _import_drawing() -> None:
    """Import what exports are drawn with."""
    import bokeh.plotting  # noqa: F401 (that is all there is to do)
    import matplotlib.figure  # noqa: F401


def _map_few_points(method: str) -> None:
    """Import and compile what a method needs, and the stages before and after it."""
    import numpy as np

    from core.density import hdr_density, sample_size_notice
    from core.embedding import embed
    from core.neighbors import find_neighbors
    from core.vectors import Vectors

    rows = np.random.default_rng(0).random((64, 4), dtype=np.float32)
    vectors = Vectors.from_array(rows, distance="hellinger")
    embedding = embed(method, find_neighbors(vectors, k=10, backend="exact"), vectors)
    sample_size_notice(hdr_density(embedding.y).rank, np.arange(len(rows)))


# The methods that import and compile the most come first, of them the default.
WARM_UP: tuple[Callable[[], None], ...] = (
    *(partial(_map_few_points, method) for method in ("isomap", "tsne", "umap")),
    _measure_machine,
    _import_drawing,
)


@cache
def pool() -> WorkerPool:
    """The pool of the server, started when it is first needed."""
    workers = WorkerPool(warm_up=WARM_UP, rate=SUBMISSIONS)
    # Runs before multiprocessing's own exit function, which the import above registers and which
    # would join workers that the pool has already closed.
    atexit.register(workers.close)
    return workers
