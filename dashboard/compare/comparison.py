"""What is compared and how far it is; no widget in it.

A comparison looks for each of its maps in the store. Those that are not there are computed when the
analyst asks for it, by the pool that computes Explore's maps too, and come in one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import param

from core.embedding import METHODS
from core.errors import WattfoldError
from core.neighbors import BACKENDS
from core.neighbors.cost import kept_machine
from core.parallel import available_cores
from core.registry import Value
from core.runs import Run, RunConfig
from core.runs.forecast import count_points
from core.study import SEARCHES, Consensus, Study, StudyPlan, find_consensus
from core.study.study_forecast import predict_runs
from dashboard.compare._map_status import ComparedMap, PlannedMaps
from dashboard.jobs import FollowedJob, coalesced, run_jobs
from dashboard.jobs.workspace import Workspace
from dashboard.state import Explorer

# The paper's three of its figure.
DEFAULT_SEARCHES = ("exact", "kdtree", "annoy")
# Lookups at a time: Explore's use the same threads, and should not wait for many of ours.
_LOOKUPS = 6


def search_choices() -> dict[str, str]:
    """Searches to compare, by what people read: the paper's, and the other backends."""
    plan = StudyPlan(config=RunConfig())
    names = dict.fromkeys((*SEARCHES, *BACKENDS))
    return {plan.search_title(name): name for name in names}


class Comparison(param.Parameterized):
    """The maps of a comparison: methods × searches, and sweeps of a parameter."""

    methods: Any = param.ListSelector(
        default=list(METHODS),
        objects={entry.title: name for name, entry in METHODS.items()},
        doc="Methods to compare",
    )
    searches: Any = param.ListSelector(
        default=list(DEFAULT_SEARCHES),
        objects=search_choices(),
        label="Neighbours by",
        doc="Neighbour searches to compare",
    )
    selected: Any = param.Integer(
        default=None, allow_None=True, doc="The row of the selected point"
    )
    arranged: Any = param.Event(doc="There are other maps to show")
    finished: Any = param.Event(doc="Runs have come in or gone")
    progressed: Any = param.Event(doc="Something else about the maps has changed")

    def __init__(self, workspace: Workspace, explorer: Explorer) -> None:
        super().__init__()
        self.workspace = workspace
        self.dataset = workspace.dataset
        self.explorer = explorer
        self.error = ""
        self.grid: PlannedMaps | None = None
        self.sweeps: list[PlannedMaps] = []
        self._maps: dict[RunConfig, ComparedMap] = {}
        self._consensus: Consensus | None = None
        self._runs_came = False
        # Many maps may come in at once: they are told of together.
        self._notify = coalesced(workspace.pool.schedule, self._trigger)
        self.param.watch(lambda *_: self.arrange(), ["methods", "searches"])
        explorer.param.watch(self._follow_selection, "selected", precedence=5)

    # What is compared

    @property
    def base(self) -> RunConfig | None:
        """The config of Explore's settings, with the default method and search."""
        try:
            return _without_method(self.explorer.config())
        except WattfoldError:
            return None

    @property
    def outdated(self) -> bool:
        """Whether Explore's settings have changed since."""
        return self.grid is not None and self.grid.plan.config != self.base

    def arrange(self) -> None:
        """Compare what is chosen now, and look for its maps in the store."""
        base = self.base
        if base is None or not self.methods or not self.searches:
            self.error = (
                "The settings on the left make no map; see the message there."
                if base is None
                else "Choose at least one method and one neighbour search."
            )
            self.param.trigger("progressed")
            return
        self.error = ""
        if self.grid is None or self.outdated:
            for each in self._maps.values():
                _stop(each)
            self._maps.clear()
            self.sweeps = []
        plan = StudyPlan(
            config=base,
            # In the order of the choices, not of the clicks.
            methods=_in_order(self.methods, METHODS),
            searches=_in_order(self.searches, search_choices().values()),
        )
        self.grid = self._plan_maps(plan)
        self._consensus = None
        self._cancel(set(self._maps.values()).difference(self.maps))
        self._look_up()
        self.param.trigger("arranged")
        self.param.trigger("finished")
        self._follow_selection()

    def sweep(self, method: str, backend: str, parameter: str, values: Sequence[Value]) -> None:
        """Add maps of one method by one search, for several values of a parameter of it."""
        if self.grid is None:
            return
        names = tuple(f"{backend}:{parameter}={value}" for value in values)
        plan = StudyPlan(config=self.grid.plan.config, methods=(method,), searches=names)
        for name in names:
            plan.config_of(method, name)  # raises before anything is changed
        planned = self._plan_maps(plan)
        self.sweeps = [*self.sweeps, planned]
        self._compute(planned.maps)
        self.param.trigger("finished")

    def _plan_maps(self, plan: StudyPlan) -> PlannedMaps:
        """The maps of a plan, those that other plans have already and new ones."""
        places: dict[tuple[str, str], ComparedMap | str] = {}
        for search in plan.searches:
            for method in plan.methods:
                try:
                    config = plan.config_of(method, search)
                except WattfoldError as error:
                    places[method, search] = str(error)
                else:
                    places[method, search] = self._maps.setdefault(config, ComparedMap(config))
        return PlannedMaps(plan, places)

    @property
    def plans(self) -> list[PlannedMaps]:
        """The grid, then the sweeps."""
        return [] if self.grid is None else [self.grid, *self.sweeps]

    @property
    def maps(self) -> list[ComparedMap]:
        """All maps, each once, in the order in which they are computed."""
        return list(dict.fromkeys(each for planned in self.plans for each in planned.maps))

    # How far it is

    @property
    def busy(self) -> bool:
        """Whether maps are being computed."""
        return any(each.busy for each in self._maps.values())

    @property
    def looking(self) -> bool:
        """Whether maps are still looked for in the store."""
        return any(each.state == "looking" for each in self.maps)

    @property
    def reading(self) -> bool:
        """Whether maps still come from the store, many in a second."""
        return any(each.state == "looking" and not each.computed for each in self.maps)

    @property
    def missing(self) -> list[ComparedMap]:
        """The maps that Run would compute."""
        return [each for each in self.maps if each.state in ("absent", "failed")]

    @property
    def n(self) -> int:
        """Points of a map; before the first one is there, those that are expected."""
        if self.first is not None:
            return self.first.n
        return 0 if self.grid is None else count_points(self.dataset, self.grid.plan.config)[0]

    def cost(self) -> float | None:
        """About how many seconds Run would take, if that is known."""
        machine = kept_machine()
        if machine is None:
            return None
        configs = [each.config for each in self.missing]
        return predict_runs(self.dataset, configs, machine, threads=available_cores())

    def start(self) -> None:
        """Compute the maps that are missing."""
        self._compute(self.maps)
        self.param.trigger("progressed")

    def _compute(self, maps: Sequence[ComparedMap]) -> None:
        for each in maps:
            # What is still looked for is computed without the answer; the worker looks first.
            if each.state not in ("absent", "failed", "looking") or each.computed:
                continue
            _stop(each)
            try:
                each.job = run_jobs.submit(self.workspace, each.config, queue="compare")
            except WattfoldError as error:
                each.state, each.message = "failed", str(error)
                continue
            each.state, each.message, each.fraction = "queued", "", 0.0
            each.job.on_change(partial(self._on_progress, each))

    def cancel(self) -> None:
        """Stop computing maps; those that are done stay."""
        self._cancel(self._maps.values())
        self.param.trigger("progressed")

    def _cancel(self, maps: Iterable[ComparedMap]) -> None:
        for each in maps:
            if each.state in ("queued", "running"):
                _stop(each)
                each.state = "absent"

    def _on_progress(self, each: ComparedMap, job: FollowedJob) -> None:
        each.state, each.message, each.fraction = "queued", job.error, round(job.fraction, 2)
        if job.state == "running":
            each.state, each.message = "running", job.message or "Starting"
        elif job.state == "done":
            # In the store, from which it is read next.
            each.job, each.state, each.computed = None, "looking", True
            self._look_up()
        elif job.state != "queued":
            each.job, each.state = None, "failed" if job.state == "failed" else "absent"
        self._notify()

    def _look_up(self) -> None:
        """Look for maps in the store, a few at a time."""
        looking = [each for each in self.maps if each.state == "looking"]
        under_way = sum(each.job is not None for each in looking)
        waiting = [each for each in looking if each.job is None]
        for each in waiting[: _LOOKUPS - under_way]:
            each.job = run_jobs.find(self.workspace, each.config)
            each.job.on_end(partial(self._take, each))

    def _take(self, each: ComparedMap, found: FollowedJob) -> None:
        """Take what was found."""
        each.job = None
        if found.result is not None:
            each.run, each.state = self._share(found.result), "done"
            self._runs_came = True
        elif found.state == "failed":
            each.state, each.message = "failed", found.error
        elif each.computed:
            each.state, each.message = "failed", run_jobs.NOT_KEPT
        else:
            each.state, each.message = "absent", ""
        each.computed = False
        self._look_up()
        self._notify()

    def _trigger(self) -> None:
        if self._runs_came:
            self._runs_came = False
            self._consensus = None
            self._follow_selection()
            self.param.trigger("finished")
        else:
            self.param.trigger("progressed")

    def _share(self, run: Run) -> Run:
        """The run with what others have already, so that many maps take little more than one.

        Of the neighbours only the first K, which all methods have, are kept.
        """
        k = run.config.k
        indices, distances = run.neighbors.indices[:, :k], run.neighbors.distances[:, :k]
        slim = replace(run.neighbors, indices=indices.copy(), distances=distances.copy())
        run = replace(run, neighbors=slim)
        for other in self.runs:
            run = replace(run, units=other.units)
            if np.array_equal(other.neighbors.indices, slim.indices):
                graph = other.neighbors
                same = replace(slim, indices=graph.indices, distances=graph.distances)
                return replace(run, neighbors=same)
        return run

    # What has come in

    @property
    def runs(self) -> list[Run]:
        """The runs of the grid that are there, in its order."""
        maps = [] if self.grid is None else self.grid.maps
        return [each.run for each in maps if each.run is not None]

    @property
    def first(self) -> Run | None:
        """The first map of the grid, like which the others are turned."""
        return next(iter(self.runs), None)

    def studies(self) -> list[Study]:
        """What has come of the grid and of every sweep, in the form that tables take."""
        return [planned.study(self.dataset) for planned in self.plans]

    def consensus(self) -> Consensus | None:
        """What the maps of the grid agree on, by method."""
        runs = self.runs
        if self._consensus is None and runs:
            self._consensus = find_consensus(
                [run.hdr.rank for run in runs],
                n_top=runs[0].config.n_anomalies,
                by=[METHODS[run.config.method].title for run in runs],
            )
        return self._consensus

    # The selection, shared with Explore for the points that both have

    def select(self, row: int) -> None:
        """Look at a point, here and on Explore."""
        first, explorer = self.first, self.explorer
        if first is None or not 0 <= row < first.n:
            return
        self.selected = row
        label = str(first.units["label"].iat[row])
        if explorer.run is None:
            return
        if row < explorer.run.n and explorer.label(row) == label:
            explorer.selected = row
        else:
            explorer.select_label(label)

    def _follow_selection(self, *_: param.parameterized.Event) -> None:
        selected = self.explorer.selected
        self.selected = None if selected is None else self.row_of(selected)

    def row_of(self, row: int) -> int | None:
        """Where a point of Explore is on these maps; None if it is not on them."""
        first, run = self.first, self.explorer.run
        if first is None or run is None or not row < run.n:
            return None
        label = self.explorer.label(row)
        if row < first.n and first.units["label"].iat[row] == label:
            return row
        found = np.flatnonzero(first.units["label"].to_numpy() == label)
        return int(found[0]) if len(found) else None

    def open(self, each: ComparedMap) -> None:
        """Show a map in Explore."""
        # Its quality is known, but Explore need not measure that of other maps.
        self.explorer.take(each.config.change(quality=self.explorer.quality))


def _stop(each: ComparedMap) -> None:
    if each.job is not None:
        each.job.cancel()
        each.job = None


def _without_method(config: RunConfig) -> RunConfig:
    return config.change(
        method="isomap",
        method_parameters={},
        neighbors="exact",
        neighbors_parameters={},
    )


def _in_order(chosen: Sequence[str], every: Any) -> tuple[str, ...]:
    return tuple(name for name in every if name in chosen)
