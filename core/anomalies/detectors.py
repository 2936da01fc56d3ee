"""All detectors: importing this module registers them."""

from core.anomalies import (  # noqa: F401 (each registers its detector)
    changed,
    clock,
    event,
    hours,
    isolated,
    level,
    meter,
    random_readings,
    rhythm,
    unexplained,
)
from core.anomalies.detector import DETECTORS

__all__ = ["DETECTORS"]
