"""Statistical manifolds of electricity demand: the library behind Wattfold.

The names below are imported when they are first used, so that ``import core`` costs nothing.
"""

from typing import TYPE_CHECKING

from core.lazy_names import lazy_names

if TYPE_CHECKING:  # what __getattr__ finds, for type checkers and editors
    from core.anomalies import DETECTORS as DETECTORS
    from core.anomalies import Anomalies as Anomalies
    from core.anomalies import find_anomalies as find_anomalies
    from core.cube import build_cube as build_cube
    from core.demo import make_demo as make_demo
    from core.density import hdr_density as hdr_density
    from core.embedding import METHODS as METHODS
    from core.embedding import embed as embed
    from core.engine import make_engine as make_engine
    from core.estimators import ManifoldMap as ManifoldMap
    from core.estimators import NeighborsTransformer as NeighborsTransformer
    from core.estimators import StatisticalDistance as StatisticalDistance
    from core.groups import compare_groups as compare_groups
    from core.groups import group_by as group_by
    from core.groups import household_demand as household_demand
    from core.neighbors import BACKENDS as BACKENDS
    from core.neighbors import find_neighbors as find_neighbors
    from core.placement import SavedMap as SavedMap
    from core.placement import place as place
    from core.placement import save_map as save_map
    from core.plots import plot_anomaly as plot_anomaly
    from core.plots import plot_calendar as plot_calendar
    from core.plots import plot_map as plot_map
    from core.quality import measure_quality as measure_quality
    from core.readings import Dataset as Dataset
    from core.readings import IngestOptions as IngestOptions
    from core.readings import ingest as ingest
    from core.runs import RunConfig as RunConfig
    from core.runs import Runner as Runner
    from core.runs import Store as Store
    from core.runs import run as run
    from core.segments import find_segments as find_segments
    from core.vector_map import map_vectors as map_vectors
    from core.vectors import Vectors as Vectors
    from core.vectors import from_samples as from_samples
    from core.vectors import make_vectors as make_vectors
    from core.worklist import Worklist as Worklist
    from core.worklist import more_like as more_like

_HOMES = {
    "Anomalies": "anomalies",
    "BACKENDS": "neighbors",
    "DETECTORS": "anomalies",
    "Dataset": "readings",
    "IngestOptions": "readings",
    "METHODS": "embedding",
    "ManifoldMap": "estimators",
    "NeighborsTransformer": "estimators",
    "RunConfig": "runs",
    "Runner": "runs",
    "SavedMap": "placement",
    "StatisticalDistance": "estimators",
    "Store": "runs",
    "Vectors": "vectors",
    "Worklist": "worklist",
    "build_cube": "cube",
    "compare_groups": "groups",
    "embed": "embedding",
    "find_anomalies": "anomalies",
    "find_neighbors": "neighbors",
    "find_segments": "segments",
    "from_samples": "vectors",
    "group_by": "groups",
    "hdr_density": "density",
    "household_demand": "groups",
    "ingest": "readings",
    "make_demo": "demo",
    "make_engine": "engine",
    "make_vectors": "vectors",
    "map_vectors": "vector_map",
    "measure_quality": "quality",
    "more_like": "worklist",
    "place": "placement",
    "plot_anomaly": "plots",
    "plot_calendar": "plots",
    "plot_map": "plots",
    "run": "runs",
    "save_map": "placement",
}

# As a list, which type checkers can read.
__all__ = [
    "BACKENDS",
    "DETECTORS",
    "METHODS",
    "Anomalies",
    "Dataset",
    "IngestOptions",
    "ManifoldMap",
    "NeighborsTransformer",
    "RunConfig",
    "Runner",
    "SavedMap",
    "StatisticalDistance",
    "Store",
    "Vectors",
    "Worklist",
    "build_cube",
    "compare_groups",
    "embed",
    "find_anomalies",
    "find_neighbors",
    "find_segments",
    "from_samples",
    "group_by",
    "hdr_density",
    "household_demand",
    "ingest",
    "make_demo",
    "make_engine",
    "make_vectors",
    "map_vectors",
    "measure_quality",
    "more_like",
    "place",
    "plot_anomaly",
    "plot_calendar",
    "plot_map",
    "run",
    "save_map",
]


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
