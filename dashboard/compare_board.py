"""What is compared and how far it is; no widget in it.

A board has one entry for every map that is asked for. It looks for each in the store, which costs
nothing worth mentioning; what is not there is made when the analyst asks for it, by the pool that
makes Explore's maps too, and comes in as it is done.
"""

import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import numpy as np
import param

from core.consensus import Consensus, find_consensus
from core.embedding import METHODS
from core.errors import WattfoldError
from core.neighbors import BACKENDS
from core.neighbors.cost import kept_machine
from core.neighbors.threads import available_threads
from core.readings import Dataset
from core.registry import Value
from core.runs import Run, RunConfig
from core.runs.forecast import count_points
from core.study.cost import predict_runs
from core.study.grid import SEARCHES, Plan, Study
from dashboard import compare_fits, fits
from dashboard.compare_sheet import Entry, Sheet
from dashboard.state import Explorer

# The paper's three of its figure.
DEFAULT_SEARCHES = ("exact", "kdtree", "annoy")
# Lookups at a time: Explore's go through the same readers, and should not wait for many of ours.
_LOOKUPS = 6
_NOT_KEPT = (
    "the map was made, but the store did not keep it: give it more room with WATTFOLD_CACHE_SIZE, "
    "or free disk space"
)


def search_choices() -> dict[str, str]:
    """Searches to compare, by what people read: the paper's, and the other backends."""
    plan = Plan(config=RunConfig())
    names = dict.fromkeys((*SEARCHES, *BACKENDS))
    return {plan.search_title(name): name for name in names}


class Board(param.Parameterized):
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
    selected: Any = param.Integer(default=None, allow_None=True, doc="The row that is looked at")
    arranged: Any = param.Event(doc="There are other maps to show")
    finished: Any = param.Event(doc="Runs have come in or gone")
    progressed: Any = param.Event(doc="Something else about the maps has changed")

    def __init__(self, dataset: Dataset, explorer: Explorer) -> None:
        super().__init__()
        self.dataset = dataset
        self.explorer = explorer
        # Not the session of Explore: the pool serves sessions in turn, and a map that is asked
        # for there should not wait for all of these.
        self.session = uuid.uuid4().hex
        self.error = ""
        self.grid: Sheet | None = None
        self.sweeps: list[Sheet] = []
        self._entries: dict[RunConfig, Entry] = {}
        self._consensus: Consensus | None = None
        self.param.watch(lambda *_: self.arrange(), ["methods", "searches"])
        explorer.param.watch(self._follow, "selected", precedence=5)

    # What is compared

    @property
    def base(self) -> RunConfig | None:
        """What Explore's choices ask for, whatever its method and search."""
        try:
            return _without_method(self.explorer.config())
        except WattfoldError:
            return None

    @property
    def outdated(self) -> bool:
        """Whether the maps are of other choices than those of Explore now."""
        return self.grid is not None and self.grid.plan.config != self.base

    def arrange(self) -> None:
        """Compare what is chosen now, looking for what was made before."""
        base = self.base
        if base is None or not self.methods or not self.searches:
            self.error = (
                "The choices at the left make no map; see there what is wrong."
                if base is None
                else "Choose at least one method and one neighbour search."
            )
            self.param.trigger("progressed")
            return
        self.error = ""
        if self.grid is None or self.outdated:
            self.cancel()
            self._entries.clear()
            self.sweeps = []
        plan = Plan(
            config=base,
            # In the order of the choices, not of the clicks.
            methods=_in_order(self.methods, METHODS),
            searches=_in_order(self.searches, search_choices().values()),
        )
        self.grid = self._sheet(plan)
        self._consensus = None
        self._drop_unwanted_jobs()
        self.param.trigger("arranged")
        self.param.trigger("finished")
        self._follow()

    def sweep(self, method: str, backend: str, parameter: str, values: Sequence[Value]) -> None:
        """Add maps of one method by one search, for several values of a parameter of it."""
        if self.grid is None:
            return
        names = tuple(f"{backend}:{parameter}={value}" for value in values)
        plan = Plan(config=self.grid.plan.config, methods=(method,), searches=names)
        for name in names:
            plan.config_of(method, name)  # raises before anything is changed
        sheet = self._sheet(plan)
        self.sweeps = [*self.sweeps, sheet]
        self._make(sheet.entries)
        self.param.trigger("finished")

    def _sheet(self, plan: Plan) -> Sheet:
        """The maps of a plan, those that others have already and new ones."""
        places: dict[tuple[str, str], Entry | str] = {}
        for search in plan.searches:
            for method in plan.methods:
                try:
                    config = plan.config_of(method, search)
                except WattfoldError as error:
                    places[method, search] = str(error)
                else:
                    places[method, search] = self._entries.setdefault(config, Entry(config))
        return Sheet(plan, places)

    @property
    def sheets(self) -> list[Sheet]:
        """The grid, then the sweeps."""
        return [] if self.grid is None else [self.grid, *self.sweeps]

    @property
    def entries(self) -> list[Entry]:
        """All maps, each once, in the order in which they are made."""
        return list(dict.fromkeys(entry for sheet in self.sheets for entry in sheet.entries))

    # How far it is

    @property
    def busy(self) -> bool:
        """Whether maps are being made."""
        return any(entry.busy for entry in self._entries.values())

    @property
    def looking(self) -> bool:
        """Whether maps are still looked for in the store."""
        return any(entry.state == "looking" for entry in self.entries)

    @property
    def found_lately(self) -> bool:
        """Whether maps still come from the store, many in a second."""
        return any(entry.lookup is not None and not entry.made for entry in self.entries)

    @property
    def missing(self) -> list[Entry]:
        """The maps that Run would make."""
        return [entry for entry in self.entries if entry.state in ("absent", "failed")]

    @property
    def n(self) -> int:
        """Points of a map, as far as is known."""
        if self.first is not None:
            return self.first.n
        return 0 if self.grid is None else count_points(self.dataset, self.grid.plan.config)[0]

    def cost(self) -> float | None:
        """About how many seconds Run would take, if that can be told."""
        machine = kept_machine()
        if machine is None:
            return None
        configs = [entry.config for entry in self.missing]
        return predict_runs(self.dataset, configs, machine, threads=available_threads())

    def start(self) -> None:
        """Make the maps that are missing."""
        self._make(self.entries)
        self.param.trigger("progressed")

    def _make(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            # What is still looked for is made without asking the store first; a worker does.
            if entry.state in ("absent", "failed", "looking") and not entry.made:
                entry.lookup = None
                self._submit(entry)

    def _submit(self, entry: Entry) -> None:
        try:
            entry.job = compare_fits.submit(self.session, self.dataset, entry.config)
            entry.state, entry.message, entry.fraction = "queued", "", 0.0
        except WattfoldError as error:
            entry.state, entry.message = "failed", str(error)

    def cancel(self) -> None:
        """Stop making maps; those that are done stay."""
        for entry in self._entries.values():
            if entry.job is not None:
                self._give_up(entry)
        self.param.trigger("progressed")

    def _give_up(self, entry: Entry) -> None:
        if entry.job is not None:
            fits.pool().cancel(self.session, entry.job)
            entry.job, entry.state = None, "absent"

    def _drop_unwanted_jobs(self) -> None:
        wanted = set(self.entries)
        for entry in self._entries.values():
            if entry not in wanted:
                self._give_up(entry)

    def poll(self) -> None:
        """See what has come in; called a few times a second."""
        came = changed = False
        for entry in self.entries:
            if entry.lookup is not None and entry.lookup.done():
                came |= self._take(entry, entry.lookup)
                changed = True
            elif entry.job is not None:
                changed |= entry.hear(entry.job)
        self._look()
        if came:
            self._consensus = None
            self._follow()
            self.param.trigger("finished")
        elif changed:
            self.param.trigger("progressed")

    def _look(self) -> None:
        waiting = sum(entry.lookup is not None for entry in self._entries.values())
        for entry in self.entries:
            if waiting >= _LOOKUPS:
                break
            if entry.state == "looking" and entry.lookup is None:
                entry.lookup = fits.fetch(self.dataset, entry.config)
                waiting += 1

    def _take(self, entry: Entry, lookup: Future[Run | None]) -> bool:
        """Take what was found; tell whether it is a run."""
        entry.lookup = None
        try:
            run = lookup.result()
        except WattfoldError as error:
            entry.state, entry.message = "failed", str(error)
            return False
        if run is not None:
            entry.run, entry.state = self._share(run), "done"
            return True
        entry.state, entry.message = ("failed", _NOT_KEPT) if entry.made else ("absent", "")
        entry.made = False
        return False

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
                return replace(run, neighbors=same, surprise=other.surprise)
        return run

    # What has come in

    @property
    def runs(self) -> list[Run]:
        """The runs of the grid that are there, in its order."""
        entries = [] if self.grid is None else self.grid.entries
        return [entry.run for entry in entries if entry.run is not None]

    @property
    def first(self) -> Run | None:
        """The first map of the grid, which the others are laid like."""
        return next(iter(self.runs), None)

    def studies(self) -> list[Study]:
        """What has come of the grid and of every sweep, as the tables of a study take it."""
        return [sheet.study(self.dataset) for sheet in self.sheets]

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

    # The selection, which is Explore's as far as it has these points

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

    def _follow(self, *_: param.parameterized.Event) -> None:
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

    def open(self, entry: Entry) -> None:
        """Put a map on Explore."""
        self.explorer.take(entry.config)


def _without_method(config: RunConfig) -> RunConfig:
    return config.change(
        method="isomap",
        method_parameters={},
        neighbors="exact",
        neighbors_parameters={},
    )


def _in_order(chosen: Sequence[str], every: Any) -> tuple[str, ...]:
    return tuple(name for name in every if name in chosen)
