"""Engines: where work that falls into pieces is done."""

from pathlib import Path

from core.engine.dask_cluster import TLS, Dask
from core.engine.engine import Engine, Job, SharedArray
from core.engine.local import Local
from core.errors import InputError

__all__ = ["ENGINES", "TLS", "Dask", "Engine", "Job", "Local", "SharedArray", "make_engine"]

ENGINES = (Local.name, Dask.name)


def make_engine(
    name: str = Local.name,
    *,
    folder: str | Path,
    scheduler: str | None = None,
    tls: TLS | None = None,
    threads: int | None = None,
) -> Engine:
    """Make an engine by its name; open it with ``with``.

    Parameters
    ----------
    name : {'local', 'dask'}
    folder : path
        Where workers of ``dask`` leave results of tasks, see :class:`Dask`.
    scheduler, tls
        The cluster, see :class:`Dask`.
    threads : int, optional
        Of ``local``, and processes of ``dask`` without a scheduler; all cores by default.
    """
    if name == Local.name:
        if scheduler or tls:
            raise InputError("a scheduler and its certificates belong to engine dask; choose it")
        return Local(threads)
    if name == Dask.name:
        return Dask(folder, scheduler=scheduler, tls=tls, n_workers=threads)
    raise InputError(f"there is no engine {name!r}; choose one of {', '.join(ENGINES)}")
