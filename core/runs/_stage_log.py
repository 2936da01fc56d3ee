"""What a run does: its stages, their seconds, its progress and its notices."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from core.progress import Progress

# What people read while a stage works, and its rough share of a run.
STAGES = {
    "cube": ("Counting readings", 0.20),
    "vectors": ("Making vectors", 0.05),
    "neighbors": ("Finding neighbours", 0.30),
    "embedding": ("Embedding", 0.30),
    "quality": ("Measuring quality", 0.10),
    "density": ("Estimating density", 0.05),
}


@dataclass
class StageLog:
    """The log of one run.

    Attributes
    ----------
    progress : Progress
        Called with the share of the run that is done, and the stage in words.
    computing : callable, optional
        Called with the name of every stage that is computed, when it begins.
    seconds : dict
        By stage; 0 for those not computed.
    earlier : dict
        By stage that was fetched, how long it had taken when it was computed.
    shared_seconds : dict
        By stage that was computed, the seconds that it saved by using what an earlier run built.
    computed : set of str
        The stages that were computed.
    notices : list of str
        What the user should know.
    """

    progress: Progress
    computing: Callable[[str], None] | None = None
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    earlier: dict[str, float] = field(default_factory=dict)
    shared_seconds: dict[str, float] = field(default_factory=dict)
    computed: set[str] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)
    _done: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Time a stage's computation and give it its share of the progress."""
        self.begin(name)
        started = time.perf_counter()
        yield self.part(name)
        self.seconds[name] += time.perf_counter() - started

    def begin(self, name: str) -> None:
        """Note that a stage is computed."""
        if self.computing is not None and name not in self.computed:
            self.computing(name)
        self.computed.add(name)
        self.part(name)(0.0)

    def computed_in(self) -> dict[str, float]:
        """How long each stage took when it was computed, now or earlier, as far as is known."""
        return self.earlier | {
            stage: self.seconds[stage] + self.shared_seconds.get(stage, 0.0)
            for stage in self.computed
        }

    def part(self, name: str) -> Progress:
        """A stage's share of the progress, in its own words."""
        title, share = STAGES[name]
        names = list(STAGES)
        before = sum(STAGES[earlier][1] for earlier in names[: names.index(name)])

        def report(fraction: float, message: str = "") -> None:
            # Vectors may be made again after neighbours were fetched: no step back.
            self._done = max(self._done, min(1.0, before + share * fraction))
            self.progress(self._done, title)

        return report

    def wait(self) -> None:
        """Say that another process computes the same; may raise to stop waiting."""
        self.progress(self._done, "Waiting for the same computation in another process")

    def note(self, *notices: str) -> None:
        """Add what the user should know, once."""
        self.notices += [notice for notice in notices if notice not in self.notices]
