"""First uses, paid before the clock starts.

The first use of a method or backend in a process imports its packages and compiles or loads its
kernels, which can take longer than the work itself. A table of times should not depend on
their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from core.embedding import METHODS, embed
from core.fields import Distance
from core.neighbors import find_neighbors
from core.vectors import Vectors

# More points than a leaf of a k-d tree holds, or its search would not be used; few columns and
# many, which some backends compare in other ways.
_POINTS, _COLUMNS, _K = 200, (10, 300), 12

# Parameters, of any method, that make it brief.
_BRIEF = {"iterations": 10, "epochs": 10}


class WarmUp:
    """Uses every backend and method once on a few points, when it is about to be timed."""

    def __init__(self, distance: Distance) -> None:
        self._kinds = [_shares(distance, columns) for columns in _COLUMNS]
        if distance == "tv":
            self._kinds += [_counts(columns) for columns in _COLUMNS]
        self._used: set[str] = set()

    def before(
        self, method: str, backend: str, computing: Callable[[str], None] | None
    ) -> Callable[[str], None]:
        """Return what a run should call when a stage is about to be computed."""

        def begin(stage: str) -> None:
            if stage == "neighbors":
                self._once(backend, lambda: self._search(backend))
            elif stage == "embedding":
                self._once(method, lambda: self._embed(method))
            if computing is not None:
                computing(stage)

        return begin

    def _once(self, name: str, use: Callable[[], object]) -> None:
        if name not in self._used:
            use()
            self._used.add(name)

    def _search(self, backend: str) -> None:
        for vectors in self._kinds:
            find_neighbors(vectors, k=_K, backend=backend)

    def _embed(self, method: str) -> None:
        brief: dict[str, Any] = {
            parameter.name: _BRIEF[parameter.name]
            for parameter in METHODS[method].parameters
            if parameter.name in _BRIEF
        }
        vectors = self._kinds[0]
        embed(method, find_neighbors(vectors, k=_K, backend="exact"), vectors, **brief)


def _shares(distance: Distance, columns: int) -> Vectors:
    shares = np.random.default_rng(1).dirichlet(np.ones(columns), _POINTS)
    x = np.sqrt(shares / 2) if distance == "hellinger" else shares
    return Vectors.from_array(x.astype(np.float32), distance=distance)


def _counts(columns: int) -> Vectors:
    """Profiles of equally many readings, whose counts are compared as they are."""
    x = np.random.default_rng(1).integers(0, 9, (_POINTS, columns), dtype=np.uint8)
    weights = np.full(2, 1 / x.sum(axis=1).max())
    return Vectors.from_array(x, distance="tv", blocks=2, block_weights=weights)
