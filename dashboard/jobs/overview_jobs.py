"""The overview that the Data tab shows."""

from core.progress import Progress
from core.runs.overview import Overview, make_overview, stored_overview
from dashboard.jobs.session_pool import FollowedJob
from dashboard.jobs.workspace import Workspace, WorkspacePaths


def find(workspace: Workspace) -> FollowedJob:
    """Look for the overview in the store; the result is None if it is not there."""
    return workspace.pool.call(stored_overview, workspace.dataset, workspace.store)


def submit(workspace: Workspace) -> FollowedJob:
    """Have the overview computed; two sessions that ask at once share one computation."""
    paths = workspace.paths
    return workspace.pool.submit(("overview", paths), compute_overview, paths, queue="data")


def compute_overview(paths: WorkspacePaths, progress: Progress) -> Overview:
    """Compute the overview of a dataset and store it."""
    dataset, store = paths.open()
    return make_overview(dataset, store=store, progress=progress)
