"""What every stage of a run is known by in the store.

A digest is made of the digest of the stage before and of the stage's own parameters, so that the
same numbers are found again, and no others.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from core.cube import CUBE_VERSION
from core.embedding import METHODS
from core.fields import FIELDS, FIRST_VERSION, Stage
from core.neighbors import BACKENDS, Neighbors
from core.quality.reference import ALL_POINTS_LIMIT
from core.readings import Dataset
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
    "trust": 1,
}

# Fields of version 0.1 that digests hold in a form of their own, see below.
_IN_ANOTHER_FORM = {
    *("household", "neighbors", "neighbors_parameters", "k", "method_parameters", "seed")
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
        The households whose readings make the bins; None for all.
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

    def _fields_of(self, stage: Stage) -> dict[str, Any]:
        """The declared fields that a stage is the first to depend on, with their values.

        Households are given by their codes, which do not depend on how they are chosen.
        """
        codes = {
            "reference": self.reference_households,
            "households": self.selection,
        }
        values: dict[str, Any] = {}
        for name, field in FIELDS.items():
            if field.stage != stage or name in _IN_ANOTHER_FORM:
                continue
            value = getattr(self._config, name)
            if name in codes:
                value = self._codes(codes[name])
            elif name == "slots" and self.slots is not None:
                value = self.slots.tolist()
            elif field.since != FIRST_VERSION and value == field.default:
                continue
            values[name] = value
        return values

    @cached_property
    def cube(self) -> str:
        """The counts, among those of the dataset."""
        return make_digest(self._fields_of("cube"))

    @cached_property
    def demand(self) -> str:
        """Sums of demand by household and slot."""
        inputs = {"version": VERSIONS["demand"], "dataset": self._dataset.digest}
        if not self._config.period.is_whole:
            inputs["period"] = self._config.period.to_json()
        return make_digest(inputs)

    @cached_property
    def vectors(self) -> str:
        """The vectors, and what the points are."""
        return make_digest(
            {
                "version": VERSIONS["vectors"],
                "cube_version": CUBE_VERSION,
                "dataset": self._dataset.digest,
                **self._fields_of("cube"),
                **self._fields_of("vectors"),
            }
        )

    def choice(self, k: int) -> str:
        """Which backend was chosen for a search."""
        inputs = {"version": VERSIONS["neighbors"], "vectors": self.vectors, "k": k}
        return make_digest(inputs)

    def index(self, backend: str, parameters: Mapping[str, Value]) -> str:
        """What a backend builds of the vectors with these parameters."""
        seed = self._config.seed if BACKENDS[backend].seeded else None
        inputs = {"vectors": self.vectors, "backend": backend, "parameters": dict(parameters)}
        return make_digest({**inputs, "seed": seed})

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
            **self._fields_of("neighbors"),
        }
        if shards > 1 and backend != "exact":
            # An approximate search of several shards finds others than that of one.
            inputs["shards"] = shards
        return make_digest(inputs)

    def embedding(self, neighbors: Neighbors) -> str:
        """The map on a graph."""
        config = self._config
        method, settings = METHODS[config.method], config.method_parameters
        seeded = method.is_seeded(settings, neighbors.n)
        return make_digest(
            {
                "version": VERSIONS["embedding"] + method.revision(settings, neighbors.n),
                "vectors": self.vectors,
                # The graph itself, not its backend: backends that agree share all that follows.
                "graph": neighbors.digest,
                "parameters": dict(settings),
                "seed": config.seed if seeded else None,
                **self._fields_of("embedding"),
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
                "graph": nearest.digest,
            }
        )

    def trust(self, embedding: str) -> str:
        """Distortion of a map and the neighbours that it keeps, named by its digest."""
        return make_digest(
            {"version": VERSIONS["trust"], "embedding": embedding, "k": self._config.k}
        )

    def density(self, embedding: str) -> str:
        """Density, levels and ranks on a map, named by its digest."""
        return make_digest(
            {
                "version": VERSIONS["density"],
                "embedding": embedding,
                "k": self._config.k,
                **self._fields_of("density"),
            }
        )
