"""The maps of a comparison one by one: how far each is, and what has come of a plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from core.readings import Dataset
from core.registry import Value
from core.runs import Run, RunConfig
from core.study import Study, StudyPlan, StudyRun
from dashboard.jobs import FollowedJob

State = Literal["looking", "absent", "queued", "running", "done", "failed"]


@dataclass(eq=False)
class ComparedMap:
    """One map of a comparison.

    Attributes
    ----------
    job : FollowedJob, optional
        Looks for it in the store, or computes it.
    computed : bool
        Whether this session had it computed, so that it must be in the store.
    """

    config: RunConfig
    state: State = "looking"
    message: str = ""
    fraction: float = 0.0
    run: Run | None = None
    job: FollowedJob | None = None
    computed: bool = False

    @property
    def busy(self) -> bool:
        """Whether it is being computed."""
        return self.state in ("queued", "running") or (self.computed and self.state == "looking")

    @property
    def settings(self) -> dict[str, Value]:
        """Its search, with all parameters."""
        return {"backend": self.config.neighbors, **self.config.neighbors_parameters}


@dataclass(frozen=True, eq=False)
class PlannedMaps:
    """A plan and its maps: one for every method and search, or why there can be none."""

    plan: StudyPlan
    places: Mapping[tuple[str, str], ComparedMap | str]

    def map_of(self, method: str, search: str) -> ComparedMap | None:
        """One map; None where there can be none."""
        found = self.places[method, search]
        return found if isinstance(found, ComparedMap) else None

    def why_not(self, method: str, search: str) -> str:
        """Why there can be no such map."""
        found = self.places[method, search]
        return found if isinstance(found, str) else ""

    @property
    def maps(self) -> list[ComparedMap]:
        """The maps, in the order in which they are computed: search by search."""
        return [found for found in self.places.values() if isinstance(found, ComparedMap)]

    def study(self, dataset: Dataset) -> Study:
        """What has come of the plan, in the form that the tables of a study take."""
        cells = []
        for method, search in self.places:
            found = self.map_of(method, search)
            run, settings = (None, {}) if found is None else (found.run, found.settings)
            cells.append(StudyRun(method, search, settings, run=run))
        return Study(dataset, self.plan, tuple(cells))
