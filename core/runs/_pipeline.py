"""The stages of a run, each done only if it is not done yet.

What the store holds under a stage's digest is fetched; what it does not hold is computed, and only
then are the inputs of that stage loaded.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from core.anomalies import Surprise, measure_surprise
from core.density import (
    HDR,
    MapTrust,
    RiemannianMetric,
    hdr_density,
    learn_metric,
    measure_trust,
)
from core.embedding import Embedding, embed, n_neighbors_needed
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
from core.runs._point_stages import KEPT_VECTORS_BYTES, PointStages
from core.runs._stage_entries import (
    CHOICE,
    EMBEDDING,
    NEIGHBORS,
    QUALITY,
    RECALL,
    SURPRISE,
    TRUST,
    BackendChoice,
    HDRFormat,
)
from core.runs.checkpoints import StoredCheckpoints
from core.runs.config import AUTO
from core.vectors import Vectors


class Pipeline(PointStages):
    """The stages of one config, each fetched or computed when it is asked for."""

    def graph_stored(self) -> bool:
        """Whether the store holds the neighbours, so that only the map is to be made."""
        digest = self._stored_graph()
        return digest is not None and self.cache.has("neighbors", digest)

    def _stored_graph(self) -> str | None:
        """The digest of the neighbours, if all that it depends on is known."""
        points = self.stored_points()
        if points is None:
            return None
        n = len(points.units)
        k = self._neighbors_needed(n)
        choice = self._known_backend(k)
        return None if choice is None else self._neighbors_digest(n, k, *choice)

    def stored(self) -> bool:
        """Whether the store holds the result of every stage."""
        digest = self._stored_graph()
        neighbors = None if digest is None else self.cache.get("neighbors", digest, NEIGHBORS)
        if neighbors is None:
            return False
        n = len(neighbors.indices)
        near = self._nearest(neighbors)
        embedding = self.digests.embedding(neighbors)
        wanted = {
            "embedding": embedding,
            "density": self.digests.density(embedding),
            "trust": self.digests.trust(embedding),
        }
        if self.config.needs_surprise:
            wanted["surprise"] = self.digests.surprise(near)
        if self.config.quality:
            wanted["quality"] = self.digests.measured(embedding, n)
            if _is_estimated(neighbors):
                wanted["recall"] = self.digests.measured(near.digest, n)
        return all(self.cache.has(stage, digest) for stage, digest in wanted.items())

    # Neighbours and embedding

    def neighbors(self, n: int) -> Neighbors:
        """Return the neighbours of the n points, as many as the method needs."""
        k = self._neighbors_needed(n)
        backend, parameters = self._known_backend(k) or self._choose_backend(k)

        def search() -> Neighbors:
            vectors = self.vectors()
            with self.log.stage("neighbors") as report:
                return self._search(vectors, k, backend, parameters, report)

        digest = self._neighbors_digest(n, k, backend, parameters)
        return self.cache.get_or_compute("neighbors", digest, NEIGHBORS, search)

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
        if self.shared.large_indexes or vectors.x.nbytes <= KEPT_VECTORS_BYTES:
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
        choice = self.cache.get("choice", self.digests.choice(k), CHOICE)
        return None if choice is None else (choice.backend, BACKENDS.settings(choice.backend, {}))

    def _choose_backend(self, k: int) -> tuple[str, Mapping[str, Any]]:
        def choose() -> BackendChoice:
            return BackendChoice(choose_backend(self.vectors(), k=k, threads=self.threads))

        backend = self.cache.get_or_compute(
            "choice", self.digests.choice(k), CHOICE, choose
        ).backend
        return backend, BACKENDS.settings(backend, {})

    def embedding(self, neighbors: Neighbors) -> tuple[Embedding, str]:
        """Return the map and its digest."""
        config = self.config
        digest, store = self.digests.embedding(neighbors), self.cache.store
        checkpoints = None if store is None else StoredCheckpoints(store, digest)

        def lay_out() -> Embedding:
            vectors = self.vectors()
            with self.log.stage("embedding") as report:
                return embed(
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

        embedding = self.cache.get_or_compute("embedding", digest, EMBEDDING, lay_out)
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

        def measure() -> Quality:
            self.vectors()
            with self.log.stage("quality") as report:
                return measure_embedding(
                    self._reference(n, report), embedding.y, threads=self.threads, progress=report
                )

        digest = self.digests.measured(embedding_digest, n)
        return self.cache.get_or_compute("quality", digest, QUALITY, measure)

    def recall(self, neighbors: Neighbors) -> Recall | None:
        """Return the share of true neighbours, if it is known or asked for."""
        if neighbors.backend == "exact" and neighbors.k > 0:
            return Recall(1.0, 1.0, 1.0, neighbors.n)
        if not self.config.quality or not _is_estimated(neighbors):
            return None
        near = self._nearest(neighbors)

        def measure() -> Recall:
            self.vectors()
            with self.log.stage("quality") as report:
                return recall(
                    near,
                    self._truth(near, report),
                    sample=None if near.n <= ALL_POINTS_LIMIT else DEFAULT_SAMPLE,
                    seed=self.config.seed,
                    threads=self.threads,
                    progress=report,
                )

        digest = self.digests.measured(near.digest, near.n)
        return self.cache.get_or_compute("recall", digest, RECALL, measure)

    def _truth(self, found: Neighbors, report: Progress) -> Neighbors | Vectors:
        """What to compare neighbours with: the exact ones, of all points if they are not many."""
        if found.n > ALL_POINTS_LIMIT:
            return self.vectors()
        digest = self.digests.neighbors("exact", {}, found.k)

        def search() -> Neighbors:
            stored = self.cache.store and self.cache.store.get("neighbors", digest)
            if stored:
                return Neighbors(stored.arrays["indices"], stored.arrays["distances"], "exact")
            return find_neighbors(
                self.vectors(), k=found.k, backend="exact", threads=self.threads, progress=report
            )

        truth: Neighbors = self.shared.get_or_make("truth", digest, search)
        return truth

    def _nearest(self, neighbors: Neighbors) -> Neighbors:
        """The first K neighbours, where a method asked for more."""
        return neighbors.nearest(self.config.k)

    def surprise(self, neighbors: Neighbors) -> Surprise | None:
        """Return how far points are from what their neighbours suggest, if the config needs it."""
        if not self.config.needs_surprise:
            return None
        near = self._nearest(neighbors)
        # Of the graph alone: all methods share it, t-SNE with its wider graph included.
        digest = self.digests.surprise(near)

        def measure() -> Surprise:
            vectors = self.vectors()
            with self.log.stage("density") as report:
                return measure_surprise(vectors, near, threads=self.threads, progress=report)

        return self.cache.get_or_compute("surprise", digest, SURPRISE, measure)

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

        def measure() -> MapTrust:
            with self.log.stage("density") as report:
                metric = self._metric(neighbors, embedding, embedding_digest, report)
                indices = self._nearest(neighbors).indices
                return measure_trust(embedding.y, indices, metric, threads=self.threads)

        digest = self.digests.trust(embedding_digest)
        return self.cache.get_or_compute("trust", digest, TRUST, measure)

    def density(
        self,
        neighbors: Neighbors,
        embedding: Embedding,
        embedding_digest: str,
        surprise: Surprise | None,
    ) -> HDR:
        """Return density, levels and ranks."""
        config = self.config

        def estimate() -> HDR:
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
                    surprise=None if surprise is None else surprise.score,
                    bandwidth=config.bandwidth,
                    metric=metric,
                    threads=self.threads,
                    progress=report,
                )
            if metric is None and config.density == "corrected":
                why = "all points are in one place: there is no distortion to correct for"
                hdr = replace(hdr, notices=(*hdr.notices, why))
            return hdr

        digest = self.digests.density(embedding_digest)
        form = HDRFormat(n_anomalies=config.n_anomalies)
        return self.cache.get_or_compute("density", digest, form, estimate)


def _is_estimated(neighbors: Neighbors) -> bool:
    """Whether the recall of these neighbours has to be measured."""
    return neighbors.k > 0 and neighbors.backend != "exact"
