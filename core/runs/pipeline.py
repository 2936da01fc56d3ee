"""The stages of a run, each done only if it is not done yet.

What the store holds under a stage's digest is fetched; what it does not hold is computed, and only
then are the inputs of that stage loaded.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from core.cube import Cube, build_cube, kept_cube
from core.demand import WeekDemand, sum_demand
from core.density import HDR, hdr_density
from core.distance import Vectors, make_vectors
from core.embedding import Embedding, embed, n_neighbors_needed
from core.engine import Engine, Local
from core.neighbors import BACKENDS, Neighbors, choose_backend, find_neighbors
from core.neighbors.by_shard import find_neighbors_by_shard, suitable_shards
from core.progress import Progress
from core.quality import Quality, Reference, measure_embedding, prepare_reference
from core.quality.recall import Recall, recall
from core.quality.reference import ALL_POINTS_LIMIT, DEFAULT_SAMPLE
from core.readings.dataset import Dataset
from core.runs.config import AUTO, RunConfig
from core.runs.digests import Digests, hash_graph
from core.runs.entries import (
    Points,
    pack_demand,
    pack_embedding,
    pack_hdr,
    pack_neighbors,
    pack_points,
    pack_quality,
    pack_surprise,
    pack_vectors,
    unpack_demand,
    unpack_embedding,
    unpack_hdr,
    unpack_neighbors,
    unpack_points,
    unpack_quality,
    unpack_surprise,
    unpack_vectors,
)
from core.runs.journal import STAGES, Journal
from core.runs.memory import Memory
from core.runs.store import Entry, Store
from core.surprise import Surprise, measure_surprise

# Vectors are made of the cube about as fast as they are read: only small ones are kept.
KEPT_VECTORS_BYTES = 64 * 2**20

# The name, among the facts of an entry, of how long it took to compute.
_SECONDS = "seconds"


class Pipeline:
    """The stages of one config, each fetched or computed when it is asked for.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
    journal : Journal
        Told what is computed.
    memory : Memory
        What runs on the same dataset share.
    store : Store, optional
        Where results are fetched and kept.
    threads : int, optional
        All cores by default.
    engine : Engine, optional
        Who counts readings and searches neighbours; threads of this process by default.
    """

    def __init__(
        self,
        dataset: Dataset,
        config: RunConfig,
        *,
        journal: Journal,
        memory: Memory,
        store: Store | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.dataset = dataset
        self.config = config
        self.journal = journal
        self.memory = memory
        self.store = store
        self.threads = threads
        self.engine = engine or Local(threads)
        self.digests = Digests(dataset, config)

    # Cube and vectors

    def cube(self) -> Cube:
        """Return the counts."""
        cube: Cube = self.memory.recall("cube", self.digests.cube, self._build_cube)
        return cube

    def _build_cube(self) -> Cube:
        bins, reference = self.config.bins, self.digests.reference_households
        kept = kept_cube(self.dataset, bins=bins, reference_households=reference)
        if kept is not None:
            return kept
        with self.journal.stage("cube") as report:
            return build_cube(
                self.dataset,
                bins=bins,
                reference_households=reference,
                engine=self.engine,
                progress=report,
            )

    def points(self) -> Points:
        """Return what the points are."""
        points = self._stored_points()
        if points is None:
            vectors = self.vectors()
            points = Points.of(self.cube(), vectors, self._mean_demand(vectors.units))
            self._keep("points", self.digests.vectors, pack_points(points))
        return points

    def _stored_points(self) -> Points | None:
        entry = self._fetch("points", self.digests.vectors)
        return None if entry is None else unpack_points(entry)

    def _mean_demand(self, units: pd.DataFrame) -> np.ndarray:
        """Mean demand of every point, in kWh per interval."""
        demand: WeekDemand = self.memory.recall("demand", "", self._week_demand)
        codes = pd.Index(self.dataset.households["household"]).get_indexer(units["household"])
        if "slot" in units:
            return demand.mean_of_slots(codes, units["slot"].to_numpy(), self.config.window)
        slots = self.digests.slots
        return demand.mean_of_households(codes, slice(None) if slots is None else slots)

    def _week_demand(self) -> WeekDemand:
        entry = self._fetch("demand", self.digests.demand)
        if entry is not None:
            return unpack_demand(entry)
        with self.journal.stage("vectors") as report:
            demand = sum_demand(self.dataset, threads=self.threads, progress=report)
        self._keep("demand", self.digests.demand, pack_demand(demand))
        return demand

    def vectors(self) -> Vectors:
        """Return the vectors."""
        vectors: Vectors = self.memory.recall("vectors", self.digests.vectors, self._make_vectors)
        return vectors

    def _make_vectors(self) -> Vectors:
        entry, points = self._fetch("vectors", self.digests.vectors), self._stored_points()
        if entry is not None and points is not None:
            return unpack_vectors(entry, points, self.config)
        cube = self.cube()
        with self.journal.stage("vectors") as report:
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
                progress=report,
            )
        if vectors.x.nbytes <= KEPT_VECTORS_BYTES:
            self._keep("vectors", self.digests.vectors, pack_vectors(vectors))
        return vectors

    # Neighbours and embedding

    def neighbors(self, n: int) -> Neighbors:
        """Return the neighbours of the n points, as many as the method needs."""
        config = self.config
        k = n_neighbors_needed(config.method, config.k, n, config.method_parameters)
        backend, parameters = self._backend(k)
        shards = suitable_shards(self.engine, n)
        digest = self.digests.neighbors(backend, parameters, k, shards)
        entry = self._fetch("neighbors", digest)
        if entry is not None:
            return unpack_neighbors(entry)
        vectors = self.vectors()
        with self.journal.stage("neighbors") as report:
            if n > 1:
                neighbors = find_neighbors_by_shard(
                    vectors,
                    k=k,
                    backend=backend,
                    engine=self.engine,
                    seed=config.seed,
                    threads=self.threads,
                    progress=report,
                    **parameters,
                )
            else:
                nobody = np.empty((n, 0))
                neighbors = Neighbors(nobody.astype(np.int32), nobody, backend, dict(parameters))
        self._keep("neighbors", digest, pack_neighbors(neighbors))
        return neighbors

    def _backend(self, k: int) -> tuple[str, Mapping[str, Any]]:
        """Name the backend and its parameters; ``auto`` is settled once for the same search."""
        if self.config.neighbors != AUTO:
            return self.config.neighbors, self.config.neighbors_parameters
        digest = self.digests.choice(k)
        entry = self._fetch("choice", digest)
        if entry is None:
            backend = choose_backend(self.vectors(), k=k, threads=self.threads)
            entry = Entry(facts={"backend": backend})
            self._keep("choice", digest, entry)
        backend = entry.facts["backend"]
        return backend, BACKENDS.settings(backend, {})

    def embedding(self, neighbors: Neighbors) -> tuple[Embedding, str]:
        """Return the map and its digest."""
        config = self.config
        digest = self.digests.embedding(neighbors)
        entry = self._fetch("embedding", digest)
        if entry is not None:
            return unpack_embedding(entry), digest
        vectors = self.vectors()
        with self.journal.stage("embedding") as report:
            embedding = embed(
                config.method,
                neighbors,
                vectors,
                dim=config.dim,
                seed=config.seed,
                threads=self.threads,
                progress=report,
                **config.method_parameters,
            )
        self._keep("embedding", digest, pack_embedding(embedding))
        return embedding, digest

    # Quality and density

    def _reference(self, n: int, report: Progress) -> Reference:
        def make() -> Reference:
            return prepare_reference(
                self.vectors(),
                k=self.config.k,
                seed=self.config.seed,
                threads=self.threads,
                progress=report,
            )

        digest = self.digests.measured("reference", n)
        reference: Reference = self.memory.recall("reference", digest, make)
        return reference

    def quality(self, embedding: Embedding, embedding_digest: str) -> Quality:
        """Return how faithful the map is."""
        n = len(embedding.y)
        digest = self.digests.measured(embedding_digest, n)
        entry = self._fetch("quality", digest)
        if entry is not None:
            return unpack_quality(entry)
        self.vectors()
        with self.journal.stage("quality") as report:
            quality = measure_embedding(
                self._reference(n, report), embedding.y, threads=self.threads, progress=report
            )
        self._keep("quality", digest, pack_quality(quality))
        return quality

    def recall(self, neighbors: Neighbors) -> Recall | None:
        """Return the share of true neighbours, if it is known or asked for."""
        if neighbors.k == 0:
            return None
        if neighbors.backend == "exact":
            return Recall(1.0, 1.0, 1.0, neighbors.n)
        if not self.config.quality:
            return None
        near = self._nearest(neighbors)
        digest = self.digests.measured(hash_graph(near), near.n)
        entry = self._fetch("recall", digest)
        if entry is not None:
            return Recall(**entry.facts)
        self.vectors()
        with self.journal.stage("quality") as report:
            measured = recall(
                near,
                self._truth(near, report),
                sample=None if near.n <= ALL_POINTS_LIMIT else DEFAULT_SAMPLE,
                seed=self.config.seed,
                threads=self.threads,
                progress=report,
            )
        self._keep("recall", digest, Entry(facts=asdict(measured)))
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

        truth: Neighbors = self.memory.recall("truth", digest, search)
        return truth

    def _nearest(self, neighbors: Neighbors) -> Neighbors:
        """The first K neighbours, where a method asked for more."""
        k = self.config.k
        return replace(
            neighbors, indices=neighbors.indices[:, :k], distances=neighbors.distances[:, :k]
        )

    def surprise(self, neighbors: Neighbors) -> Surprise:
        """Return how far points are from what their neighbours lead one to expect."""
        near = self._nearest(neighbors)
        # Of the graph alone: all methods share it, t-SNE with its wider graph included.
        digest = self.digests.surprise(near)
        entry = self._fetch("surprise", digest)
        if entry is not None:
            return unpack_surprise(entry)
        vectors = self.vectors()
        with self.journal.stage("density") as report:
            surprise = measure_surprise(vectors, near, threads=self.threads, progress=report)
        self._keep("surprise", digest, pack_surprise(surprise))
        return surprise

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
        entry = self._fetch("density", digest)
        if entry is not None:
            return unpack_hdr(entry, n_anomalies=config.n_anomalies)
        with self.journal.stage("density") as report:
            isolation = np.zeros(neighbors.n)
            if neighbors.k:
                isolation = neighbors.distances[:, min(config.k, neighbors.k) - 1]
            hdr = hdr_density(
                embedding.y,
                n_anomalies=config.n_anomalies,
                k=config.k,
                rank_by=config.rank_by,
                isolation=isolation,
                surprise=surprise.score,
                threads=self.threads,
                progress=report,
            )
        self._keep("density", digest, pack_hdr(hdr))
        return hdr

    # The store

    def _fetch(self, stage: str, digest: str) -> Entry | None:
        entry = None if self.store is None else self.store.get(stage, digest)
        if entry is None or _SECONDS not in entry.facts:
            return entry
        facts = dict(entry.facts)
        self.journal.earlier[stage] = facts.pop(_SECONDS)
        return replace(entry, facts=facts)

    def _keep(self, stage: str, digest: str, entry: Entry) -> None:
        if self.store is None:
            return
        if stage in STAGES:
            entry = replace(entry, facts={**entry.facts, _SECONDS: self.journal.seconds[stage]})
        try:
            self.store.put(stage, digest, entry)
        except OSError as error:
            why = f"{self.store.path}: {error.strerror or error}"
            self.journal.note(f"results are not kept for the next time: {why}")
