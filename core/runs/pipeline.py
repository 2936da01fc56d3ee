"""From a dataset and a config to a run, stage by stage, doing only what is not done yet.

Every stage has a digest made of the digest of the stage before it and of its own parameters. What
the store holds under a digest is fetched; what it does not hold is computed, and only then are the
inputs of that stage loaded.
"""

import hashlib
import resource
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from core.cube import CUBE_VERSION, Cube, build_cube
from core.density import HDR, hdr_density, sample_size_notice
from core.distance import Vectors, make_vectors
from core.embedding import Embedding, embed, n_neighbors_needed
from core.neighbors import BACKENDS, Neighbors, choose_backend, find_neighbors
from core.progress import Progress, silent
from core.quality import Quality, Reference, measure_embedding, prepare_reference
from core.readings.dataset import Dataset
from core.registry import Value
from core.runs.config import AUTO, RunConfig
from core.runs.entries import (
    Points,
    pack_embedding,
    pack_hdr,
    pack_neighbors,
    pack_points,
    pack_quality,
    pack_surprise,
    pack_vectors,
    unpack_embedding,
    unpack_hdr,
    unpack_neighbors,
    unpack_points,
    unpack_quality,
    unpack_surprise,
    unpack_vectors,
)
from core.runs.journal import STAGES, Journal
from core.runs.recall import measure_recall
from core.runs.result import Run, join_metadata
from core.runs.store import Entry, Store, make_digest
from core.slots import parse_slots
from core.surprise import Surprise, measure_surprise, unseen_notice

# To be raised whenever a stage gives other numbers for the same inputs: what is stored from
# before is then no longer found, and evicted in time.
VERSIONS = {
    "vectors": 2,
    "neighbors": 1,
    "embedding": 1,
    "quality": 1,
    "surprise": 1,
    "density": 1,
}

# Vectors are made of the cube about as fast as they are read: only small ones are kept.
KEPT_VECTORS_BYTES = 64 * 2**20

# The name, among the facts of an entry, of how long it took to compute.
_SECONDS = "seconds"


def run(
    dataset: Dataset,
    config: RunConfig,
    *,
    store: Store | None = None,
    threads: int | None = None,
    progress: Progress = silent,
    computing: Callable[[str], None] | None = None,
) -> Run:
    """Map a dataset as a config says.

    Parameters
    ----------
    dataset : Dataset
    config : RunConfig
    store : Store, optional
        Where results of stages are fetched and kept; by default nowhere.
    threads : int, optional
        All cores by default. The result does not depend on them.
    progress : Progress
        Told how far the run is, with the stage in words; may raise to stop it.
    computing : callable, optional
        Told the name of every stage that is computed, when it begins; not of those fetched.

    Returns
    -------
    Run
    """
    return Runner(dataset, store=store, threads=threads).run(
        config, progress=progress, computing=computing
    )


class Runner:
    """Runs several configs on one dataset, and keeps what is dear and in memory between them.

    The last cube, vectors and quality reference are kept, so that runs that differ only in their
    backend, method or what follows share them even where they are too large to be stored.
    """

    def __init__(
        self, dataset: Dataset, *, store: Store | None = None, threads: int | None = None
    ) -> None:
        self.dataset = dataset
        self.store = store
        self.threads = threads
        self._memory: dict[str, tuple[str, Any]] = {}

    def run(
        self,
        config: RunConfig,
        *,
        progress: Progress = silent,
        computing: Callable[[str], None] | None = None,
    ) -> Run:
        """Map the dataset as a config says, see :func:`run`."""
        return _Running(self, config, Journal(progress, computing)).run()

    def remember(self, what: str, digest: str, make: Callable[[], Any]) -> Any:
        """Return what was made last under this digest, or make it."""
        known = self._memory.get(what)
        if known is None or known[0] != digest:
            self._memory.pop(what, None)  # before the next one takes as much memory again
            known = self._memory[what] = (digest, make())
        return known[1]


class _Running:
    """One config on its way through the stages."""

    def __init__(self, runner: Runner, config: RunConfig, journal: Journal) -> None:
        self.runner = runner
        self.dataset = runner.dataset
        self.threads = runner.threads
        self.config = config
        self.journal = journal
        self.slots = (
            None
            if config.slots is None
            else parse_slots(config.slots, self.dataset.interval_minutes)
        )
        self.selection = config.households if config.household is None else (config.household,)
        self.reference_households = self.selection if config.reference == "selection" else None
        self.vectors_digest = make_digest(self._vectors_inputs())

    def run(self) -> Run:
        config, journal = self.config, self.journal
        points = self.points()
        journal.note(*points.notices)
        n = len(points.units)
        if config.k > n - 1:
            journal.note(f"K = {config.k} is more than the other points: {n - 1} is used")
        neighbors, neighbors_digest = self.neighbors(n)
        journal.note(*neighbors.notices)
        # The graph itself, not who found it: backends that agree share all that follows.
        graph_digest = make_digest({"vectors": self.vectors_digest, "graph": _hash(neighbors)})
        embedding, embedding_digest = self.embedding(neighbors, graph_digest)
        journal.note(*embedding.notices)
        quality = self.quality(embedding, embedding_digest) if config.quality else None
        recall = self.recall(neighbors, neighbors_digest)
        if quality is not None:
            journal.note(*quality.notices)
        surprise = self.surprise(neighbors)
        hdr = self.density(neighbors, embedding, embedding_digest, surprise)
        journal.note(*hdr.notices)
        for suspicion in (
            sample_size_notice(hdr.rank, points.units["m"].to_numpy()),
            unseen_notice(
                surprise.score,
                hdr.density,
                points.units["label"],
                n_anomalies=config.n_anomalies,
            ),
        ):
            if suspicion:
                journal.note(suspicion)
        journal.progress(1.0, "Done")
        wanted = [stage for stage in STAGES if stage != "quality" or config.quality]
        return Run(
            config=config,
            dataset_digest=self.dataset.digest,
            n_bins=points.n_bins,
            units=join_metadata(
                points.units, self.dataset.households["household"], self.dataset.metadata
            ),
            left_out=points.left_out,
            neighbors=neighbors,
            embedding=embedding,
            hdr=hdr,
            surprise=surprise,
            quality=quality,
            recall=recall,
            seconds=journal.seconds,
            computed_in=journal.computed_in(),
            cached=tuple(stage for stage in wanted if stage not in journal.computed),
            notices=tuple(journal.notices),
            peak_memory_mb=peak_memory_mb(),
        )

    # Cube and vectors

    def _vectors_inputs(self) -> dict[str, Any]:
        config = self.config
        return {
            "version": VERSIONS["vectors"],
            "cube_version": CUBE_VERSION,
            "dataset": self.dataset.digest,
            "bins": config.bins,
            "reference": self._codes(self.reference_households),
            "unit": config.unit,
            "households": self._codes(self.selection),
            "slots": None if self.slots is None else self.slots.tolist(),
            "distance": config.distance,
            "window": config.window,
            "minimum_sample": config.minimum_sample,
        }

    def _codes(self, households: tuple[str, ...] | None) -> list[int] | None:
        if households is None:
            return None
        codes = sorted(self.dataset.code(household) for household in households)
        return None if len(codes) == len(self.dataset.households) else codes

    def cube(self) -> Cube:
        inputs = {"bins": self.config.bins, "reference": self._codes(self.reference_households)}
        cube: Cube = self.runner.remember("cube", make_digest(inputs), self._build_cube)
        return cube

    def _build_cube(self) -> Cube:
        journal, tell = self.journal, self.journal.part("cube")

        def report(fraction: float, message: str = "") -> None:
            # Where the counts were kept beside the readings, there is nothing to tell but the end.
            if fraction < 1 and "cube" not in journal.computed:
                journal.begin("cube")
            tell(fraction)

        started = time.perf_counter()
        cube = build_cube(
            self.dataset,
            bins=self.config.bins,
            reference_households=self.reference_households,
            threads=self.threads,
            progress=report,
        )
        if "cube" in journal.computed:
            journal.seconds["cube"] = time.perf_counter() - started
        return cube

    def points(self) -> Points:
        points = self._stored_points()
        if points is None:
            points = Points.of(self.cube(), self.vectors())
            self._keep("points", self.vectors_digest, pack_points(points))
        return points

    def _stored_points(self) -> Points | None:
        entry = self._fetch("points", self.vectors_digest)
        return None if entry is None else unpack_points(entry)

    def vectors(self) -> Vectors:
        vectors: Vectors = self.runner.remember("vectors", self.vectors_digest, self._make_vectors)
        return vectors

    def _make_vectors(self) -> Vectors:
        entry, points = self._fetch("vectors", self.vectors_digest), self._stored_points()
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
                slots=self.slots,
                minimum_sample=self.config.minimum_sample,
                progress=report,
            )
        if vectors.x.nbytes <= KEPT_VECTORS_BYTES:
            self._keep("vectors", self.vectors_digest, pack_vectors(vectors))
        return vectors

    # Neighbours and embedding

    def neighbors(self, n: int) -> tuple[Neighbors, str]:
        config = self.config
        k = n_neighbors_needed(config.method, config.k, n, config.method_parameters)
        backend, parameters = self._backend(k)
        digest = make_digest(
            {
                "version": VERSIONS["neighbors"],
                "vectors": self.vectors_digest,
                "backend": backend,
                "parameters": dict(parameters),
                "k": k,
                "seed": config.seed,
            }
        )
        entry = self._fetch("neighbors", digest)
        if entry is not None:
            return unpack_neighbors(entry), digest
        vectors = self.vectors()
        with self.journal.stage("neighbors") as report:
            if n > 1:
                neighbors = find_neighbors(
                    vectors,
                    k=k,
                    backend=backend,
                    seed=config.seed,
                    threads=self.threads,
                    progress=report,
                    **parameters,
                )
            else:
                nobody = np.empty((n, 0))
                neighbors = Neighbors(nobody.astype(np.int32), nobody, backend, dict(parameters))
        self._keep("neighbors", digest, pack_neighbors(neighbors))
        return neighbors, digest

    def _backend(self, k: int) -> tuple[str, Mapping[str, Value]]:
        """Name the backend and its parameters; ``auto`` is settled once for the same search."""
        if self.config.neighbors != AUTO:
            return self.config.neighbors, self.config.neighbors_parameters
        inputs = {"version": VERSIONS["neighbors"], "vectors": self.vectors_digest, "k": k}
        digest = make_digest(inputs)
        entry = self._fetch("choice", digest)
        if entry is None:
            backend = choose_backend(self.vectors(), k=k, threads=self.threads)
            entry = Entry(facts={"backend": backend})
            self._keep("choice", digest, entry)
        backend = entry.facts["backend"]
        return backend, BACKENDS.settings(backend, {})

    def embedding(self, neighbors: Neighbors, graph_digest: str) -> tuple[Embedding, str]:
        config = self.config
        digest = make_digest(
            {
                "version": VERSIONS["embedding"],
                "graph": graph_digest,
                "method": config.method,
                "parameters": dict(config.method_parameters),
                "dim": config.dim,
                "seed": config.seed,
            }
        )
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

    def _reference(self, report: Progress) -> Reference:
        def make() -> Reference:
            return prepare_reference(
                self.vectors(),
                k=self.config.k,
                seed=self.config.seed,
                threads=self.threads,
                progress=report,
            )

        inputs = {"vectors": self.vectors_digest, "k": self.config.k, "seed": self.config.seed}
        reference: Reference = self.runner.remember("reference", make_digest(inputs), make)
        return reference

    def quality(self, embedding: Embedding, embedding_digest: str) -> Quality:
        digest = make_digest(self._measured(embedding_digest))
        entry = self._fetch("quality", digest)
        if entry is not None:
            return unpack_quality(entry)
        self.vectors()
        with self.journal.stage("quality") as report:
            quality = measure_embedding(
                self._reference(report), embedding.y, threads=self.threads, progress=report
            )
        self._keep("quality", digest, pack_quality(quality))
        return quality

    def recall(self, neighbors: Neighbors, neighbors_digest: str) -> float | None:
        if neighbors.k == 0:
            return None
        if neighbors.backend == "exact":
            return 1.0
        if not self.config.quality:
            return None
        digest = make_digest(self._measured(neighbors_digest))
        entry = self._fetch("recall", digest)
        if entry is None:
            self.vectors()
            with self.journal.stage("quality") as report:
                found = measure_recall(
                    neighbors, self._reference(report), threads=self.threads, progress=report
                )
            entry = Entry(facts={"recall": found})
            self._keep("recall", digest, entry)
        recall: float | None = entry.facts["recall"]
        return recall

    def _measured(self, what: str) -> dict[str, Any]:
        return {
            "version": VERSIONS["quality"],
            "of": what,
            "k": self.config.k,
            "seed": self.config.seed,
        }

    def surprise(self, neighbors: Neighbors) -> Surprise:
        k = self.config.k
        near = replace(
            neighbors, indices=neighbors.indices[:, :k], distances=neighbors.distances[:, :k]
        )
        # Of the graph alone: all methods share it, t-SNE with its wider graph included.
        digest = make_digest(
            {
                "version": VERSIONS["surprise"],
                "vectors": self.vectors_digest,
                "graph": _hash(near),
            }
        )
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
        config = self.config
        digest = make_digest(
            {
                "version": VERSIONS["density"],
                "embedding": embedding_digest,
                "k": config.k,
                "rank_by": config.rank_by,
            }
        )
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
        entry = None if self.runner.store is None else self.runner.store.get(stage, digest)
        if entry is None or _SECONDS not in entry.facts:
            return entry
        facts = dict(entry.facts)
        self.journal.earlier[stage] = facts.pop(_SECONDS)
        return replace(entry, facts=facts)

    def _keep(self, stage: str, digest: str, entry: Entry) -> None:
        store = self.runner.store
        if store is None:
            return
        if stage in STAGES:
            entry = replace(entry, facts={**entry.facts, _SECONDS: self.journal.seconds[stage]})
        try:
            store.put(stage, digest, entry)
        except OSError as error:
            self.journal.note(
                f"results are not kept for the next time: {store.path}: {error.strerror or error}"
            )


def _hash(neighbors: Neighbors) -> str:
    content = hashlib.sha256(str(neighbors.indices.shape).encode())
    for array in (neighbors.indices, neighbors.distances):
        content.update(np.ascontiguousarray(array).data)
    return content.hexdigest()


def peak_memory_mb() -> float:
    """The most memory that this process ever took."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024)
