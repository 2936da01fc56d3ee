"""What a run will cost, before it is made."""

from dataclasses import dataclass

from core.embedding import METHODS, n_neighbors_needed
from core.neighbors import BACKENDS
from core.neighbors.cost import Machine, SearchSize
from core.readings import Dataset
from core.runs.config import AUTO, RunConfig
from core.slots import parse_slots

_NORMS = {"tv": 1, "hellinger": 2, "js": 0}


@dataclass(frozen=True)
class Forecast:
    """A rough prediction of a run whose readings are counted already.

    Attributes
    ----------
    n : int
        Points, if none is left out.
    seconds, map_seconds : float
        For neighbours and the map, and for the map alone.
    memory_mb : float
        For the vectors and the search.
    faster : tuple of (str, float), optional
        Another backend that finds nearly all neighbours in less than half the time, and the
        seconds of the run with it.
    """

    n: int
    seconds: float
    map_seconds: float
    memory_mb: float
    faster: tuple[str, float] | None


def count_points(dataset: Dataset, config: RunConfig) -> tuple[int, int]:
    """How many points a run has if none is left out, and how many slots count."""
    week = dataset.slots_per_week
    slots = (
        week if config.slots is None else len(parse_slots(config.slots, dataset.interval_minutes))
    )
    households = len(config.households or dataset.households)
    n = {"slots": slots, "household-slots": households * slots}.get(config.unit, households)
    return n, slots


def forecast(
    dataset: Dataset,
    config: RunConfig,
    machine: Machine,
    *,
    threads: int,
    graph_stored: bool = False,
) -> Forecast:
    """Predict what a run will cost on this machine; neighbours that are stored cost nothing."""
    n, slots = count_points(dataset, config)
    columns = config.bins * (slots if config.unit == "profiles" else 1)
    k = max(1, n_neighbors_needed(config.method, config.k, n, config.method_parameters))
    problem = SearchSize(n=n, p=columns, k=k, norm=_NORMS[config.distance], threads=threads)
    settings = METHODS.settings(config.method, config.method_parameters)
    map_seconds = METHODS[config.method].seconds(n, columns, settings)
    able = {
        name: backend.cost(problem, machine, **BACKENDS.settings(name, {})).seconds
        for name, backend in BACKENDS.items()
        if config.distance in backend.distances and (backend.automatic or name == "exact")
    }
    fastest = min(able, key=lambda name: able[name])
    if config.neighbors == AUTO:
        search, memory = able[fastest], 0.0
    else:
        cost = BACKENDS[config.neighbors].cost(problem, machine, **config.neighbors_parameters)
        search, memory = cost.seconds, cost.memory_mb
    if graph_stored:
        search = 0.0
    total = search + map_seconds
    quicker = able[fastest] + map_seconds
    return Forecast(
        n=n,
        seconds=total,
        map_seconds=map_seconds,
        memory_mb=memory + n * columns * 4 / 1e6,
        faster=(fastest, quicker) if quicker < total / 2 and fastest != config.neighbors else None,
    )
