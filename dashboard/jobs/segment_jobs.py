"""Segments of households, found by a worker."""

from typing import Any

from core.progress import Progress
from core.runs import RunConfig
from core.segments import Segments, find_segments
from dashboard.jobs.session_pool import FollowedJob
from dashboard.jobs.workspace import Workspace, WorkspacePaths

# What of a config makes other segments.
FIELDS = ("households", "slots", "first_day", "last_day", "months", "bins", "seed")


def submit_segments(workspace: Workspace, config: RunConfig, detail: int) -> FollowedJob:
    """Have segments found; the result is a :class:`core.segments.Segments`."""
    argument = workspace.paths, config.to_json(), detail
    about = tuple(str(getattr(config, name)) for name in FIELDS)
    key = ("segments", workspace.paths, about, detail)
    return workspace.pool.submit(key, find, argument, queue="segments")


def find(argument: tuple[WorkspacePaths, dict[str, Any], int], progress: Progress) -> Segments:
    """Find segments, or fetch those that are stored."""
    paths, content, detail = argument
    dataset, store = paths.open()
    config = RunConfig.from_json(content)
    return find_segments(dataset, config, detail=detail, store=store, progress=progress)
