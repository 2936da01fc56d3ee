"""The stages of a run, each done only if it is not done yet.

What the store holds under a stage's digest is fetched; what it does not hold is computed, and only
then are the inputs of that stage loaded.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from core.anomalies import Surprise, measure_surprise
from core.cube import Cube, build_cube, kept_cube
from core.density import (
    HDR,
    MapTrust,
    RiemannianMetric,
    hdr_density,
    learn_metric,
    measure_trust,
)
from core.embedding import Embedding, embed, n_neighbors_needed
from core.engine import Engine, Local
from core.fields import MAX_METRIC_DIM
from core.neighbors import (
    BACKENDS,
    Index,
    Neighbors,
    build_index,
    choose_backend,
    find_neighbors,
)
from core.neighbors.sharded import find_neighbors_by_shard, suitable_shards
from core.progress import Progress, part
from core.quality import Quality, QualityReference, measure_embedding, prepare_reference
from core.quality.recall import Recall, recall
from core.quality.reference import ALL_POINTS_LIMIT, DEFAULT_SAMPLE
from core.readings import Dataset
from core.runs._shared_stages import SharedStages
from core.runs._stage_entries import (
    MapPoints,
    pack_demand,
    pack_embedding,
    pack_hdr,
    pack_neighbors,
    pack_points,
    pack_quality,
    pack_surprise,
    pack_trust,
    pack_vectors,
    unpack_demand,
    unpack_embedding,
    unpack_hdr,
    unpack_neighbors,
    unpack_points,
    unpack_quality,
    unpack_surprise,
    unpack_trust,
    unpack_vectors,
)
from core.runs._stage_log import STAGES, StageLog
from core.runs.checkpoints import StoredCheckpoints
from core.runs.config import AUTO, RunConfig
from core.runs.digests import Digests
from core.runs.store import StageResult, Store
from core.vectors import Vectors, make_vectors
from core.vectors.mean_demand import WeekDemand, sum_demand

# Vectors are made of the cube about as fast as they are read: only small ones are kept. So is
# what a search builds of them, which may take several times their memory.
KEPT_VECTORS_BYTES = 64 * 2**20

# The name, among the facts of an entry, of how long it took to compute.
_SECONDS = "seconds"


class Pipeline:
    """The stages of one config, each fetched or computed when it is asked for.

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
        self.log = log
        self.shared = shared
        self.store = store
        self.threads = threads
        self.engine = engine or Local(threads)
        self.digests = Digests(dataset, config)

    def graph_stored(self) -> bool:
        """Whether the store holds the neighbours, so that only the map is to be made."""
        digest = self._stored_graph()
        return self.store is not None and digest is not None and self.store.has("neighbors", digest)

    def _stored_graph(self) -> str | None:
        """The digest of the neighbours, if all that it depends on is known."""
        points = self._stored_points()
        if points is None:
            return None
        n = len(points.units)
        k = self._neighbors_needed(n)
        choice = self._known_backend(k)
        return None if choice is None else self._neighbors_digest(n, k, *choice)

    def stored(self) -> bool:
        """Whether the store holds the result of every stage."""
        digest = self._stored_graph()
        entry = None if self.store is None or digest is None else self._fetch("neighbors", digest)
        if self.store is None or entry is None:
            return False
        neighbors = unpack_neighbors(entry)
        n = len(neighbors.indices)
        near = self._nearest(neighbors)
        embedding = self.digests.embedding(neighbors)
        wanted = {
            "embedding": embedding,
            "surprise": self.digests.surprise(near),
            "density": self.digests.density(embedding),
            "trust": self.digests.trust(embedding),
        }
        if self.config.quality:
            wanted["quality"] = self.digests.measured(embedding, n)
            if _is_estimated(neighbors):
                wanted["recall"] = self.digests.measured(near.digest, n)
        return all(self.store.has(stage, digest) for stage, digest in wanted.items())

    # Cube and vectors

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
        with self._computing("cube", self.digests.cube):
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
        with self._found_or_computing("points", self.digests.vectors) as entry:
            if entry is not None:
                return unpack_points(entry)
            vectors = self.vectors()
            points = MapPoints.of(self.cube(), vectors, self._mean_demand(vectors.units))
            self._keep("points", self.digests.vectors, pack_points(points))
            return points

    def _stored_points(self) -> MapPoints | None:
        entry = self._fetch("points", self.digests.vectors)
        return None if entry is None else unpack_points(entry)

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
        with self._found_or_computing("demand", self.digests.demand) as entry:
            if entry is not None:
                return unpack_demand(entry)
            with self.log.stage("vectors") as report:
                demand = sum_demand(
                    self.dataset, period=self.config.period, threads=self.threads, progress=report
                )
            self._keep("demand", self.digests.demand, pack_demand(demand))
            return demand

    def vectors(self) -> Vectors:
        """Return the vectors."""
        vectors: Vectors = self.shared.get_or_make(
            "vectors", self.digests.vectors, self._make_vectors
        )
        return vectors

    def _make_vectors(self) -> Vectors:
        entry, points = self._fetch("vectors", self.digests.vectors), self._stored_points()
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
            self._keep("vectors", self.digests.vectors, pack_vectors(vectors))
        return vectors

    # Neighbours and embedding

    def neighbors(self, n: int) -> Neighbors:
        """Return the neighbours of the n points, as many as the method needs."""
        k = self._neighbors_needed(n)
        backend, parameters = self._known_backend(k) or self._choose_backend(k)
        digest = self._neighbors_digest(n, k, backend, parameters)
        with self._found_or_computing("neighbors", digest) as entry:
            if entry is not None:
                return unpack_neighbors(entry)
            vectors = self.vectors()
            with self.log.stage("neighbors") as report:
                neighbors = self._search(vectors, k, backend, parameters, report)
            self._keep("neighbors", digest, pack_neighbors(neighbors))
            return neighbors

    def _search(
        self,
        vectors: Vectors,
        k: int,
        backend: str,
        parameters: Mapping[str, Any],
        progress: Progress,
    ) -> Neighbors:
        if len(vectors.x) == 1:
            nobody = np.empty((1, 0))
            return Neighbors(nobody.astype(np.int32), nobody, backend, dict(parameters))
        options: dict[str, Any] = {"seed": self.config.seed, "threads": self.threads}
        if suitable_shards(self.engine, len(vectors.x)) > 1:
            return find_neighbors_by_shard(
                vectors,
                k=k,
                backend=backend,
                engine=self.engine,
                progress=progress,
                **options,
                **parameters,
            )
        share = BACKENDS[backend].build_share
        building = part(progress, 0.0, share)

        def build() -> tuple[Index, float]:
            started = time.perf_counter()
            index = build_index(
                vectors, backend=backend, progress=building, **options, **parameters
            )
            return index, time.perf_counter() - started

        fixed = {
            each.name: parameters[each.name]
            for each in BACKENDS[backend].parameters
            if not each.at_query
        }
        digest = self.digests.index(backend, fixed)
        is_built = self.shared.has("index", digest)
        if vectors.x.nbytes <= KEPT_VECTORS_BYTES:
            index, seconds = self.shared.get_or_make("index", digest, build)
        else:
            index, seconds = build()
        if is_built:
            # Searches are compared by their seconds, whichever came first.
            self.log.shared_seconds["neighbors"] = seconds
        asked = {name: value for name, value in parameters.items() if name not in fixed}
        return find_neighbors(
            vectors,
            k=k,
            backend=backend,
            index=index.change(**asked),
            threads=self.threads,
            progress=part(progress, share, 1.0),
        )

    def _neighbors_needed(self, n: int) -> int:
        config = self.config
        return n_neighbors_needed(config.method, config.k, n, config.method_parameters)

    def _neighbors_digest(self, n: int, k: int, backend: str, parameters: Mapping[str, Any]) -> str:
        return self.digests.neighbors(backend, parameters, k, suitable_shards(self.engine, n))

    def _known_backend(self, k: int) -> tuple[str, Mapping[str, Any]] | None:
        """The backend and its parameters; None where ``auto`` has not chosen for this search."""
        if self.config.neighbors != AUTO:
            return self.config.neighbors, self.config.neighbors_parameters
        entry = self._fetch("choice", self.digests.choice(k))
        if entry is None:
            return None
        return entry.facts["backend"], BACKENDS.settings(entry.facts["backend"], {})

    def _choose_backend(self, k: int) -> tuple[str, Mapping[str, Any]]:
        with self._found_or_computing("choice", self.digests.choice(k)) as entry:
            if entry is None:
                backend = choose_backend(self.vectors(), k=k, threads=self.threads)
                entry = StageResult(facts={"backend": backend})
                self._keep("choice", self.digests.choice(k), entry)
        return entry.facts["backend"], BACKENDS.settings(entry.facts["backend"], {})

    def embedding(self, neighbors: Neighbors) -> tuple[Embedding, str]:
        """Return the map and its digest."""
        config = self.config
        digest = self.digests.embedding(neighbors)
        with self._found_or_computing("embedding", digest) as entry:
            if entry is not None:
                return unpack_embedding(entry), digest
            vectors = self.vectors()
            checkpoints = None if self.store is None else StoredCheckpoints(self.store, digest)
            with self.log.stage("embedding") as report:
                embedding = embed(
                    config.method,
                    neighbors,
                    vectors,
                    dim=config.dim,
                    seed=config.seed,
                    threads=self.threads,
                    progress=report,
                    checkpoints=checkpoints,
                    **config.method_parameters,
                )
            self._keep("embedding", digest, pack_embedding(embedding))
            if checkpoints is not None:
                checkpoints.clear()
            return embedding, digest

    # Quality and density

    def _reference(self, n: int, report: Progress) -> QualityReference:
        def make() -> QualityReference:
            return prepare_reference(
                self.vectors(),
                k=self.config.k,
                seed=self.config.seed,
                threads=self.threads,
                progress=report,
            )

        digest = self.digests.measured("reference", n)
        reference: QualityReference = self.shared.get_or_make("reference", digest, make)
        return reference

    def quality(self, embedding: Embedding, embedding_digest: str) -> Quality:
        """Return how faithful the map is."""
        n = len(embedding.y)
        digest = self.digests.measured(embedding_digest, n)
        with self._found_or_computing("quality", digest) as entry:
            if entry is not None:
                return unpack_quality(entry)
            self.vectors()
            with self.log.stage("quality") as report:
                quality = measure_embedding(
                    self._reference(n, report), embedding.y, threads=self.threads, progress=report
                )
            self._keep("quality", digest, pack_quality(quality))
            return quality

    def recall(self, neighbors: Neighbors) -> Recall | None:
        """Return the share of true neighbours, if it is known or asked for."""
        if neighbors.backend == "exact" and neighbors.k > 0:
            return Recall(1.0, 1.0, 1.0, neighbors.n)
        if not self.config.quality or not _is_estimated(neighbors):
            return None
        near = self._nearest(neighbors)
        digest = self.digests.measured(near.digest, near.n)
        with self._found_or_computing("recall", digest) as entry:
            if entry is not None:
                return Recall(**entry.facts)
            self.vectors()
            with self.log.stage("quality") as report:
                measured = recall(
                    near,
                    self._truth(near, report),
                    sample=None if near.n <= ALL_POINTS_LIMIT else DEFAULT_SAMPLE,
                    seed=self.config.seed,
                    threads=self.threads,
                    progress=report,
                )
            self._keep("recall", digest, StageResult(facts=asdict(measured)))
            return measured

    def _truth(self, found: Neighbors, report: Progress) -> Neighbors | Vectors:
        """What to compare neighbours with: the exact ones, of all points if they are not many."""
        if found.n > ALL_POINTS_LIMIT:
            return self.vectors()
        digest = self.digests.neighbors("exact", {}, found.k)
        entry = None if self.store is None else self.store.get("neighbors", digest)
        if entry is not None:
            return Neighbors(entry.arrays["indices"], entry.arrays["distances"], "exact")

        def search() -> Neighbors:
            return find_neighbors(
                self.vectors(), k=found.k, backend="exact", threads=self.threads, progress=report
            )

        truth: Neighbors = self.shared.get_or_make("truth", digest, search)
        return truth

    def _nearest(self, neighbors: Neighbors) -> Neighbors:
        """The first K neighbours, where a method asked for more."""
        return neighbors.nearest(self.config.k)

    def surprise(self, neighbors: Neighbors) -> Surprise:
        """Return how far points are from what their neighbours lead one to expect."""
        near = self._nearest(neighbors)
        # Of the graph alone: all methods share it, t-SNE with its wider graph included.
        digest = self.digests.surprise(near)
        with self._found_or_computing("surprise", digest) as entry:
            if entry is not None:
                return unpack_surprise(entry)
            vectors = self.vectors()
            with self.log.stage("density") as report:
                surprise = measure_surprise(vectors, near, threads=self.threads, progress=report)
            self._keep("surprise", digest, pack_surprise(surprise))
            return surprise

    def _metric(
        self, neighbors: Neighbors, embedding: Embedding, embedding_digest: str, report: Progress
    ) -> RiemannianMetric | None:
        if self.config.dim > MAX_METRIC_DIM:
            return None

        def learn() -> RiemannianMetric | None:
            near = self._nearest(neighbors)
            return learn_metric(
                embedding.y,
                near.indices,
                near.distances,
                threads=self.threads,
                progress=report,
            )

        metric: RiemannianMetric | None = self.shared.get_or_make(
            "metric", self.digests.trust(embedding_digest), learn
        )
        return metric

    def trust(self, neighbors: Neighbors, embedding: Embedding, embedding_digest: str) -> MapTrust:
        """Return how far to trust the map at every point."""
        digest = self.digests.trust(embedding_digest)
        with self._found_or_computing("trust", digest) as entry:
            if entry is not None:
                return unpack_trust(entry)
            with self.log.stage("density") as report:
                metric = self._metric(neighbors, embedding, embedding_digest, report)
                indices = self._nearest(neighbors).indices
                trust = measure_trust(embedding.y, indices, metric, threads=self.threads)
            self._keep("trust", digest, pack_trust(trust))
            return trust

    def density(
        self,
        neighbors: Neighbors,
        embedding: Embedding,
        embedding_digest: str,
        surprise: Surprise,
    ) -> HDR:
        """Return density, levels and ranks."""
        config = self.config
        digest = self.digests.density(embedding_digest)
        with self._found_or_computing("density", digest) as entry:
            if entry is not None:
                return unpack_hdr(entry, n_anomalies=config.n_anomalies)
            with self.log.stage("density") as report:
                isolation = np.zeros(neighbors.n)
                if neighbors.k:
                    isolation = neighbors.distances[:, min(config.k, neighbors.k) - 1]
                metric = None
                if config.density == "corrected":
                    metric = self._metric(neighbors, embedding, embedding_digest, report)
                hdr = hdr_density(
                    embedding.y,
                    n_anomalies=config.n_anomalies,
                    k=config.k,
                    rank_by=config.rank_by,
                    isolation=isolation,
                    surprise=surprise.score,
                    bandwidth=config.bandwidth,
                    metric=metric,
                    threads=self.threads,
                    progress=report,
                )
            if metric is None and config.density == "corrected":
                why = "all points are in one place: there is no distortion to correct for"
                hdr = replace(hdr, notices=(*hdr.notices, why))
            self._keep("density", digest, pack_hdr(hdr))
            return hdr

    # The store

    def _fetch(self, stage: str, digest: str) -> StageResult | None:
        entry = None if self.store is None else self.store.get(stage, digest)
        if entry is None or _SECONDS not in entry.facts:
            return entry
        facts = dict(entry.facts)
        self.log.earlier[stage] = facts.pop(_SECONDS)
        return replace(entry, facts=facts)

    @contextmanager
    def _found_or_computing(self, stage: str, digest: str) -> Iterator[StageResult | None]:
        """Yield a stored entry, or None to the one caller that computes it; all others wait."""
        entry = self._fetch(stage, digest)
        if entry is not None:
            yield entry
            return
        with self._computing(stage, digest):
            yield self._fetch(stage, digest)

    def _computing(self, stage: str, digest: str) -> AbstractContextManager[None]:
        if self.store is None:
            return nullcontext()
        return self.store.computing(stage, digest, waiting=self.log.wait)

    def _keep(self, stage: str, digest: str, entry: StageResult) -> None:
        if self.store is None:
            return
        if stage in STAGES:
            seconds = self.log.computed_in()[stage]
            entry = replace(entry, facts={**entry.facts, _SECONDS: seconds})
        try:
            self.store.put(stage, digest, entry)
        except OSError as error:
            why = f"{self.store.path}: {error.strerror or error}"
            self.log.note(f"results are not kept for the next time: {why}")


def _is_estimated(neighbors: Neighbors) -> bool:
    """Whether the recall of these neighbours has to be measured."""
    return neighbors.k > 0 and neighbors.backend != "exact"
