"""The maps of a comparison one by one: how far each is, and what has come of a plan."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

from core.readings import Dataset
from core.registry import Value
from core.runs import Run, RunConfig
from core.study.grid import Cell, Plan, Study
from dashboard.jobs import Job

State = Literal["looking", "absent", "queued", "running", "done", "failed"]


@dataclass(eq=False)
class Entry:
    """One map that is asked for, and how far it is."""

    config: RunConfig
    state: State = "looking"
    message: str = ""
    fraction: float = 0.0
    run: Run | None = None
    lookup: Future[Run | None] | None = None
    job: Job | None = None
    made: bool = False  # by us, so that it must be in the store

    @property
    def busy(self) -> bool:
        """Whether it is being made."""
        return self.state in ("queued", "running") or (self.made and self.state == "looking")

    @property
    def settings(self) -> dict[str, Value]:
        """Its search, with all parameters."""
        return {"backend": self.config.neighbors, **self.config.neighbors_parameters}

    def hear(self, job: Job) -> bool:
        """Take down how its job is; tell whether that is news."""
        before = (self.state, self.message, self.fraction)
        if job.state == "queued":
            self.state = "queued"
        elif job.state == "running":
            self.state, self.message = "running", job.message or "Starting"
            self.fraction = round(job.fraction, 2)
        elif job.state == "done":
            # In the store, where it is looked for next.
            self.job, self.state, self.message, self.made = None, "looking", "", True
        else:
            self.job, self.message = None, job.error
            self.state = "failed" if job.state == "failed" else "absent"
        return before != (self.state, self.message, self.fraction)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A plan and its maps: an entry for every method and search, or why there can be none."""

    plan: Plan
    places: Mapping[tuple[str, str], Entry | str]

    def entry(self, method: str, search: str) -> Entry | None:
        """One map; None where there can be none."""
        found = self.places[method, search]
        return found if isinstance(found, Entry) else None

    def why_not(self, method: str, search: str) -> str:
        """Why there can be no such map."""
        found = self.places[method, search]
        return found if isinstance(found, str) else ""

    @property
    def entries(self) -> list[Entry]:
        """The maps, in the order in which they are made: search by search."""
        return [entry for entry in self.places.values() if isinstance(entry, Entry)]

    def study(self, dataset: Dataset) -> Study:
        """What has come of it, as the tables of a study take it."""
        cells = []
        for method, search in self.places:
            entry = self.entry(method, search)
            run, settings = (None, {}) if entry is None else (entry.run, entry.settings)
            cells.append(Cell(method, search, settings, run=run))
        return Study(dataset, self.plan, tuple(cells))
