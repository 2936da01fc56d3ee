"""What a run did, and whom to tell while it does it."""

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
class Journal:
    """The account of one run.

    Attributes
    ----------
    progress : Progress
        Told how far the run is, with the stage in words.
    computing : callable, optional
        Told the name of every stage that is computed, when it begins.
    seconds : dict
        By stage; 0 for those not computed.
    earlier : dict
        By stage that was fetched, how long it had taken when it was computed.
    computed : set of str
        The stages that were computed.
    notices : list of str
        What the user should know.
    """

    progress: Progress
    computing: Callable[[str], None] | None = None
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    earlier: dict[str, float] = field(default_factory=dict)
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
        """Take down that a stage is computed."""
        if self.computing is not None and name not in self.computed:
            self.computing(name)
        self.computed.add(name)
        self.part(name)(0.0)

    def computed_in(self) -> dict[str, float]:
        """How long each stage took when it was computed, now or earlier, as far as is known."""
        return {**self.earlier, **{stage: self.seconds[stage] for stage in self.computed}}

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

    def note(self, *notices: str) -> None:
        """Take down what the user should know, once."""
        self.notices += [notice for notice in notices if notice not in self.notices]
