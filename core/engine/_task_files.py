"""Results of single tasks as files: whole or not at all, and named by what they depend on."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np

from core import atomic
from core.array_files import load_arrays

_ARRAY = "array"


def kind_of(function: Callable[..., Any]) -> type:
    """Return what a function returns, as its annotation says."""
    while isinstance(function, partial):
        function = function.func
    kind: type = get_type_hints(function)["return"]
    if kind is not np.ndarray and not is_dataclass(kind):
        raise TypeError(f"{function.__qualname__} must return an array or a dataclass, not {kind}")
    return kind


def save(result: Any, path: Path) -> None:
    """Write a result of such a function, atomically."""
    if isinstance(result, np.ndarray):
        arrays = {_ARRAY: result}
    else:
        arrays = {each.name: np.asarray(getattr(result, each.name)) for each in fields(result)}
    with atomic.new_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(kind: type, path: Path) -> Any:
    """Read what :func:`save` wrote."""
    arrays = load_arrays(path)
    if kind is np.ndarray:
        return arrays[_ARRAY]
    return kind(**{name: array if array.ndim else array.item() for name, array in arrays.items()})
