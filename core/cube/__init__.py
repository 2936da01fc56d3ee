"""The cube: counts of readings by household, slot of the week and bin, and the bins themselves."""

from core.cube.build import (
    CUBE_VERSION,
    bin_days,
    build_cube,
    build_day_table,
    kept_cube,
    recount,
)
from core.cube.cube import Cube, sample_size_summary
from core.cube.day_table import DayTable

__all__ = [
    "CUBE_VERSION",
    "Cube",
    "DayTable",
    "bin_days",
    "build_cube",
    "build_day_table",
    "kept_cube",
    "recount",
    "sample_size_summary",
]
