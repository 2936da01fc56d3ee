"""What every stage of a run is known by in the store.

A digest is made of the digest of the stage before and of the stage's own parameters, so that the
same numbers are found again whoever asks for them, and others are not.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from core.cube import CUBE_VERSION
from core.embedding import METHODS
from core.neighbors import BACKENDS, Neighbors
from core.quality.reference import ALL_POINTS_LIMIT
from core.readings.dataset import Dataset
from core.registry import Value
from core.runs.config import RunConfig
from core.runs.store import make_digest
from core.slots import parse_slots

# To be raised whenever a stage gives other numbers for the same inputs: what is stored from
# before is then no longer found, and evicted in time.
VERSIONS = {
    "demand": 1,
    "vectors": 4,
    "neighbors": 1,
    "embedding": 2,
    "quality": 2,
    "surprise": 2,
    "density": 1,
}


class Digests:
    """The digests of one config on one dataset.

    Attributes
    ----------
    slots : ndarray of int, or None
        The slots that count; None for all.
    selection : tuple of str, or None
        The households that count; None for all.
    reference_households : tuple of str, or None
        Those whose readings make the bins; None for all.
    """

    def __init__(self, dataset: Dataset, config: RunConfig) -> None:
        self._dataset = dataset
        self._config = config
        self.slots: np.ndarray | None = (
            None if config.slots is None else parse_slots(config.slots, dataset.interval_minutes)
        )
        self.selection = config.households if config.household is None else (config.household,)
        self.reference_households = self.selection if config.reference == "selection" else None

    def _codes(self, households: tuple[str, ...] | None) -> list[int] | None:
        if households is None:
            return None
        codes = sorted(self._dataset.code(household) for household in households)
        return None if len(codes) == len(self._dataset.households) else codes

    @cached_property
    def cube(self) -> str:
        """The counts, among those of the dataset."""
        reference = self._codes(self.reference_households)
        return make_digest({"bins": self._config.bins, "reference": reference})

    @cached_property
    def demand(self) -> str:
        """Sums of demand by household and slot."""
        return make_digest({"version": VERSIONS["demand"], "dataset": self._dataset.digest})

    @cached_property
    def vectors(self) -> str:
        """The vectors, and what the points are."""
        config = self._config
        return make_digest(
            {
                "version": VERSIONS["vectors"],
                "cube_version": CUBE_VERSION,
                "dataset": self._dataset.digest,
                "bins": config.bins,
                "reference": self._codes(self.reference_households),
                "unit": config.unit,
                "households": self._codes(self.selection),
                "slots": None if self.slots is None else self.slots.tolist(),
                "distance": config.distance,
                "window": config.window,
                "minimum_sample": config.minimum_sample,
            }
        )

    def choice(self, k: int) -> str:
        """Which backend was chosen for a search."""
        inputs = {"version": VERSIONS["neighbors"], "vectors": self.vectors, "k": k}
        return make_digest(inputs)

    def neighbors(
        self, backend: str, parameters: Mapping[str, Value], k: int, shards: int = 1
    ) -> str:
        """The neighbours that a backend finds."""
        inputs: dict[str, Any] = {
            "version": VERSIONS["neighbors"],
            "vectors": self.vectors,
            "backend": backend,
            "parameters": dict(parameters),
            "k": k,
            "seed": self._config.seed if BACKENDS[backend].seeded else None,
        }
        if shards > 1 and backend != "exact":
            # An approximate search of several shards finds others than that of one.
            inputs["shards"] = shards
        return make_digest(inputs)

    def embedding(self, neighbors: Neighbors) -> str:
        """The map on a graph."""
        config = self._config
        seeded = METHODS[config.method].is_seeded(config.method_parameters, neighbors.n)
        return make_digest(
            {
                "version": VERSIONS["embedding"],
                "vectors": self.vectors,
                # The graph itself, not who found it: backends that agree share all that follows.
                "graph": hash_graph(neighbors),
                "method": config.method,
                "parameters": dict(config.method_parameters),
                "dim": config.dim,
                "seed": config.seed if seeded else None,
            }
        )

    def measured(self, what: str, n: int) -> str:
        """What was measured of something, named by its own digest, with n points."""
        return make_digest(
            {
                "version": VERSIONS["quality"],
                "vectors": self.vectors,
                "of": what,
                "k": self._config.k,
                # It draws the points to measure, where they are not all measured.
                "seed": self._config.seed if n > ALL_POINTS_LIMIT else None,
            }
        )

    def surprise(self, nearest: Neighbors) -> str:
        """The surprise of the points; of the graph alone, so that all methods share it."""
        return make_digest(
            {
                "version": VERSIONS["surprise"],
                "vectors": self.vectors,
                "graph": hash_graph(nearest),
            }
        )

    def density(self, embedding: str) -> str:
        """Density, levels and ranks on a map, named by its digest."""
        return make_digest(
            {
                "version": VERSIONS["density"],
                "embedding": embedding,
                "k": self._config.k,
                "rank_by": self._config.rank_by,
            }
        )


def hash_graph(neighbors: Neighbors) -> str:
    """Make a digest of who is whose neighbour, and how far."""
    content = hashlib.sha256(str(neighbors.indices.shape).encode())
    for array in (neighbors.indices, neighbors.distances):
        content.update(np.ascontiguousarray(array).data)
    return content.hexdigest()
