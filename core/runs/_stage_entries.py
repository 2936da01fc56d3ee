"""Results of stages as entries of the store, and back."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from core.anomalies import Surprise
from core.cube import Cube
from core.density import HDR, Contours, MapTrust, assign_levels, typical_points
from core.embedding import Embedding
from core.neighbors import Neighbors
from core.quality import Quality
from core.runs.config import RunConfig
from core.runs.store import StageResult
from core.vectors import Vectors
from core.vectors.mean_demand import WeekDemand

_HDR_ARRAYS = ("density", "rank", "thresholds", "bandwidth")
_CONTOURS = "contours_"


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


def pack_points(points: MapPoints) -> StageResult:
    """Tables of the units, and the rest as facts."""
    facts = {name: getattr(points, name) for name in ("blocks", "filled_slots")}
    return StageResult(
        {"edges": points.edges, "population": points.population},
        tables={"units": points.units, "left_out": points.left_out},
        facts={**facts, "notices": points.notices},
    )


def unpack_points(entry: StageResult) -> MapPoints:
    """Undo :func:`pack_points`."""
    return MapPoints(**{**entry.arrays, **entry.tables, **_with_tuples(entry.facts, "notices")})


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


def pack_neighbors(neighbors: Neighbors) -> StageResult:
    """Two arrays, and the backend that found them."""
    return StageResult(
        {"indices": neighbors.indices, "distances": neighbors.distances},
        facts={
            "backend": neighbors.backend,
            "parameters": dict(neighbors.parameters),
            "notices": neighbors.notices,
        },
    )


def unpack_neighbors(entry: StageResult) -> Neighbors:
    """Undo :func:`pack_neighbors`."""
    return Neighbors(**{**entry.arrays, **_with_tuples(entry.facts, "notices")})


def pack_embedding(embedding: Embedding) -> StageResult:
    """Coordinates, and how they came about."""
    arrays = {"y": embedding.y}
    if embedding.eigenvalues is not None:
        arrays["eigenvalues"] = embedding.eigenvalues
    facts = {
        "method": embedding.method,
        "parameters": dict(embedding.parameters),
        "components": embedding.components,
        "landmarks": embedding.landmarks,
        "notices": embedding.notices,
    }
    return StageResult(arrays, facts=facts)


def unpack_embedding(entry: StageResult) -> Embedding:
    """Undo :func:`pack_embedding`."""
    return Embedding(**{**entry.arrays, **_with_tuples(entry.facts, "notices")})


def pack_quality(quality: Quality) -> StageResult:
    """All facts."""
    return StageResult(
        facts={
            **quality.measures(),
            "k": quality.k,
            "n": quality.n,
            "sample_size": quality.sample_size,
            "intervals": dict(quality.intervals),
            "notices": quality.notices,
        }
    )


def unpack_quality(entry: StageResult) -> Quality:
    """Undo :func:`pack_quality`."""
    facts = _with_tuples(entry.facts, "notices")
    facts["intervals"] = {name: tuple(ends) for name, ends in facts["intervals"].items()}
    return Quality(**facts)


def pack_surprise(surprise: Surprise) -> StageResult:
    """All arrays."""
    return StageResult(dict(vars(surprise)))


def unpack_surprise(entry: StageResult) -> Surprise:
    """Undo :func:`pack_surprise`."""
    return Surprise(**entry.arrays)


def pack_hdr(hdr: HDR) -> StageResult:
    """Arrays; anomalies are the first of the ranks, and levels follow from the density."""
    arrays = {name: getattr(hdr, name) for name in _HDR_ARRAYS}
    arrays |= {_CONTOURS + name: value for name, value in vars(hdr.contours).items()}
    return StageResult(arrays, facts={"rank_by": hdr.rank_by, "notices": hdr.notices})


def unpack_hdr(entry: StageResult, *, n_anomalies: int) -> HDR:
    """Undo :func:`pack_hdr`."""
    arrays = {name: entry.arrays[name] for name in _HDR_ARRAYS}
    contours = {
        name.removeprefix(_CONTOURS): array
        for name, array in entry.arrays.items()
        if name.startswith(_CONTOURS)
    }
    level = assign_levels(arrays["density"], arrays["thresholds"])
    return HDR(
        **{**arrays, **_with_tuples(entry.facts, "notices")},
        level=level,
        typical=typical_points(arrays["density"], level),
        anomalies=np.argsort(arrays["rank"])[:n_anomalies],
        contours=Contours(**contours),
    )


def pack_trust(trust: MapTrust) -> StageResult:
    """All arrays."""
    return StageResult(dict(vars(trust)))


def unpack_trust(entry: StageResult) -> MapTrust:
    """Undo :func:`pack_trust`."""
    return MapTrust(**entry.arrays)


def pack_demand(demand: WeekDemand) -> StageResult:
    """All arrays."""
    return StageResult(dict(vars(demand)))


def unpack_demand(entry: StageResult) -> WeekDemand:
    """Undo :func:`pack_demand`."""
    return WeekDemand(**entry.arrays)


def _with_tuples(facts: Any, *names: str) -> dict[str, Any]:
    """Facts with the tuples that JSON turned into lists."""
    return {name: tuple(value) if name in names else value for name, value in facts.items()}
