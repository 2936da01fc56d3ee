"""What the workers do for a comparison: fit one of its maps and measure it.

The maps of a comparison share vectors and the ranks that quality is measured against. A worker
keeps those of its last map, so that the next one need not make them again even where they are too
large to be stored.
"""

from functools import lru_cache
from typing import Any

from core.progress import Progress
from core.readings import Dataset
from core.runs import RunConfig, Runner
from core.study.warm_up import WarmUp
from dashboard import fits
from dashboard.datasets import store_of
from dashboard.jobs import Job


def submit(session: str, dataset: Dataset, config: RunConfig) -> Job:
    """Ask the pool for one map; it ends up in the store, where `fits.fetch` finds it."""
    key = ("compare", str(dataset.path), dataset.digest, str(config.to_json()))
    return fits.pool().submit(session, key, fit, (str(dataset.path), config.to_json()))


def fit(argument: tuple[str, dict[str, Any]], progress: Progress) -> None:
    """Run a config on a dataset; all its stages end up in the store."""
    path, content = argument
    config = RunConfig.from_json(content)
    runner = _runner(path, Dataset.open(path).digest)
    # Times are compared: none should depend on which map was the first to need a package.
    begin = _warm_up(config.distance).before(config.method, config.neighbors, None)
    runner.run(config, progress=progress, computing=begin)


@lru_cache(maxsize=1)
def _runner(path: str, digest: str) -> Runner:
    """The runner of a dataset as it is now, and what it remembers of the last run."""
    return Runner(Dataset.open(path), store=store_of(path))


@lru_cache
def _warm_up(distance: Any) -> WarmUp:
    return WarmUp(distance)
