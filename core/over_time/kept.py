"""Paths and comparisons of periods, kept in the store."""

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from core.over_time._map_days import day_table_of
from core.over_time.paths import Paths, household_paths
from core.over_time.two_periods import PeriodComparison, compare_periods
from core.periods import Period
from core.placement.projection import Projection
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.runs import RunConfig, Runner, Store
from core.runs.kept_results import get_or_compute
from core.runs.store import StageResult, make_digest

PATHS, COMPARISON = "paths", "two_periods"
# To be raised whenever the same readings give other results.
VERSIONS = {PATHS: 1, COMPARISON: 1}


def _digest(stage: str, dataset: Dataset, config: RunConfig, **rest: Any) -> str:
    inputs = {
        "version": VERSIONS[stage],
        "dataset": dataset.digest,
        "config": config.to_json(),
        **rest,
    }
    return make_digest(inputs)


def paths_digest(dataset: Dataset, config: RunConfig) -> str:
    """What the paths on a map are known by in the store."""
    return _digest(PATHS, dataset, config)


def stored_paths(dataset: Dataset, config: RunConfig, store: Store) -> Paths | None:
    """Return the paths of all households on the map of a config, or None if they are not kept."""
    entry = store.get(PATHS, paths_digest(dataset, config))
    return None if entry is None else _unpack_paths(entry)


def keep_paths(
    runner: Runner, config: RunConfig, store: Store, *, progress: Progress = silent
) -> Paths:
    """Follow all households on the map of a config, and keep their paths."""
    dataset = runner.dataset

    def compute() -> StageResult:
        run = runner.run(config, progress=part(progress, 0.0, 0.3))
        cube, vectors = runner.inputs(config)
        progress(0.4, "Comparing months with the map")
        projection = Projection.fit(vectors, run.y)
        table = day_table_of(dataset, config, cube.edges, progress=part(progress, 0.5, 0.6))
        homes = run.units["household"].tolist()
        paths = household_paths(
            dataset, config, projection, table, households=homes, progress=part(progress, 0.6, 1.0)
        )
        return StageResult(
            {"dates": paths.dates.astype(np.int64), "y": paths.y, "sizes": paths.sample_sizes},
            tables={"households": pd.DataFrame({"household": paths.households.astype(str)})},
            facts={"step": paths.step},
        )

    digest = paths_digest(dataset, config)
    return _unpack_paths(get_or_compute(store, PATHS, digest, compute, progress=progress))


def _unpack_paths(entry: StageResult) -> Paths:
    return Paths(
        households=entry.tables["households"]["household"].to_numpy(object),
        dates=entry.arrays["dates"].astype("datetime64[D]"),
        step=entry.facts["step"],
        y=entry.arrays["y"],
        sample_sizes=entry.arrays["sizes"],
    )


def comparison_digest(dataset: Dataset, config: RunConfig, against: Period) -> str:
    """What the comparison of two periods is known by in the store."""
    return _digest(COMPARISON, dataset, config, against=against.to_json())


def stored_comparison(
    dataset: Dataset, config: RunConfig, against: Period, store: Store
) -> PeriodComparison | None:
    """Return the comparison of a config's period with another, or None if it is not kept."""
    entry = store.get(COMPARISON, comparison_digest(dataset, config, against))
    return None if entry is None else _unpack_comparison(entry, config, against)


def keep_comparison(
    dataset: Dataset,
    config: RunConfig,
    against: Period,
    store: Store,
    *,
    progress: Progress = silent,
) -> PeriodComparison:
    """Compare the period of a config with another one, and keep the result."""

    def compute() -> StageResult:
        found = compare_periods(dataset, config, against, progress=progress)
        values = {field.name: getattr(found, field.name) for field in fields(found)}
        arrays = {name: each for name, each in values.items() if isinstance(each, np.ndarray)}
        homes = pd.DataFrame({"household": arrays.pop("households").astype(str)})
        facts = {name: values[name] for name in ("season", "left_out", "notices")}
        return StageResult(arrays, tables={"households": homes}, facts=facts)

    digest = comparison_digest(dataset, config, against)
    entry = get_or_compute(store, COMPARISON, digest, compute, progress=progress)
    return _unpack_comparison(entry, config, against)


def _unpack_comparison(entry: StageResult, config: RunConfig, against: Period) -> PeriodComparison:
    return PeriodComparison(
        first=config.period,
        second=against,
        config=config,
        households=entry.tables["households"]["household"].to_numpy(object),
        season=entry.facts["season"],
        left_out=tuple(entry.facts["left_out"]),
        notices=tuple(entry.facts["notices"]),
        **entry.arrays,
    )
