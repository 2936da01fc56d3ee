"""A map on the disk, with all it takes to put new points on it: a directory of its own."""

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from core import atomic
from core.anomalies import Expectation, make_expectation
from core.cube import Cube
from core.density import Landscape, RiemannianMetric, learn_metric, survey
from core.density.corrected import CorrectedDensity, correct
from core.errors import InputError
from core.readings.dataset import Dataset, file_digest
from core.runs import Run
from core.runs.config import RunConfig
from core.runs.store import StageResult, read_result, write_result
from core.summary import Summarized
from core.vectors import Vectors

SCHEMA = 1
_FORMAT = "wattfold map"
_ENTRY = "entry.json"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SavedMap(Summarized):
    """The outcome of a run, and what its points and bins are.

    Attributes
    ----------
    path : Path
        Where it is.
    digest : str
        Of everything in it.
    config : RunConfig
        What was asked for.
    dataset_digest : str
        What it was asked of.
    interval_minutes : int
        Minutes a slot.
    edges : ndarray of float64, shape (n_bins − 1,)
        The bins, in kWh.
    vectors : Vectors
        The n points, as float32 coordinates whatever they were searched by.
    y : ndarray of shape (n, dim)
        Their places.
    density, level, rank : ndarrays of shape (n,)
        As in :class:`core.density.regions.HDR`.
    thresholds : ndarray of shape (6,)
        The least density in each highest density region.
    isolation : ndarray of shape (n,)
        The distance to the K-th neighbour.
    expectation : Expectation
        What the map leads one to expect of its own points and of new ones.
    metric : RiemannianMetric, optional
        How the map stretches and squeezes, where its density is corrected for that.
    """

    path: Path
    digest: str
    config: RunConfig
    dataset_digest: str
    interval_minutes: int
    edges: np.ndarray
    vectors: Vectors
    y: np.ndarray
    density: np.ndarray
    level: np.ndarray
    rank: np.ndarray
    thresholds: np.ndarray
    isolation: np.ndarray
    expectation: Expectation
    metric: RiemannianMetric | None = None

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.y)

    @cached_property
    def landscape(self) -> Landscape:
        """The density as a function of the place, the same that the levels were found by."""
        return survey(self.y, bandwidth=self.config.bandwidth)

    @cached_property
    def corrected(self) -> CorrectedDensity | None:
        """The corrected density as a function of the place, where the levels are found by it."""
        if self.metric is None:
            return None
        return correct(self.landscape, self.y, self.metric, bandwidth=self.config.bandwidth)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read what :func:`save_map` wrote."""
        path = Path(path)
        if not (path / _ENTRY).is_file():
            raise InputError(
                f"there is no map at {path}; make one with wattfold embed DIR --save-map {path}"
            )
        try:
            entry = read_result(path)
            facts = dict(entry.facts)
            if facts["format"] != _FORMAT or facts["schema"] != SCHEMA:
                raise ValueError(f"it is a {facts['format']} of schema {facts['schema']}")
            arrays = dict(entry.arrays)
            config = RunConfig.from_json(facts["config"])
            vectors = replace(
                Vectors.from_array(arrays.pop("x"), distance=config.distance),
                blocks=facts["blocks"],
                unit=config.unit,
                units=entry.tables["units"],
                sample_size=arrays.pop("sample_size"),
                block_sizes=arrays.pop("block_sizes"),
            )
            return cls(
                path=path,
                digest=file_digest(path / _ENTRY),
                config=config,
                dataset_digest=facts["dataset"],
                interval_minutes=facts["interval_minutes"],
                vectors=vectors.without_counts(),
                expectation=Expectation(
                    arrays.pop("own_excess"), arrays.pop("window_scale"), arrays.pop("surprise")
                ),
                metric=_unpack_metric(arrays),
                **arrays,
            )
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise InputError(
                f"the map at {path} cannot be read ({error}); make it again with wattfold embed "
                "--save-map"
            ) from error


def check_interval(saved: SavedMap, dataset: Dataset) -> None:
    """Refuse readings that do not come as often as those that a map was made of."""
    if dataset.interval_minutes != saved.interval_minutes:
        raise InputError(
            f"the map has slots of {saved.interval_minutes} minutes and {dataset.path} has "
            f"readings every {dataset.interval_minutes}; they cannot be compared"
        )


def save_map(path: str | Path, run: Run, cube: Cube, vectors: Vectors) -> None:
    """Write a run's map to a directory, whole or not at all.

    Parameters
    ----------
    path : path
        A new directory, or an older map, which is replaced.
    run : Run
    cube : Cube
        The counts that the run's vectors were made of.
    vectors : Vectors
        The run's points.
    """
    path = Path(path)
    check_map_replaceable(path)
    expectation = make_expectation(vectors, run.neighbors.nearest(run.config.k))
    entry = StageResult(
        arrays={
            "x": vectors.x,
            "sample_size": vectors.sample_size,
            "block_sizes": vectors.sizes_of_blocks(),
            "edges": cube.edges,
            "y": run.y,
            "density": run.hdr.density,
            "level": run.hdr.level,
            "rank": run.hdr.rank,
            "thresholds": run.hdr.thresholds,
            "isolation": run.isolation,
            "surprise": expectation.score,
            "own_excess": expectation.own,
            "window_scale": expectation.scale,
            **_pack_metric(run),
        },
        tables={"units": vectors.units.filter(["label", "household", "slot"])},
        facts={
            "format": _FORMAT,
            "schema": SCHEMA,
            "wattfold": version("wattfold"),
            "config": run.config.to_json(),
            "dataset": run.dataset_digest,
            "interval_minutes": cube.interval_minutes,
            "blocks": vectors.blocks,
        },
    )
    with atomic.new_directory(path) as staging:
        write_result(staging, entry)


def _pack_metric(run: Run) -> dict[str, np.ndarray]:
    """The metric of a map whose density is corrected, as arrays; none for others."""
    near = run.neighbors
    if run.config.density == "plain":
        return {}
    metric = learn_metric(run.y, near.indices[:, : run.config.k], near.distances[:, : run.config.k])
    if metric is None:
        return {}
    return {
        "metric_dual": metric.dual,
        "metric_local": metric.local,
        "metric_typical": np.array([metric.typical]),
    }


def _unpack_metric(arrays: dict[str, np.ndarray]) -> RiemannianMetric | None:
    """Undo `_pack_metric`; takes the arrays out."""
    if "metric_dual" not in arrays:
        return None
    dual, local, typical = (arrays.pop(f"metric_{name}") for name in ("dual", "local", "typical"))
    return RiemannianMetric(dual, local, float(typical[0]))


def check_map_replaceable(path: Path) -> None:
    """Refuse to write a map over something that is not one."""
    if path.is_dir():
        foreign = any(path.iterdir()) and not (path / _ENTRY).is_file()
    else:
        foreign = path.exists()
    if foreign:
        raise InputError(f"{path} exists and is no map; choose another place to write to")
