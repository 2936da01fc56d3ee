"""Results of stages as entries of the store, and back."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from core.anomalies import Surprise
from core.cube import Cube
from core.density import HDR, Contours, MapTrust, assign_levels, typical_points
from core.embedding import Embedding
from core.neighbors import Neighbors
from core.quality import Quality
from core.quality.recall import Recall
from core.runs.config import RunConfig
from core.runs.store import StageResult
from core.vectors import Vectors
from core.vectors.mean_demand import WeekDemand

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MapPoints:
    """What the points of a map are, without their coordinates.

    All that is needed of the vectors where everything after them is stored.

    Attributes
    ----------
    units : DataFrame of n rows
        ``label``, ``household``, ``slot`` where the unit has one, the sample size ``m`` and the
        mean demand ``mean_kwh``.
    left_out : DataFrame
        ``label``, ``m`` and ``reason``.
    edges : ndarray of float64, shape (n_bins − 1,)
        As in ``Cube``.
    population : ndarray of int64, shape (n_bins,)
        Readings of all households of the cube in each bin.
    blocks, filled_slots, notices
        As in ``Cube`` and ``Vectors``.
    """

    units: pd.DataFrame
    left_out: pd.DataFrame
    edges: np.ndarray
    population: np.ndarray
    blocks: int
    filled_slots: int
    notices: tuple[str, ...]

    @classmethod
    def of(cls, cube: Cube, vectors: Vectors, mean_kwh: np.ndarray) -> "MapPoints":
        """Take what is known of the points from where it is made."""
        none = pd.DataFrame({"label": [], "m": [], "reason": []})
        return cls(
            units=vectors.units.assign(m=vectors.sample_size, mean_kwh=mean_kwh),
            left_out=none if vectors.left_out is None else vectors.left_out,
            edges=np.array(cube.edges),
            population=cube.counts.sum(axis=(0, 1), dtype=np.int64),
            blocks=vectors.blocks,
            filled_slots=vectors.filled_slots,
            notices=(*cube.notices, *vectors.notices),
        )


@dataclass(frozen=True)
class BackendChoice:
    """The backend that ``auto`` chose for a search."""

    backend: str


class EntryFormat(Generic[T]):
    """How a result is written as an entry of the store, and made of one again.

    By default a dataclass: its arrays, its tables, and as facts what JSON can hold.
    """

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    def pack(self, result: T) -> StageResult:
        """The entry of a result."""
        values = {name: getattr(result, name) for name in self._names}
        arrays = {name: each for name, each in values.items() if isinstance(each, np.ndarray)}
        tables = {name: each for name, each in values.items() if isinstance(each, pd.DataFrame)}
        facts = {
            name: dict(each) if isinstance(each, Mapping) else each
            for name, each in values.items()
            if name not in arrays and name not in tables
        }
        return StageResult(arrays, tables, facts)

    def unpack(self, entry: StageResult) -> T:
        """The result of an entry."""
        return self._kind(**entry.arrays, **entry.tables, **_with_tuples(entry.facts))

    @property
    def _names(self) -> list[str]:
        return [each.name for each in fields(self._kind)]  # type: ignore[arg-type]


class HDRFormat(EntryFormat[HDR]):
    """Arrays and contours; anomalies are the first of the ranks, levels follow from the density."""

    _ARRAYS = ("density", "rank", "thresholds", "bandwidth")
    _CONTOURS = "contours_"

    def __init__(self, *, n_anomalies: int) -> None:
        super().__init__(HDR)
        self._n_anomalies = n_anomalies

    def pack(self, result: HDR) -> StageResult:
        """The entry of a result."""
        arrays = {name: getattr(result, name) for name in self._ARRAYS}
        arrays |= {self._CONTOURS + name: value for name, value in vars(result.contours).items()}
        return StageResult(arrays, facts={"rank_by": result.rank_by, "notices": result.notices})

    def unpack(self, entry: StageResult) -> HDR:
        """The result of an entry."""
        arrays = {name: entry.arrays[name] for name in self._ARRAYS}
        contours = {
            name.removeprefix(self._CONTOURS): array
            for name, array in entry.arrays.items()
            if name.startswith(self._CONTOURS)
        }
        level = assign_levels(arrays["density"], arrays["thresholds"])
        return HDR(
            **{**arrays, **_with_tuples(entry.facts)},
            level=level,
            typical=typical_points(arrays["density"], level),
            anomalies=np.argsort(arrays["rank"])[: self._n_anomalies],
            contours=Contours(**contours),
        )


class QualityFormat(EntryFormat[Quality]):
    """Facts, with the ends of the intervals in pairs."""

    def __init__(self) -> None:
        super().__init__(Quality)

    def unpack(self, entry: StageResult) -> Quality:
        """The result of an entry."""
        quality = super().unpack(entry)
        pairs = {name: (low, high) for name, (low, high) in quality.intervals.items()}
        return replace(quality, intervals=pairs)


POINTS = EntryFormat(MapPoints)
DEMAND = EntryFormat(WeekDemand)
CHOICE = EntryFormat(BackendChoice)
NEIGHBORS = EntryFormat(Neighbors)
EMBEDDING = EntryFormat(Embedding)
QUALITY = QualityFormat()
RECALL = EntryFormat(Recall)
SURPRISE = EntryFormat(Surprise)
TRUST = EntryFormat(MapTrust)


def pack_vectors(vectors: Vectors) -> StageResult:
    """All arrays; what the rows are is in the entry of the points."""
    values = {each.name: getattr(vectors, each.name) for each in fields(vectors)}
    return StageResult(
        {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    )


def unpack_vectors(entry: StageResult, points: MapPoints, config: RunConfig) -> Vectors:
    """Undo :func:`pack_vectors`."""
    arrays: dict[str, Any] = dict(entry.arrays)
    return replace(
        Vectors.from_array(arrays["x"], distance=config.distance, blocks=points.blocks),
        **arrays,
        units=points.units.drop(columns=["m", "mean_kwh"]),
        unit=config.unit,
        left_out=points.left_out,
        filled_slots=points.filled_slots,
        notices=points.notices,
    )


def _with_tuples(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts with the tuples that JSON turned into lists."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in facts.items()}
