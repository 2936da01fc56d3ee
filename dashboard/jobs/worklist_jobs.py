"""What workers make of a worklist: its case file, and more households of the same kind."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.anomalies import read_weeks
from core.export.file_names import file_name
from core.progress import Progress, part
from core.runs import RunConfig
from core.runs.anomaly_stage import keep_anomalies
from core.worklist import MoreLike, Worklist, case_table, more_like, write_case_file
from dashboard.jobs._job import Limits
from dashboard.jobs.session_pool import FollowedJob
from dashboard.jobs.workspace import Workspace, WorkspacePaths

_LIMITS = Limits(seconds=900.0, memory_mb=6_000.0)
_QUEUE = "worklist"


@dataclass(frozen=True, kw_only=True)
class CaseFileRequest:
    """A case file to print; sent to a worker.

    Attributes
    ----------
    worklist : mapping
        Of :meth:`core.worklist.Worklist.to_json`.
    verdict : str
        Print the cases with this verdict alone; all where it is empty.
    price : float, optional
        Of a kWh.
    currency : str
    directory : str
        Where to put the file.
    """

    paths: WorkspacePaths
    config: dict[str, Any]
    worklist: dict[str, Any]
    verdict: str = ""
    price: float | None = None
    currency: str = ""
    directory: str


def submit_case_file(workspace: Workspace, request: CaseFileRequest) -> FollowedJob:
    """Have a case file printed; the result is its path."""
    key = ("case file", request.directory)
    return workspace.pool.submit(key, print_cases, request, queue=_QUEUE, limits=_LIMITS)


def print_cases(request: CaseFileRequest, progress: Progress) -> str:
    """Print the cases of a worklist, one page per household."""
    dataset, store = request.paths.open()
    config = RunConfig.from_json(request.config)
    anomalies = keep_anomalies(dataset, config, store, progress=part(progress, 0.0, 0.5))
    weeks = read_weeks(dataset, period=config.period, progress=part(progress, 0.5, 0.6))
    cases = case_table(Worklist.from_json(request.worklist), anomalies, price=request.price)
    if request.verdict:
        cases = cases[cases["verdict"] == request.verdict]
    path = Path(request.directory) / file_name("cases", suffix=".pdf")
    write_case_file(
        cases,
        dataset,
        weeks,
        path,
        currency=request.currency,
        progress=part(progress, 0.6, 1.0),
    )
    return str(path)


def submit_more_like(
    workspace: Workspace, config: RunConfig, flagged: tuple[str, ...]
) -> FollowedJob:
    """Have the other households ranked; the result is a :class:`core.worklist.MoreLike`."""
    argument = workspace.paths, config.to_json(), flagged
    key = ("more like", workspace.paths, str(config.period.to_json()), flagged)
    return workspace.pool.submit(key, find_more_like, argument, queue=_QUEUE, limits=_LIMITS)


def find_more_like(
    argument: tuple[WorkspacePaths, dict[str, Any], tuple[str, ...]], progress: Progress
) -> MoreLike:
    """Rank the other households of the period by what the flagged ones have in common."""
    paths, content, flagged = argument
    dataset, _ = paths.open()
    period = RunConfig.from_json(content).period
    weeks = read_weeks(dataset, period=period, progress=part(progress, 0.0, 0.3))
    return more_like(weeks, flagged, progress=part(progress, 0.3, 1.0))
