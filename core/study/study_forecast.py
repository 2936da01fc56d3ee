"""What the runs of a comparison will cost, before they are made."""

from collections.abc import Iterable

from core.embedding import n_neighbors_needed
from core.neighbors.cost import Machine
from core.quality.reference import ALL_POINTS_LIMIT, DEFAULT_SAMPLE
from core.readings import Dataset
from core.runs import RunConfig
from core.runs.forecast import count_points, forecast

# For each pair of a measured point and any other: 0.56 s a map of 3,639 points.
_QUALITY_SECONDS = 4.2e-8
# For what comes after a map: density, ranks, trust, and its files in the store.
_AFTER_SECONDS, _AFTER_SECONDS_PER_POINT = 0.03, 2e-4


def predict_runs(
    dataset: Dataset, configs: Iterable[RunConfig], machine: Machine, *, threads: int
) -> float:
    """Predict the seconds that several runs take one after the other, roughly.

    A graph that several of them embed is searched once, and so is the exact one that they are
    measured against, if they are. Counting the readings is not in it.
    """
    graphs: dict[tuple[object, ...], float] = {}
    rest = 0.0
    for config in configs:
        n, _ = count_points(dataset, config)
        expected = forecast(dataset, config, machine, threads=threads)
        embedding = expected.map_seconds
        k = n_neighbors_needed(config.method, config.k, n, config.method_parameters)
        settings = tuple(config.neighbors_parameters.items())
        graphs[config.neighbors, settings, k] = expected.seconds - embedding
        rest += embedding + _AFTER_SECONDS + _AFTER_SECONDS_PER_POINT * n
        if config.quality:
            measured = n if n <= ALL_POINTS_LIMIT else DEFAULT_SAMPLE
            rest += _QUALITY_SECONDS * measured * n
            exact = config.change(neighbors="exact")
            truth = forecast(dataset, exact, machine, threads=threads).seconds - embedding
            # Of a sample of the points, a share of the work.
            graphs.setdefault(("exact", (), config.k), truth * measured / max(n, 1))
    return sum(graphs.values()) + rest
