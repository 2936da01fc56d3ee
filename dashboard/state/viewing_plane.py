"""Which two directions of an embedding with more of them a map shows."""

from itertools import combinations
from typing import Any

import numpy as np

from core.errors import InputError

MAIN = "main plane"
TOUR = "from the tour"

# Beyond so many dimensions, pairs of axes are too many to look at.
MOST_DIMENSIONS = 6


def axis_pairs(n_axes: int) -> dict[str, tuple[int, int]]:
    """Pairs of axes by their names, counted from 1."""
    pairs = combinations(range(n_axes), 2)
    return {f"axes {first + 1} and {second + 1}": (first, second) for first, second in pairs}


def pair_basis(n_axes: int, pair: tuple[int, int]) -> np.ndarray:
    """The two directions of a pair of axes, (n_axes, 2)."""
    return np.eye(n_axes)[:, list(pair)]


def read_basis(content: Any, n_axes: int) -> np.ndarray:
    """Return two directions from outside, made orthogonal and of length one, (n_axes, 2)."""
    try:
        basis = np.array(content, dtype=np.float64)
    except (TypeError, ValueError):
        basis = np.empty(0)
    if basis.shape != (n_axes, 2) or not np.isfinite(basis).all():
        raise InputError(f"a view of {n_axes} dimensions has two numbers for each")
    if np.linalg.matrix_rank(basis) < 2:
        raise InputError("a view has two different directions")
    directions, sizes = np.linalg.qr(basis)
    return np.asarray(directions * np.sign(np.diag(sizes)))
