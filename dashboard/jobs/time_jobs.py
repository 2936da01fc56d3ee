"""Paths and comparisons of periods: looked for in the store, or computed into it by a worker."""

from typing import Any

from core.over_time.kept import (
    comparison_digest,
    keep_comparison,
    keep_paths,
    paths_digest,
    stored_comparison,
    stored_paths,
)
from core.periods import Period
from core.progress import Progress
from core.runs import RunConfig, Runner
from dashboard.jobs.session_pool import FollowedJob
from dashboard.jobs.workspace import Workspace, WorkspacePaths


def find_paths(workspace: Workspace, config: RunConfig) -> FollowedJob:
    """Look for the paths of all households on a map; the result is None if they are not kept."""
    return workspace.pool.call(stored_paths, workspace.dataset, config, workspace.store)


def submit_paths(workspace: Workspace, config: RunConfig) -> FollowedJob:
    """Have the paths computed; :func:`find_paths` reads them then."""
    key = ("paths", workspace.paths, paths_digest(workspace.dataset, config))
    return workspace.pool.submit(key, compute_paths, (workspace.paths, config.to_json()))


def compute_paths(argument: tuple[WorkspacePaths, dict[str, Any]], progress: Progress) -> None:
    """Follow the households of a config; the paths end up in the store."""
    paths, content = argument
    dataset, store = paths.open()
    config = RunConfig.from_json(content)
    keep_paths(Runner(dataset, store=store), config, store, progress=progress)


def find_comparison(workspace: Workspace, config: RunConfig, against: Period) -> FollowedJob:
    """Look for the comparison of two periods; the result is None if it is not kept."""
    about = workspace.dataset, config, against, workspace.store
    return workspace.pool.call(stored_comparison, *about)


def submit_comparison(workspace: Workspace, config: RunConfig, against: Period) -> FollowedJob:
    """Have two periods compared; :func:`find_comparison` reads the result then."""
    digest = comparison_digest(workspace.dataset, config, against)
    argument = workspace.paths, config.to_json(), against.to_json()
    key = ("two periods", workspace.paths, digest)
    return workspace.pool.submit(key, compute_comparison, argument)


def compute_comparison(
    argument: tuple[WorkspacePaths, dict[str, Any], dict[str, Any]], progress: Progress
) -> None:
    """Compare two periods; the result ends up in the store."""
    paths, content, against = argument
    dataset, store = paths.open()
    config = RunConfig.from_json(content)
    keep_comparison(dataset, config, Period.parse(**against), store, progress=progress)
