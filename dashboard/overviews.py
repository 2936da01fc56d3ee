"""What is computed for the Data tab. Imports nothing that draws: workers import it too."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from core.overview import Overview, make_overview, stored_overview
from core.progress import Progress
from core.readings import Dataset
from dashboard import fits
from dashboard.datasets import store_of
from dashboard.jobs import Job
from dashboard.manners import give_way


def look_over(path: str, progress: Progress) -> Overview:
    """Look over a dataset; what is seen also ends up in the store."""
    return make_overview(Dataset.open(path), store=store_of(path), progress=progress)


def fetch(dataset: Dataset) -> Future[Overview | None]:
    """Read what was seen before, if it is still in the store.

    In a thread, not in the pool: nobody who has it should wait for the runs of others.
    """
    return _readers().submit(stored_overview, dataset, store_of(dataset.path))


def submit(session: str, dataset: Dataset) -> Job:
    """Ask the pool for an overview; two sessions that ask get one computation."""
    return fits.pool().submit(
        session, ("overview", str(dataset.path), dataset.digest), look_over, str(dataset.path)
    )


@cache
def _readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="overviews", initializer=give_way)
