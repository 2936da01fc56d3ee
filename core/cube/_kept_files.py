"""Counts that are kept in the dataset directory, in a folder named by their digest.

counts.npy, sample_sizes.npy    the cube
day_*.npy                       the bin of every reading by household and day
cube.json                       all else, and the checksums of the arrays
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from core import atomic
from core.array_files import load_array
from core.cube.cube import Cube
from core.cube.day_table import DayTable
from core.parallel import run_tasks
from core.readings.dataset import file_digest

_DESCRIPTION = "cube.json"
_COUNTS = "counts.npy"
_SAMPLE_SIZES = "sample_sizes.npy"
_DAYS = {
    each.name: f"day_{each.name}.npy" for each in fields(DayTable) if each.name != "households"
}


def keep(directory: Path, cube: Cube, days: DayTable) -> Cube:
    """Write a cube beside its readings and return it memory-mapped."""
    arrays = {_COUNTS: cube.counts, _SAMPLE_SIZES: cube.sample_sizes}
    arrays |= {file: getattr(days, name) for name, file in _DAYS.items()}
    try:
        atomic.sweep_folder(directory.parent)
        with atomic.new_directory(directory, part_of=directory.parents[1]) as staging:
            checksums: dict[str, str] = {}

            def write(file: str) -> None:
                np.save(staging / file, arrays[file], allow_pickle=False)
                checksums[file] = file_digest(staging / file)

            run_tasks(write, arrays)
            description = {
                "digest": cube.digest,
                "bins": cube.bins,
                "edges": [float(edge).hex() for edge in cube.edges],
                "n_readings": cube.n_readings,
                "reference": cube.reference,
                "interval_minutes": cube.interval_minutes,
                "households": cube.households.tolist(),
                "files": {file: checksums[file] for file in arrays},
            }
            atomic.write_json(staging / _DESCRIPTION, description)
    except OSError as error:
        notice = f"the counts are not kept for the next time: {directory} cannot be written"
        return replace(cube, notices=(*cube.notices, f"{notice} ({error.strerror or error})"))
    return replace(cube, counts=_map(directory / _COUNTS))


def load_cube(directory: Path) -> Cube | None:
    """Return the cube kept in a directory; None if there is none or it is damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        description = _read_description(directory)
        if not _is_sound(directory, description, [_COUNTS, _SAMPLE_SIZES]):
            return None
        return Cube(
            counts=_map(directory / _COUNTS),
            sample_sizes=_map(directory / _SAMPLE_SIZES),
            households=np.array(description["households"], dtype=np.int32),
            edges=np.array([float.fromhex(edge) for edge in description["edges"]]),
            bins=description["bins"],
            n_readings=description["n_readings"],
            reference=description["reference"],
            interval_minutes=description["interval_minutes"],
            digest=description["digest"],
        )
    return None


def load_days(directory: Path, households: np.ndarray) -> DayTable | None:
    """Return the bins by day kept in a directory; None if there are none or they are damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        if not _is_sound(directory, _read_description(directory), list(_DAYS.values())):
            return None
        return DayTable(
            households, **{name: _map(directory / file) for name, file in _DAYS.items()}
        )
    return None


def _read_description(directory: Path) -> dict[str, Any]:
    return dict(json.loads((directory / _DESCRIPTION).read_text(encoding="utf-8")))


def _is_sound(directory: Path, description: Mapping[str, Any], files: list[str]) -> bool:
    return description["digest"] == directory.name and all(
        file_digest(directory / file) == description["files"][file] for file in files
    )


def _map(path: Path) -> np.ndarray:
    return load_array(path, mmap_mode="r")
