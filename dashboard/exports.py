"""What leaves the page: the kinds of files, and how a worker makes one.

Imports nothing of the page: workers import it.
"""

import atexit
import multiprocessing.util  # noqa: F401 (before `atexit`, see dashboard.fits)
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from core.embedding import METHODS
from core.errors import InputError
from core.export.figures import (
    Paper,
    distribution_figure,
    map_figure,
    series_figure,
    week_figure,
    write_figure,
)
from core.export.file_names import file_name
from core.export.interactive import write_interactive_map
from core.export.points import distribution_table, edge_table, point_table
from core.export.privacy import Anonymous, Privacy, anonymise
from core.export.provenance import Provenance
from core.export.report import Remarks, make_report, report_plan
from core.export.tables import write_frame, write_zip
from core.figures import MapCell, draw_map_grid
from core.figures.palette import ANOMALY, HDR_COLORS, HDR_COLORS_SAFE
from core.progress import Progress
from core.readings import Dataset
from core.runs import Run, RunConfig, Runner, Store
from core.slots import MINUTES_PER_DAY
from dashboard.coloring import HDR, TIME, Coloring, choices, color_points
from dashboard.jobs import Limits, WorkerPool
from dashboard.rates import Rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIGURES = {"PNG, 300 dpi": "png", "SVG": "svg", "PDF": "pdf"}
_TABLES = {"CSV (zipped with its description)": "zip", "Parquet": "parquet"}

# Distributions of more points are a file that nobody opens.
MOST_DISTRIBUTIONS = 1_000
MOST_EDGES = 10_000_000
_LIMITS = Limits(seconds=900.0, memory_mb=6_000.0)
# A person asks for a file every few seconds at most.
_RATE = Rate(burst=20, per_second=0.5)


@dataclass(frozen=True)
class Kind:
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


KINDS: Mapping[str, Kind] = {
    "map": Kind("Map", {**_FIGURES, "HTML, interactive": "html"}),
    "demand": Kind("Demand distribution", _FIGURES, ("selected", "pinned"), (12.0, 8.0)),
    "week": Kind("Demand by time of week", _FIGURES, ("selected", "pinned"), (16.0, 7.0)),
    "series": Kind("Readings", _FIGURES, ("selected",), (16.0, 6.0)),
    "grid": Kind("Compared maps", _FIGURES, (), (18.0, 23.0)),
    "points": Kind("Table of points", _TABLES),
    "edges": Kind("Table of neighbours", _TABLES),
    "distributions": Kind("Table of distributions", _TABLES, ("selected", "pinned", "chosen")),
    "report": Kind("Report", {"HTML": "html"}),
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """One file that is asked for; it travels to a worker.

    Attributes
    ----------
    dataset : str
        The path of the dataset.
    config : RunConfig
        Of the run that is shown.
    kind, suffix : str
        A name in `KINDS` and one of its formats.
    directory : str
        Where the file is to be.
    paper : Paper
        For figures.
    privacy : Privacy
    rows : tuple of int
        The points that it is of, where it is of some.
    chosen : tuple of int
        Rows chosen on the map.
    color_by, safe_colors, hidden, contours, named, ranges
        How the map is shown.
    compared : tuple of (method, search title, config)
        The runs of a grid.
    remarks : Remarks
        For a report.
    backend : str, optional
        A report of the run's own method and this backend alone; else of all.
    view : mapping
        How the page showed it, kept in the file unless it would name somebody.
    """

    dataset: str
    config: RunConfig
    kind: str
    suffix: str
    directory: str
    paper: Paper = field(default_factory=Paper)
    privacy: Privacy = "keep"
    rows: tuple[int, ...] = ()
    chosen: tuple[int, ...] = ()
    color_by: str = HDR
    safe_colors: bool = False
    hidden: tuple[str, ...] = ()
    contours: bool = False
    named: bool = True
    ranges: tuple[float, float, float, float] | None = None
    compared: tuple[tuple[str, str, RunConfig], ...] = ()
    remarks: Remarks = field(default_factory=Remarks)
    backend: str | None = None
    view: Mapping[str, Any] = field(default_factory=dict)


def make_export(request: Request, progress: Progress) -> str:
    """Make the file that is asked for and return its path."""
    dataset = Dataset.open(request.dataset)
    if request.kind == "report":
        return str(_report(request, dataset, progress))
    progress(0.05, "Fetching the run")
    runner = Runner(dataset, store=Store.default())
    true = runner.run(request.config)
    anonymous = anonymise(dataset, request.privacy)
    run = anonymous.run(true)
    provenance = Provenance.of(run, withheld=anonymous.withheld, view=_view(request))
    path = _path(request, run)
    progress(0.4, "Drawing" if path.suffix in (".png", ".svg", ".pdf") else "Writing")
    if path.suffix in (".zip", ".parquet"):
        table = anonymous.table(_table(request, run, anonymous, runner))
        write = write_zip if path.suffix == ".zip" else write_frame
        write(table, path, provenance.to_json())
    elif path.suffix == ".html":
        colors = _colors(request, run, dataset.interval_minutes)
        write_interactive_map(
            run,
            colors,
            path,
            provenance,
            texts=None if colors.title == HDR else colors.texts(np.arange(run.n)),
            shown=colors.shown(request.hidden),
        )
    else:
        figure = _figure(request, run, anonymous, runner)
        progress(0.7, "Writing")
        write_figure(figure, path, provenance)
    return str(path)


def _report(request: Request, dataset: Dataset, progress: Progress) -> Path:
    path = Path(request.directory) / file_name("report", suffix=".html")
    make_report(
        dataset,
        request.config,
        path,
        plan=report_plan(request.config, backend=request.backend),
        remarks=request.remarks,
        privacy=request.privacy,
        view=_view(request),
        store=Store.default(),
        progress=progress,
    )
    return path


def _view(request: Request) -> Mapping[str, Any]:
    if request.privacy == "keep":
        return request.view
    # Rows are numbers of households.
    return {name: request.view[name] for name in ("color_by", "layers") if name in request.view}


def _path(request: Request, run: Run) -> Path:
    words = [request.kind]
    if request.kind in ("map", "points", "edges"):
        words.append(run.config.method)
    elif len(request.rows) == 1:
        words.append(str(run.units["label"].iat[request.rows[0]]))
    return Path(request.directory) / file_name(*words, suffix=f".{request.suffix}")


def _colors(request: Request, run: Run, interval_minutes: int) -> Coloring:
    # A column that tells who households are is not in a run that names nobody.
    by = request.color_by if request.color_by in choices(run) else HDR
    return color_points(run, by, interval_minutes=interval_minutes, safe=request.safe_colors)


def _figure(request: Request, run: Run, anonymous: Anonymous, runner: Runner) -> "Figure":
    dataset, paper = anonymous.dataset, request.paper
    if request.kind == "map":
        colors = _colors(request, run, dataset.interval_minutes)
        palette = HDR_COLORS_SAFE if request.safe_colors else HDR_COLORS
        return map_figure(
            run,
            colors,
            paper=paper,
            shown=colors.shown(request.hidden),
            contours=palette if request.contours else None,
            named=request.named,
            ranges=request.ranges,
            anomaly_color=ANOMALY if colors.title == HDR else None,
        )
    if request.kind == "grid":
        return _grid(request, runner)
    draw = {"demand": distribution_figure, "week": week_figure}
    if request.kind in draw:
        return draw[request.kind](run, dataset, _rows(request), paper=paper)
    return series_figure(run, dataset, _rows(request)[0], paper=paper)


def _grid(request: Request, runner: Runner) -> "Figure":
    """The compared maps, without names: they would be too small to read."""
    methods = list(dict.fromkeys(method for method, _, _ in request.compared))
    searches = list(dict.fromkeys(search for _, search, _ in request.compared))
    if not methods:
        raise InputError("there are no compared maps yet; make some in Compare first")
    minutes = runner.dataset.interval_minutes
    found: dict[tuple[str, str], MapCell] = {}
    for method, search, config in request.compared:
        run = runner.run(config)
        by_time = request.color_by == TIME and "slot" in run.units
        found[method, search] = (
            MapCell(run.y, minutes=run.units["slot"].to_numpy() * minutes % MINUTES_PER_DAY)
            if by_time
            else MapCell(run.y, run.hdr)
        )
    return draw_map_grid(
        [[found.get((method, search)) for search in searches] for method in methods],
        row_titles=[METHODS[method].title for method in methods],
        column_titles=searches,
        size=request.paper.inches,
        lettering=request.paper.lettering,
    )


def _table(request: Request, run: Run, anonymous: Anonymous, runner: Runner) -> pd.DataFrame:
    if request.kind == "points":
        return point_table(run, chosen=request.chosen, by_rank=anonymous.by_rank)
    if request.kind == "edges":
        if run.neighbors.indices.size > MOST_EDGES:
            raise InputError(
                f"there are {run.neighbors.indices.size:,} pairs of neighbours, too many for a "
                "file from the page; core.export.points.edge_table gives them in Python"
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
    return distribution_table(run, anonymous.dataset, runner.cube(request.config), rows)


def _rows(request: Request) -> tuple[int, ...]:
    if not request.rows:
        raise InputError("there is no such point: choose or pin one on the map first")
    return request.rows


@cache
def pool() -> WorkerPool:
    """The workers that make files, started when a file is first thought of.

    They are not those that make maps: a file is a matter of seconds, and nobody should wait for
    it behind somebody's hour.
    """
    workers = WorkerPool(1, limits=_LIMITS, warm_up=(_get_ready,), rate=_RATE)
    atexit.register(workers.close)
    return workers


def _get_ready() -> None:
    """Import what draws."""
    import bokeh.plotting  # noqa: F401 (that is all there is to do)
    import matplotlib.figure  # noqa: F401
