"""The kinds of files that can be exported, and how a worker makes one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.embedding import METHODS
from core.errors import InputError
from core.export import Anonymous, Privacy, Provenance, anonymise
from core.export.figure_views import (
    Paper,
    calendar_figure,
    distribution_figure,
    map_figure,
    series_figure,
    week_figure,
    write_figure,
)
from core.export.file_names import file_name
from core.export.interactive import write_interactive_map
from core.export.run_tables import distribution_table, edge_table, point_table
from core.export.table_files import write_frame, write_zip
from core.figures import draw_map_grid
from core.progress import Progress
from core.readings import Dataset
from core.runs import Run, RunConfig, Runner, Store
from core.runs.anomaly_stage import UNITS, stored_anomalies
from core.scene import Coloring, MapScene, map_scene
from core.scene.coloring import HDR, OF_EACH_MAP, OTHERS_NAME, choices
from core.study.run_report import Remarks, make_report, report_plan
from dashboard.jobs._job import Limits
from dashboard.jobs.session_pool import FollowedJob, SessionPool
from dashboard.jobs.workspace import WorkspacePaths
from dashboard.state.map_colors import GROUPS, IN_NO_GROUP
from dashboard.state.point_facts import point_noun
from dashboard.state.saved_groups import SEVERAL
from dashboard.state.unusual_homes import UNUSUAL_MARKS
from dashboard.state.view_state import ViewState, runs_to_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIGURES = {"PNG, 300 dpi": "png", "SVG": "svg", "PDF": "pdf"}
_TABLES = {"CSV (zipped with its description)": "zip", "Parquet": "parquet"}

# Distributions of more points are a file that nobody opens.
MOST_DISTRIBUTIONS = 1_000
MOST_EDGES = 10_000_000
# Columns of a table of points that say what is unusual about a home.
FOUND = ("score", "q", "stability", "detector", "reason", "since", "kwh_per_week")
_LIMITS = Limits(seconds=900.0, memory_mb=6_000.0)


@dataclass(frozen=True)
class ExportKind:
    """Something that can be exported.

    Attributes
    ----------
    title : str
        What people read.
    formats : mapping of title to suffix
    of_points : tuple of str
        Which points it can be of: ``selected``, ``pinned``, ``chosen``; none where it is of all.
    size_cm : (float, float)
        A good size, for figures.
    """

    title: str
    formats: Mapping[str, str]
    of_points: tuple[str, ...] = ()
    size_cm: tuple[float, float] = (16.0, 12.0)


KINDS: Mapping[str, ExportKind] = {
    "map": ExportKind("Map", {**_FIGURES, "HTML, interactive": "html"}),
    "demand": ExportKind("Demand distribution", _FIGURES, ("selected", "pinned"), (12.0, 8.0)),
    "week": ExportKind("Demand by time of week", _FIGURES, ("selected", "pinned"), (16.0, 7.0)),
    "series": ExportKind("Readings", _FIGURES, ("selected",), (16.0, 6.0)),
    "calendar": ExportKind("Calendar", _FIGURES, ("selected",), (18.0, 7.0)),
    "grid": ExportKind("Compared maps", _FIGURES, (), (18.0, 23.0)),
    "points": ExportKind("Table of points", _TABLES),
    "edges": ExportKind("Table of neighbours", _TABLES),
    "distributions": ExportKind(
        "Table of distributions", _TABLES, ("selected", "pinned", "chosen")
    ),
    "report": ExportKind("Report", {"HTML": "html"}),
}


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """One file to make; sent to a worker.

    Attributes
    ----------
    paths : WorkspacePaths
        Of the dataset and its store.
    view : ViewState
        What the page shows; kept in the file, except what would identify a household.
    kind, suffix : str
        A name in `KINDS` and one of its formats.
    directory : str
        Where to put the file.
    paper : Paper
        For figures.
    privacy : Privacy
    rows : tuple of int
        The points that it shows, where it does not show all.
    coloring : Coloring, optional
        Colours of a map that its run does not know of, such as of saved groups.
    marked : tuple of int, optional
        The unusual homes, where the page lists these: a map marks the first of them in place of
        what is isolated on it.
    in_view : bool
        Whether a map is cut to the part that is visible on the page.
    compared : tuple of (method, search title, config)
        The runs of a grid.
    remarks : Remarks
        For a report; the notes are for a table of points, too.
    backend : str, optional
        A report of the run's own method and this backend alone; else of all.
    """

    paths: WorkspacePaths
    view: ViewState
    kind: str
    suffix: str
    directory: str
    paper: Paper = field(default_factory=Paper)
    privacy: Privacy = "keep"
    rows: tuple[int, ...] = ()
    coloring: Coloring | None = None
    marked: tuple[int, ...] | None = None
    in_view: bool = False
    compared: tuple[tuple[str, str, RunConfig], ...] = ()
    remarks: Remarks = field(default_factory=Remarks)
    backend: str | None = None

    def drawing(self) -> dict[str, Any]:
        """How the map is shown; for others without what stands for households, if need be.

        That is row numbers, and names of columns, which may be anything.
        """
        drawing = self.view.to_json()
        kept = drawing if self.privacy == "keep" else ("layers",)
        return {name: drawing[name] for name in kept if name != "config"}


def submit(pool: SessionPool, request: ExportRequest) -> FollowedJob:
    """Have a file made; the result is its path.

    A file takes seconds and does not wait for the runs of others; a report takes minutes and does.
    """
    quick = request.kind != "report"
    limits = _LIMITS if quick else None
    key = ("export", request.directory)
    return pool.submit(key, make_export, request, queue="export", limits=limits, quick=quick)


def make_export(request: ExportRequest, progress: Progress) -> str:
    """Make a file and return its path."""
    dataset, store = request.paths.open()
    if request.kind == "report":
        return str(_report(request, dataset, store, progress))
    progress(0.05, "Reading the run")
    runner = Runner(dataset, store=store)
    anonymous = anonymise(dataset, request.privacy)
    run = anonymous.run(runner.run(request.view.config))
    withheld = anonymous.withheld
    if request.kind == "points" and request.privacy != "keep" and request.remarks.notes:
        withheld += ("notes",)
    provenance = Provenance.of(run, withheld=withheld, view=request.drawing())
    path = _path(request, run)
    progress(0.4, "Drawing" if path.suffix in (".png", ".svg", ".pdf") else "Writing")
    if path.suffix in (".zip", ".parquet"):
        table = anonymous.table(_table(request, run, anonymous, runner))
        write = write_zip if path.suffix == ".zip" else write_frame
        write(table, path, provenance.to_json())
    elif path.suffix == ".html":
        what = point_noun(run.config.unit, dataset.interval_minutes)
        title = f"{METHODS[run.config.method].title} of {run.n:,} {what}"
        scene = _map_scene(request, run, dataset.interval_minutes)
        write_interactive_map(scene, path, provenance, title=title)
    else:
        figure = _figure(request, run, anonymous, runner)
        progress(0.7, "Writing")
        write_figure(figure, path, provenance)
    return str(path)


def _report(request: ExportRequest, dataset: Dataset, store: Store, progress: Progress) -> Path:
    path = Path(request.directory) / file_name("report", suffix=".html")
    make_report(
        dataset,
        request.view.config,
        path,
        plan=report_plan(request.view.config, backend=request.backend),
        remarks=request.remarks,
        privacy=request.privacy,
        view=request.drawing(),
        store=store,
        progress=progress,
    )
    return path


def _path(request: ExportRequest, run: Run) -> Path:
    words = [request.kind]
    if request.kind in ("map", "points", "edges"):
        words.append(run.config.method)
    elif len(request.rows) == 1:
        words.append(str(run.units["label"].iat[request.rows[0]]))
    return Path(request.directory) / file_name(*words, suffix=f".{request.suffix}")


def _scene(request: ExportRequest, run: Run, interval_minutes: int) -> MapScene:
    view = request.view
    scene = map_scene(
        run,
        # Columns that identify households are not in an anonymous run.
        color_by=view.color_by if view.color_by in choices(run) else HDR,
        interval_minutes=interval_minutes,
        safe=view.safe_colors,
        hidden=view.hidden,
        contours="contours" in view.layers,
    )
    coloring = request.coloring
    if coloring is not None and len(coloring.codes) == run.n:
        shown = coloring.shown(view.hidden) if view.hidden else None
        if request.privacy != "keep" and coloring.title == GROUPS:
            coloring = _numbered(coloring)
        scene = scene.with_(coloring=coloring, shown=shown)
    return scene.with_(labelled="labels" in view.layers)


def _map_scene(request: ExportRequest, run: Run, interval_minutes: int) -> MapScene:
    """The map of the page, with the marks that it has there."""
    scene = _scene(request, run, interval_minutes)
    if request.marked is None:
        return scene
    marked = np.array(request.marked[: run.config.n_anomalies], np.int64)
    return scene.with_(marked=marked, mark_name=UNUSUAL_MARKS)


def _numbered(coloring: Coloring) -> Coloring:
    """Colours of groups under numbers: their names are the analyst's own and may name people."""
    ours = (SEVERAL, IN_NO_GROUP, OTHERS_NAME)
    names = tuple(
        name if name in ours else f"group {number}"
        for number, name in enumerate(coloring.names, start=1)
    )
    return replace(coloring, names=names)


def _figure(request: ExportRequest, run: Run, anonymous: Anonymous, runner: Runner) -> "Figure":
    dataset, paper, view = anonymous.dataset, request.paper, request.view
    if request.kind == "map":
        scene = _map_scene(request, run, dataset.interval_minutes)
        return map_figure(scene, paper=paper, ranges=view.ranges if request.in_view else None)
    if request.kind == "grid":
        return _grid(request, anonymous, runner)
    draw = {"demand": distribution_figure, "week": week_figure}
    if request.kind in draw:
        return draw[request.kind](run, dataset, _rows(request), paper=paper)
    row = _rows(request)[0]
    if request.kind == "calendar":
        change = _change(runner, view.config, row)
        return calendar_figure(run, dataset, row, change=change, paper=paper)
    return series_figure(run, dataset, row, paper=paper)


def _change(runner: Runner, config: RunConfig, row: int) -> date | None:
    """The day on which a point's household changed, where that was looked for."""
    judged = _judged(runner, config)
    since = "" if judged is None else judged["since"].iat[row]
    return date.fromisoformat(since) if since and isinstance(since, str) else None


def _judged(runner: Runner, config: RunConfig) -> pd.DataFrame | None:
    """What was found out about the household of every point, where that was looked for."""
    store = runner.store
    found = None if store is None else stored_anomalies(runner.dataset, config, store)
    if found is None:
        return None
    table = found.table.set_index("household")
    return table.reindex(runner.run(config).units["household"]).reset_index()


def _grid(request: ExportRequest, anonymous: Anonymous, runner: Runner) -> "Figure":
    """The compared maps, without names: they would be too small to read."""
    methods = list(dict.fromkeys(method for method, _, _ in request.compared))
    searches = list(dict.fromkeys(search for _, search, _ in request.compared))
    if not methods:
        raise InputError("there are no compared maps yet; make some in Compare first")
    found: dict[tuple[str, str], MapScene] = {}
    if request.view.color_by in OF_EACH_MAP:  # whose scales are not the same for all of them
        request = replace(request, view=replace(request.view, color_by=HDR))
    for method, search, config in request.compared:
        run = anonymous.run(runner.run(config))
        scene = _scene(request, run, runner.dataset.interval_minutes)
        found[method, search] = scene.with_(labelled=False, contours=())
    return draw_map_grid(
        [[found.get((method, search)) for search in searches] for method in methods],
        row_titles=[METHODS[method].title for method in methods],
        column_titles=searches,
        size=request.paper.inches,
        lettering=request.paper.lettering,
    )


def _table(request: ExportRequest, run: Run, anonymous: Anonymous, runner: Runner) -> pd.DataFrame:
    if request.kind == "points":
        chosen = runs_to_rows(request.view.chosen, run.n)
        return point_table(
            run, chosen=chosen, found=_found(request, runner), by_rank=anonymous.by_rank
        )
    if request.kind == "edges":
        if run.neighbors.indices.size > MOST_EDGES:
            raise InputError(
                f"there are {run.neighbors.indices.size:,} pairs of neighbours, too many for a "
                "file from the page; core.export.run_tables.edge_table gives them in Python"
            )
        return edge_table(run, by_rank=anonymous.by_rank)
    rows = _rows(request)
    if len(rows) > MOST_DISTRIBUTIONS:
        raise InputError(
            f"{len(rows):,} points are chosen; distributions are for at most "
            f"{MOST_DISTRIBUTIONS:,}: choose fewer on the map"
        )
    if anonymous.by_rank:
        rows = tuple(sorted(rows, key=lambda row: int(run.hdr.rank[row])))
    return distribution_table(run, anonymous.dataset, runner.cube(request.view.config), rows)


def _found(request: ExportRequest, runner: Runner) -> pd.DataFrame:
    """What the page knows of points beside their places: what is unusual, and the notes."""
    config = request.view.config
    judged = _judged(runner, config) if config.unit in UNITS else None
    columns = {}
    if judged is not None:
        columns = {name: judged[name] for name in FOUND}
    if request.privacy == "keep":  # notes may name people
        labels, notes = runner.run(config).units["label"], request.remarks.notes
        columns["note"] = pd.Series([notes.get(label, "") for label in labels])
    return pd.DataFrame(columns)


def _rows(request: ExportRequest) -> tuple[int, ...]:
    if not request.rows:
        raise InputError("there is no such point: choose or pin one on the map first")
    return request.rows
