"""From the readings to the points of a map: counts, what the points are, their vectors."""

import numpy as np
import pandas as pd

from core.cube import Cube, build_cube, kept_cube
from core.engine import Engine, Local
from core.readings import Dataset
from core.runs._shared_stages import SharedStages
from core.runs._stage_cache import StageCache
from core.runs._stage_entries import DEMAND, POINTS, MapPoints, pack_vectors, unpack_vectors
from core.runs._stage_log import StageLog
from core.runs.config import RunConfig
from core.runs.digests import Digests
from core.runs.store import Store
from core.vectors import Vectors, make_vectors
from core.vectors.mean_demand import WeekDemand, sum_demand

# Vectors are made of the cube about as fast as they are read: only small ones are kept. So is
# what a search builds of them, which may take several times their memory.
KEPT_VECTORS_BYTES = 64 * 2**20


class PointStages:
    """The first stages of one config, each fetched or computed when it is asked for.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
    log : StageLog
        Keeps what is computed and how long it takes.
    shared : SharedStages
        What runs on the same dataset share.
    store : Store, optional
        Where results are fetched and kept.
    threads : int, optional
        All cores by default.
    engine : Engine, optional
        Where readings are counted and neighbours searched; threads of this process by default.
    """

    def __init__(
        self,
        dataset: Dataset,
        config: RunConfig,
        *,
        log: StageLog,
        shared: SharedStages,
        store: Store | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.dataset = dataset
        self.config = config
        self.digests = Digests(dataset, config)
        self.log = log
        self.shared = shared
        self.cache = StageCache(store, log)
        self.threads = threads
        self.engine = engine or Local(threads)

    def cube(self) -> Cube:
        """Return the counts."""
        cube: Cube = self.shared.get_or_make("cube", self.digests.cube, self._build_cube)
        return cube

    def _build_cube(self) -> Cube:
        def kept() -> Cube | None:
            return kept_cube(self.dataset, bins=bins, reference_households=reference, period=period)

        bins, reference = self.config.bins, self.digests.reference_households
        period = self.config.period
        cube = kept()
        if cube is not None:
            return cube
        with self.cache.computing("cube", self.digests.cube):
            cube = kept()  # beside the readings, not in the store
            if cube is not None:
                return cube
            with self.log.stage("cube") as report:
                return build_cube(
                    self.dataset,
                    bins=bins,
                    reference_households=reference,
                    period=period,
                    threads=self.threads,
                    engine=self.engine,
                    progress=report,
                )

    def points(self) -> MapPoints:
        """Return what the points are."""

        def describe() -> MapPoints:
            vectors = self.vectors()
            return MapPoints.of(self.cube(), vectors, self._mean_demand(vectors.units))

        return self.cache.get_or_compute("points", self.digests.vectors, POINTS, describe)

    def stored_points(self) -> MapPoints | None:
        """Return what the points are, if that is stored."""
        return self.cache.get("points", self.digests.vectors, POINTS)

    def _mean_demand(self, units: pd.DataFrame) -> np.ndarray:
        """Mean demand of every point, in kWh per interval."""
        demand: WeekDemand = self.shared.get_or_make(
            "demand", self.digests.demand, self._week_demand
        )
        codes = pd.Index(self.dataset.households["household"]).get_indexer(units["household"])
        if "slot" in units:
            return demand.mean_of_slots(codes, units["slot"].to_numpy(), self.config.window)
        slots = self.digests.slots
        return demand.mean_of_households(codes, slice(None) if slots is None else slots)

    def _week_demand(self) -> WeekDemand:
        def add_up() -> WeekDemand:
            with self.log.stage("vectors") as report:
                return sum_demand(
                    self.dataset, period=self.config.period, threads=self.threads, progress=report
                )

        return self.cache.get_or_compute("demand", self.digests.demand, DEMAND, add_up)

    def vectors(self) -> Vectors:
        """Return the vectors."""
        vectors: Vectors = self.shared.get_or_make(
            "vectors", self.digests.vectors, self._make_vectors
        )
        return vectors

    def _make_vectors(self) -> Vectors:
        entry, points = self.cache.fetch("vectors", self.digests.vectors), self.stored_points()
        if entry is not None and points is not None:
            return unpack_vectors(entry, points, self.config)
        cube = self.cube()
        with self.log.stage("vectors") as report:
            vectors = make_vectors(
                cube,
                self.dataset,
                unit=self.config.unit,
                distance=self.config.distance,
                window=self.config.window,
                households=self.config.households,
                household=self.config.household,
                slots=self.digests.slots,
                minimum_sample=self.config.minimum_sample,
                threads=self.threads,
                progress=report,
            )
        if vectors.x.nbytes <= KEPT_VECTORS_BYTES:
            self.cache.keep("vectors", self.digests.vectors, pack_vectors(vectors))
        return vectors
