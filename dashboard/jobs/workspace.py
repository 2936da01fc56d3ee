"""A dataset that is open in a session, where its results are kept and who computes them.

The only place that decides which store a dataset uses.
"""

from dataclasses import dataclass
from typing import Self

from core.readings import Dataset
from core.readings.dataset import DatasetChangedError
from core.runs import Store
from dashboard.jobs.session_pool import SessionPool

CHANGED = (
    "The data of this page were replaced, moved or changed. What you see is of the data before; "
    "reload the page to work with those that are there now."
)
# What the results on an upload may take; they go with the session.
UPLOAD_STORE_BYTES = 10**9


@dataclass(frozen=True)
class WorkspacePaths:
    """What a worker needs to open the dataset and the store of a workspace."""

    dataset: str
    digest: str
    store: str
    store_limit_bytes: int

    def open(self) -> tuple[Dataset, Store]:
        """Open both; raise if another dataset has taken the place of the page's."""
        dataset = Dataset.open(self.dataset)
        if dataset.digest != self.digest:
            raise DatasetChangedError(CHANGED)
        return dataset, Store(self.store, limit_bytes=self.store_limit_bytes)


@dataclass(frozen=True, eq=False)
class Workspace:
    """A dataset with its store and the session's pool."""

    dataset: Dataset
    store: Store
    pool: SessionPool

    @classmethod
    def of_server(cls, dataset: Dataset, pool: SessionPool) -> Self:
        """A dataset that all sessions may open; they share its results."""
        return cls(dataset, Store.default(), pool)

    @classmethod
    def of_upload(cls, dataset: Dataset, pool: SessionPool) -> Self:
        """A dataset in the session's folder; its results stay beside it and are removed with it."""
        store = Store(dataset.path.parent / "store", limit_bytes=UPLOAD_STORE_BYTES)
        return cls(dataset, store, pool)

    @property
    def paths(self) -> WorkspacePaths:
        """For workers."""
        return WorkspacePaths(
            str(self.dataset.path),
            self.dataset.digest,
            str(self.store.path),
            self.store.limit_bytes,
        )
