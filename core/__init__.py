"""Statistical manifolds of electricity demand: the library behind Wattfold.

The names below are imported when they are first used, so that ``import core`` costs nothing.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Anomalies": "core.anomalies",
    "BACKENDS": "core.neighbors",
    "DETECTORS": "core.anomalies",
    "Dataset": "core.readings",
    "METHODS": "core.embedding",
    "RunConfig": "core.runs",
    "Runner": "core.runs",
    "SavedMap": "core.placement",
    "Store": "core.runs",
    "Vectors": "core.vectors",
    "Worklist": "core.worklist",
    "build_cube": "core.cube",
    "compare_groups": "core.groups",
    "embed": "core.embedding",
    "find_anomalies": "core.anomalies",
    "find_neighbors": "core.neighbors",
    "find_segments": "core.segments",
    "group_by": "core.groups",
    "hdr_density": "core.density",
    "household_demand": "core.groups",
    "ingest": "core.readings",
    "make_demo": "core.demo",
    "make_engine": "core.engine",
    "make_vectors": "core.vectors",
    "measure_quality": "core.quality",
    "more_like": "core.worklist",
    "place": "core.placement",
    "run": "core.runs",
    "save_map": "core.placement",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
