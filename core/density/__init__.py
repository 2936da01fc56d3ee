"""Density on the map, corrected for its distortion or not, and its highest density regions."""

from core.density.map_density import Contours, Landscape, map_plane, survey
from core.density.regions import (
    COVERAGES,
    HDR,
    LEVELS,
    assign_levels,
    hdr_density,
    sample_size_notice,
    typical_points,
)
from core.density.riemannian_metric import RiemannianMetric, learn_metric
from core.density.trust import (
    MapTrust,
    degenerate_notice,
    kept_by_dimension,
    measure_trust,
    neighbors_kept,
)

__all__ = [
    "COVERAGES",
    "HDR",
    "LEVELS",
    "Contours",
    "Landscape",
    "MapTrust",
    "RiemannianMetric",
    "assign_levels",
    "degenerate_notice",
    "hdr_density",
    "kept_by_dimension",
    "learn_metric",
    "map_plane",
    "measure_trust",
    "neighbors_kept",
    "sample_size_notice",
    "survey",
    "typical_points",
]
