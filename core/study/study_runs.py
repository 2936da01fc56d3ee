"""The runs of a study: every method on the graph of every search, nothing computed twice.

A run's stages are kept in the store as they are done, so a study that was interrupted goes on
where it stopped, and runs that share a graph share its search. One runner holds the vectors and
the ranks that quality is measured against for all of them.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from core.embedding import METHODS
from core.errors import Cancelled, InputError, WattfoldError
from core.neighbors import BACKENDS
from core.neighbors.searches import SEARCHES, find_search
from core.progress import Progress, part, silent
from core.readings import Dataset
from core.registry import Value
from core.runs import Run, RunConfig, Runner, Store
from core.runs.reproduce import config_words, flag_words
from core.study.consensus import find_consensus
from core.study.warm_up import WarmUp

# The method and search whose map the figures of single points come from, as in the paper.
FEATURED = ("isomap", "exact")


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """What a study is to do.

    Attributes
    ----------
    config : RunConfig
        What all runs have in common; its method and backend are not used.
    methods : tuple of str
        Names in ``METHODS``.
    searches : tuple of str
        Names that :func:`find_search` knows.
    parameters : mapping
        Of methods and backends, by name; each goes to whichever has it.
    """

    config: RunConfig
    methods: tuple[str, ...] = tuple(METHODS)
    searches: tuple[str, ...] = tuple(SEARCHES)
    parameters: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, names in (("method", self.methods), ("backend", self.searches)):
            if not names:
                raise InputError(f"a study needs at least one {what}; leave the choice out for all")
            for name, times in Counter(names).items():
                if times > 1:
                    raise InputError(f"{what} {name!r} is named twice; name it once")
        known = {
            name
            for settings in (
                *map(self.method_settings, self.methods),
                *map(self.search_settings, self.searches),
            )
            for name in settings
        }
        for name in self.parameters:
            if name not in known:
                raise InputError(
                    f"{name} belongs to no method or backend of the study; leave it out, or add "
                    "the one it belongs to"
                )

    def search_settings(self, search: str) -> dict[str, Value]:
        """All parameters of a search."""
        return find_search(search).settings(self.parameters)

    def method_settings(self, method: str) -> dict[str, Value]:
        """All parameters of a method."""
        own = {parameter.name for parameter in METHODS[method].parameters}
        given = {name: value for name, value in self.parameters.items() if name in own}
        return METHODS.settings(method, given)

    def config_of(self, method: str, search: str) -> RunConfig:
        """Return the config of one run."""
        return self.config.change(
            method=method,
            method_parameters=self.method_settings(method),
            neighbors=find_search(search).backend,
            neighbors_parameters=self.search_settings(search),
            quality=True,
        )

    def search_title(self, search: str) -> str:
        """Return a search as people read it, such as ``k-d tree (ε = 1)``."""
        settings = self.search_settings(search)
        found = find_search(search)
        title = BACKENDS[found.backend].title
        if found.backend == "kdtree":
            return f"{title} (ε = {settings['epsilon']:g})"
        if found.backend == "annoy":
            return f"{title} ({settings['n_trees']}/{settings['search_k']})"
        own = ", ".join(f"{name} = {value}" for name, value in found.fixed.items())
        return f"{title} ({own})" if own else title

    def command_line(self, dataset: str, out: str) -> str:
        """Return the command that repeats the study."""
        words = ["wattfold", "study", dataset, *config_words(self.config)]
        for name, value in self.parameters.items():
            words += flag_words(name, value)
        if self.methods != tuple(METHODS):
            words += flag_words("methods", ",".join(self.methods))
        if self.searches != tuple(SEARCHES):
            words += flag_words("backends", ",".join(self.searches))
        return shlex.join([*words, *flag_words("out", out)])


@dataclass(frozen=True, eq=False)
class StudyRun:
    """One method on one search's graph: a run, or why there is none."""

    method: str
    search: str
    neighbors: Mapping[str, Value]
    run: Run | None = None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the fields of ``wattfold embed --json`` that differ between runs."""
        row: dict[str, Any] = {
            "method": self.method,
            "search": self.search,
            "neighbors": dict(self.neighbors),
            "components": None,
            "recall": None,
            "quality": None,
            "quality_intervals": {},
            "anomalies": [],
            "typical": [],
            "seconds": {},
            "cached": [],
            "notices": [],
        }
        took: dict[str, float] = {}
        if self.run is not None:
            found = self.run.to_json()
            row |= {name: found[name] for name in row.keys() & found.keys()}
            took = {stage: round(value, 4) for stage, value in self.run.computed_in.items()}
        return {**row, "computed_in": took, "error": self.error}


@dataclass(frozen=True, eq=False)
class Study:
    """What came of a plan on a dataset: a cell for every method and search."""

    dataset: Dataset
    plan: StudyPlan
    cells: tuple[StudyRun, ...]

    def cell(self, method: str, search: str) -> StudyRun:
        """Return one cell."""
        return self._by_place[method, search]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], StudyRun]:
        return {(cell.method, cell.search): cell for cell in self.cells}

    @cached_property
    def search_groups(self) -> list[tuple[str, ...]]:
        """The searches; those that led to the very same maps together."""
        groups: list[list[str]] = []
        for search in self.plan.searches:
            same = (group for group in groups if self._has_same_maps(group[0], search))
            group = next(same, None)
            if group is None:
                groups.append([search])
            else:
                group.append(search)
        return [tuple(group) for group in groups]

    def _has_same_maps(self, one: str, other: str) -> bool:
        pairs = [(self.cell(name, one), self.cell(name, other)) for name in self.plan.methods]
        return all(
            a.error is not None and a.error == b.error
            if a.run is None or b.run is None
            else np.array_equal(a.run.y, b.run.y)
            for a, b in pairs
        )

    def group_title(self, group: Sequence[str]) -> str:
        """Return searches of the same maps as people read them."""
        return ", ".join(map(self.plan.search_title, group))

    @property
    def runs(self) -> list[Run]:
        """The runs that succeeded."""
        return [cell.run for cell in self.cells if cell.run is not None]

    @property
    def featured_cell(self) -> StudyRun:
        """The map whose points are looked at one by one: ISOMAP's on exact neighbours if any."""
        wanted = self._by_place.get(FEATURED)
        if wanted is not None and wanted.run is not None:
            return wanted
        return next(cell for cell in self.cells if cell.run is not None)

    @property
    def featured(self) -> Run:
        """The run of the featured cell."""
        run = self.featured_cell.run
        assert run is not None  # noqa: S101 (a study has a run, and the cell was chosen for it)
        return run

    @property
    def notices(self) -> list[tuple[str, str]]:
        """Every notice once, and which runs gave it; nothing where all did."""
        given = [(text, cell) for cell in self.cells if cell.run for text in cell.run.notices]
        return _by_text(given, everybody=len(self.runs))

    @property
    def failures(self) -> list[tuple[str, str]]:
        """Every error once, and which runs failed with it."""
        return _by_text([(cell.error, cell) for cell in self.cells if cell.error is not None])

    def agreed_anomalies(self) -> list[tuple[int, int, float]]:
        """Points that any map names as anomalies: row, on how many maps, and median rank.

        The ones that most maps agree on come first.
        """
        found = find_consensus(
            [run.hdr.rank for run in self.runs], n_top=self.plan.config.n_anomalies
        )
        return [
            (int(point), int(found.count[point]), float(found.median_rank[point]))
            for point in found.points
        ]


def run_study(
    dataset: Dataset,
    plan: StudyPlan,
    *,
    store: Store,
    threads: int | None = None,
    progress: Progress = silent,
    computing: Callable[[str], None] | None = None,
) -> Study:
    """Run every method on the graph of every search.

    A run that fails leaves its error in its cell and the others go on; where all fail, the
    first error is raised.

    Parameters
    ----------
    dataset : Dataset
    plan : StudyPlan
    store : Store
        Where stages are kept, for runs that share them and for the next time.
    threads : int, optional
        All cores by default.
    progress : Progress
        Called with the share of the study that is done, and the run in words; may raise to stop it.
    computing : callable, optional
        Called with the name of every stage that is computed, when it begins.
    """
    # t-SNE asks every search for longer lists, and those of one backend differ in what they ask.
    runner = Runner(dataset, store=store, threads=threads, large_indexes=True)
    warm_up = WarmUp(plan.config.distance)
    places = [(method, search) for search in plan.searches for method in plan.methods]
    cells: list[StudyRun] = []
    errors: list[Exception] = []
    for (method, search), report in zip(places, _shares(progress, places), strict=True):
        backend = find_search(search).backend
        asked = {"backend": backend, "k": plan.config.k, **plan.search_settings(search)}
        try:
            config = plan.config_of(method, search)
            begin = warm_up.before(method, backend, computing)
            run = runner.run(config, progress=report, computing=begin)
            cells.append(StudyRun(method, search, asked, run=run))
        except Cancelled:
            raise
        except Exception as error:  # whatever fails in one run is no reason to lose the others
            errors.append(error)
            cells.append(StudyRun(method, search, asked, error=_in_words(error)))
    if len(errors) == len(cells):
        raise errors[0]
    return Study(dataset, plan, tuple(cells))


def _shares(progress: Progress, places: Sequence[tuple[str, str]]) -> Iterator[Progress]:
    """Every run's share of the progress, in words that fit beside a bar."""
    total = len(places)
    for number, (method, search) in enumerate(places):
        share = part(progress, number / total, (number + 1) / total)
        yield _named(share, f"{number + 1}/{total} {method}, {search}")


def _named(progress: Progress, name: str) -> Progress:
    def report(fraction: float, message: str = "") -> None:
        progress(fraction, name)

    return report


def _by_text(
    given: Sequence[tuple[str, StudyRun]], *, everybody: int | None = None
) -> list[tuple[str, str]]:
    """Texts, each once, and the runs that gave them, briefly: nothing for ``everybody``."""
    cells: dict[str, list[StudyRun]] = {}
    for text, cell in given:
        cells.setdefault(text, []).append(cell)
    return [
        (text, "" if len(givers) == everybody else _name_runs(givers))
        for text, givers in cells.items()
    ]


def _name_runs(cells: Sequence[StudyRun]) -> str:
    """Name runs; searches on which the same methods ran are named together."""
    methods: dict[str, list[str]] = {}
    for cell in cells:
        methods.setdefault(cell.search, []).append(cell.method)
    searches: dict[str, list[str]] = {}
    for search, names in methods.items():
        searches.setdefault(", ".join(names), []).append(search)
    return "; ".join(f"{names} on {', '.join(where)}" for names, where in searches.items())


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, WattfoldError) else f"{type(error).__name__}: {text}"
