"""From a dataset and a config to a run."""

from collections.abc import Callable

from core.cube import Cube
from core.density import sample_size_notice
from core.distance import Vectors
from core.engine import Engine
from core.peak_memory import peak_memory_mb
from core.progress import Progress, silent
from core.readings.dataset import Dataset
from core.runs.config import RunConfig
from core.runs.journal import STAGES, Journal
from core.runs.memory import Memory
from core.runs.pipeline import Pipeline
from core.runs.result import Run, join_metadata
from core.runs.store import Store
from core.surprise import unseen_notice


def run(
    dataset: Dataset,
    config: RunConfig,
    *,
    store: Store | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
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
    engine : Engine, optional
        Who counts readings and searches neighbours: an open engine, or threads of this process
        by default. Counts and exact neighbours do not depend on it.
    progress : Progress
        Told how far the run is, with the stage in words; may raise to stop it.
    computing : callable, optional
        Told the name of every stage that is computed, when it begins; not of those fetched.

    Returns
    -------
    Run
    """
    return Runner(dataset, store=store, threads=threads, engine=engine).run(
        config, progress=progress, computing=computing
    )


class Runner:
    """Runs several configs on one dataset, and keeps what is dear and in memory between them.

    The last cube, vectors and quality reference are kept, so that runs that differ only in their
    backend, method or what follows share them even where they are too large to be stored.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        store: Store | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.dataset = dataset
        self.store = store
        self.threads = threads
        self.engine = engine
        self._memory = Memory()

    def run(
        self,
        config: RunConfig,
        *,
        progress: Progress = silent,
        computing: Callable[[str], None] | None = None,
    ) -> Run:
        """Map the dataset as a config says, see :func:`run`."""
        journal = Journal(progress, computing)
        stages = self._stages(config, journal)
        points = stages.points()
        journal.note(*points.notices)
        n = len(points.units)
        if config.k > n - 1:
            journal.note(f"K = {config.k} is more than the other points: {n - 1} is used")
        neighbors = stages.neighbors(n)
        journal.note(*neighbors.notices)
        embedding, embedding_digest = stages.embedding(neighbors)
        journal.note(*embedding.notices)
        quality = stages.quality(embedding, embedding_digest) if config.quality else None
        if quality is not None:
            journal.note(*quality.notices)
        recall = stages.recall(neighbors)
        if recall is not None and recall.n < n:
            journal.note(
                f"recall is estimated on {recall.n:,} of {n:,} points; for all it is from "
                f"{recall.low:.3f} to {recall.high:.3f} (95 %)"
            )
        surprise = stages.surprise(neighbors)
        hdr = stages.density(neighbors, embedding, embedding_digest, surprise)
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
            edges=points.edges,
            population=points.population,
            units=join_metadata(
                points.units, self.dataset.households["household"], self.dataset.metadata
            ),
            left_out=points.left_out,
            neighbors=neighbors,
            embedding=embedding,
            hdr=hdr,
            surprise=surprise,
            quality=quality,
            recall=None if recall is None else recall.value,
            seconds=journal.seconds,
            computed_in=journal.computed_in(),
            cached=tuple(stage for stage in wanted if stage not in journal.computed),
            notices=tuple(journal.notices),
            peak_memory_mb=peak_memory_mb(),
        )

    def cube(self, config: RunConfig) -> Cube:
        """Return the counts that a run of the config starts from."""
        return self._stages(config, Journal(silent)).cube()

    def inputs(self, config: RunConfig) -> tuple[Cube, Vectors]:
        """Return the counts and the vectors that a run of the config starts from."""
        stages = self._stages(config, Journal(silent))
        return stages.cube(), stages.vectors()

    def _stages(self, config: RunConfig, journal: Journal) -> Pipeline:
        return Pipeline(
            self.dataset,
            config,
            journal=journal,
            memory=self._memory,
            store=self.store,
            threads=self.threads,
            engine=self.engine,
        )
