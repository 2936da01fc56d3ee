"""From a dataset and a config to a run."""

from collections.abc import Callable

from core.cube import Cube
from core.density import degenerate_notice, sample_size_notice
from core.engine import Engine
from core.peak_memory import peak_memory_mb
from core.progress import Progress, silent
from core.readings import Dataset
from core.runs._pipeline import Pipeline
from core.runs._shared_stages import SharedStages
from core.runs._stage_log import STAGES, StageLog
from core.runs.config import RunConfig
from core.runs.result import Run, join_metadata
from core.runs.store import Store
from core.vectors import Vectors


def run(
    dataset: Dataset,
    config: RunConfig | None = None,
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
    config : RunConfig, optional
        The map that the page opens with by default.
    store : Store, optional
        Where results of stages are fetched and kept; by default nowhere.
    threads : int, optional
        All cores by default. The result does not depend on them.
    engine : Engine, optional
        Where readings are counted and neighbours searched: an open engine, or threads of this
        process by default. Counts and exact neighbours do not depend on it.
    progress : Progress
        Called with the share of the run that is done, and the stage in words; may raise to stop it.
    computing : callable, optional
        Called with the name of every stage that is computed, when it begins; not of those fetched.

    Returns
    -------
    Run
    """
    return Runner(dataset, store=store, threads=threads, engine=engine).run(
        config or RunConfig(), progress=progress, computing=computing
    )


class Runner:
    """Runs several configs on one dataset, and keeps what is expensive in memory between them.

    The last cube, vectors and quality reference are kept, so that runs that differ only in their
    backend, method or what follows share them even where they are too large to be stored.

    Parameters
    ----------
    dataset, store, threads, engine
        As of :func:`run`.
    large_indexes : bool
        Whether what a search builds of large vectors is kept, too, for runs that search again.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        store: Store | None = None,
        threads: int | None = None,
        engine: Engine | None = None,
        large_indexes: bool = False,
    ) -> None:
        self.dataset = dataset
        self.store = store
        self.threads = threads
        self.engine = engine
        self._shared = SharedStages(large_indexes=large_indexes)

    def run(
        self,
        config: RunConfig,
        *,
        progress: Progress = silent,
        computing: Callable[[str], None] | None = None,
    ) -> Run:
        """Map the dataset as a config says, see :func:`run`."""
        log = StageLog(progress, computing)
        stages = self._stages(config, log)
        points = stages.points()
        log.note(*points.notices)
        n = len(points.units)
        if config.k > n - 1:
            log.note(f"K = {config.k} is more than the other points: {n - 1} is used")
        neighbors = stages.neighbors(n)
        log.note(*neighbors.notices)
        embedding, embedding_digest = stages.embedding(neighbors)
        log.note(*embedding.notices)
        quality = stages.quality(embedding, embedding_digest) if config.quality else None
        if quality is not None:
            log.note(*quality.notices)
        recall = stages.recall(neighbors)
        if recall is not None and recall.n < n:
            log.note(
                f"recall is estimated on {recall.n:,} of {n:,} points; for all it is from "
                f"{recall.low:.3f} to {recall.high:.3f} (95 %)"
            )
        surprise = stages.surprise(neighbors)
        hdr = stages.density(neighbors, embedding, embedding_digest, surprise)
        log.note(*hdr.notices)
        trust = stages.trust(neighbors, embedding, embedding_digest)
        for suspicion in (
            degenerate_notice(embedding.y),
            sample_size_notice(hdr.rank, points.units["m"].to_numpy()),
        ):
            if suspicion:
                log.note(suspicion)
        log.progress(1.0, "Done")
        wanted = [stage for stage in STAGES if stage != "quality" or config.quality]
        return Run(
            config=config,
            dataset_digest=self.dataset.digest,
            interval_minutes=self.dataset.interval_minutes,
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
            trust=trust,
            quality=quality,
            recall=None if recall is None else recall.value,
            seconds=log.seconds,
            computed_in=log.computed_in(),
            cached=tuple(stage for stage in wanted if stage not in log.computed),
            notices=tuple(log.notices),
            peak_memory_mb=peak_memory_mb(),
        )

    def stored(self, config: RunConfig) -> bool:
        """Whether the store holds all of a run, so that :meth:`run` has nothing to compute.

        Only an entry that is evicted or found to be damaged after this was asked is computed.
        """
        return self._stages(config, StageLog(silent)).stored()

    def graph_stored(self, config: RunConfig) -> bool:
        """Whether the store holds the neighbours of a run, which mostly take the longest."""
        return self._stages(config, StageLog(silent)).graph_stored()

    def cube(self, config: RunConfig) -> Cube:
        """Return the counts that a run of the config starts from."""
        return self._stages(config, StageLog(silent)).cube()

    def inputs(self, config: RunConfig) -> tuple[Cube, Vectors]:
        """Return the counts and the vectors that a run of the config starts from."""
        stages = self._stages(config, StageLog(silent))
        return stages.cube(), stages.vectors()

    def _stages(self, config: RunConfig, log: StageLog) -> Pipeline:
        return Pipeline(
            self.dataset,
            config,
            log=log,
            shared=self._shared,
            store=self.store,
            threads=self.threads,
            engine=self.engine,
        )
