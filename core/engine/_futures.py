"""Waiting for the tasks of a Dask cluster, and what can become of them."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError

if TYPE_CHECKING:
    from distributed import Client, Future

_POLL_SECONDS = 0.05
_LOOK_SECONDS = 1.0


def completed(client: "Client", futures: list["Future"], patience: float) -> Iterator["Future"]:
    """Yield futures as they are done; raise where no worker is left to do the others."""
    from distributed import as_completed

    stream = as_completed(futures, loop=client.loop)
    left = len(futures)
    looked = seen = time.monotonic()
    while left:
        batch = stream.next_batch(block=False) if stream.has_ready() else []
        for future in batch:
            left -= 1
            yield future
        now = time.monotonic()
        if batch:
            looked = seen = now
            continue
        if now - looked > _LOOK_SECONDS:
            looked = now
            if _has_workers(client):
                seen = now
            elif now - seen > patience:
                raise InputError(
                    f"the Dask cluster has had no workers for {patience:g} s; start some "
                    "and run the same command again: what is finished is kept"
                )
        time.sleep(_POLL_SECONDS)


def _has_workers(client: "Client") -> bool:
    try:
        return client.status == "running" and bool(client.nthreads())
    except Exception:  # of many kinds: the scheduler is on its way out
        return False


def await_file(path: Path, patience: float) -> None:
    """Wait for a file that a worker has written: network file systems may show it late."""
    deadline = time.monotonic() + patience
    while not path.is_file():
        if time.monotonic() > deadline:
            raise InputError(
                f"{path} was written by a worker and is not seen here after {patience:g} s; put "
                "the folder on a file system that all machines share"
            )
        time.sleep(_POLL_SECONDS)


def problem_of(future: "Future", task: Any, folder: Path) -> BaseException:
    """Turn what became of a task into an error for people."""
    from distributed import KilledWorker

    if future.status == "cancelled":
        return InputError(
            "the Dask scheduler has gone or has dropped our work; start it and run the same "
            f"command again: what is finished is kept in {folder}"
        )
    error = future.exception()
    if isinstance(error, KilledWorker):
        return InputError(
            f"{task} ended every worker that tried it (the last: {error.last_worker.address}), "
            "perhaps for want of memory: see the workers' logs; what is finished is kept in "
            f"{folder}"
        )
    return error
