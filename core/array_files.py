"""Reading NumPy files, one header at a time.

NumPy parses the header of a file as a Python expression, and Python 3.11 and 3.12 may fail with a
SystemError when two threads parse at once (python/cpython#106905).
"""

import threading
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

_parsing = threading.Lock()


def load_array(
    file: str | Path | IO[bytes], *, mmap_mode: Literal["r", "c"] | None = None
) -> np.ndarray:
    """Load an array that ``np.save`` wrote; never one that needs pickle."""
    with _parsing:
        array: np.ndarray = np.load(file, mmap_mode=mmap_mode, allow_pickle=False)
    return array


def load_arrays(file: str | Path) -> dict[str, Any]:
    """Load all arrays that ``np.savez`` wrote; never those that need pickle."""
    with _parsing, np.load(file, allow_pickle=False) as archive:
        return dict(archive)
