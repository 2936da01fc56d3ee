"""A map on the disk, with all it takes to put new points on it: a directory of its own."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from core import atomic
from core.cube import Cube
from core.distance import Vectors
from core.errors import InputError
from core.landscape import Landscape, survey
from core.readings.dataset import file_digest
from core.runs.config import RunConfig
from core.runs.result import Run
from core.runs.store import Entry, read_entry, write_entry
from core.surprise import Expectation, make_expectation

SCHEMA = 1
_FORMAT = "wattfold map"
_ENTRY = "entry.json"


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedMap:
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
        As in :class:`core.density.HDR`.
    thresholds : ndarray of shape (6,)
        The least density in each highest density region.
    isolation : ndarray of shape (n,)
        The distance to the K-th neighbour.
    surprise : ndarray of shape (n,)
        How far every point is from what its neighbours lead one to expect.
    expectation : Expectation
        What the map leads one to expect of new points.
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
    surprise: np.ndarray
    expectation: Expectation

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.y)

    @cached_property
    def landscape(self) -> Landscape:
        """The density as a function of the place, the same that the levels were found by."""
        return survey(self.y)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read what :func:`save_map` wrote."""
        path = Path(path)
        if not (path / _ENTRY).is_file():
            raise InputError(
                f"there is no map at {path}; make one with wattfold embed DIR --save-map {path}"
            )
        try:
            directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                entry = read_entry(directory)
            finally:
                os.close(directory)
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
                vectors=as_coordinates(vectors),
                expectation=Expectation(arrays.pop("own_excess"), arrays.pop("window_scale")),
                **arrays,
            )
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
            raise InputError(
                f"the map at {path} cannot be read ({error}); make it again with wattfold embed "
                "--save-map"
            ) from error


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
    k = min(run.config.k, run.neighbors.k)
    expectation = make_expectation(vectors, run.neighbors, k=k)
    entry = Entry(
        arrays={
            "x": vectors.x,
            "sample_size": vectors.sample_size,
            "block_sizes": _block_sizes(vectors),
            "edges": cube.edges,
            "y": run.y,
            "density": run.hdr.density,
            "level": run.hdr.level,
            "rank": run.hdr.rank,
            "thresholds": run.hdr.thresholds,
            "isolation": run.neighbors.distances[:, k - 1] if k else np.zeros(run.n),
            "surprise": run.surprise.score,
            "own_excess": expectation.own,
            "window_scale": expectation.scale,
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
        write_entry(staging, entry)


def check_map_replaceable(path: Path) -> None:
    """Refuse to write a map over something that is not one."""
    if path.is_dir():
        foreign = any(path.iterdir()) and not (path / _ENTRY).is_file()
    else:
        foreign = path.exists()
    if foreign:
        raise InputError(f"{path} exists and is no map; choose another place to write to")


def as_coordinates(vectors: Vectors) -> Vectors:
    """Return the same points as float32 coordinates.

    Counts stand for probabilities only beside others of the same sample sizes, which new points
    do not have.
    """
    if vectors.x.dtype.kind != "u":
        return vectors
    n, p = vectors.x.shape
    sizes = _block_sizes(vectors)
    probabilities = np.empty((n, vectors.blocks, p // vectors.blocks), np.float32)
    for row in range(n):
        counts = vectors.x[row].reshape(vectors.blocks, -1)
        probabilities[row] = counts / sizes[row, :, None]
    return replace(vectors, x=probabilities.reshape(n, p), block_weights=None)


def _block_sizes(vectors: Vectors) -> np.ndarray:
    if vectors.block_sizes is None:
        raise InputError("a map needs the sample size of every block; make vectors of a cube")
    return vectors.block_sizes
