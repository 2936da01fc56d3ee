"""Work done by the workers of a Dask cluster, one file a task.

Workers get functions and paths, never readings, and leave every result in a file of its own in a
folder that all of them see, named by the function and its task. A worker that is killed costs its
unfinished task, which Dask gives to another; a run that is broken off is taken up where it was.
Dask is used as a map and a tree reduction, and as nothing else.
"""

import gc
import logging
import platform
import shutil
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from core import atomic
from core.engine._futures import await_file, completed, problem_of
from core.engine._task_files import kind_of, load, save
from core.engine.engine import Engine, Job, Result, SharedArray, Task
from core.errors import InputError
from core.parallel import available_cores
from core.progress import Progress, part, silent

if TYPE_CHECKING:
    from distributed import Client

# Results that one task of a reduction combines.
FAN_IN = 16

# What must be the same everywhere: it decides what is computed, or whether we can be understood.
_PACKAGES = ("wattfold", "numpy", "numba", "pyarrow", "dask", "distributed")


@dataclass(frozen=True, kw_only=True)
class TLS:
    """Paths of PEM files: the authority, and this client's own certificate and key."""

    ca_file: str
    cert_file: str
    key_file: str


@dataclass(frozen=True)
class _Sight:
    """What a worker has and sees."""

    versions: dict[str, str]
    sees_folder: bool


class Dask(Engine):
    """A Dask cluster: one at an address, or processes of this machine for as long as it is open.

    Parameters
    ----------
    folder : Path
        Where results of tasks are left; workers must see it under the same path.
    scheduler : str, optional
        The address of a scheduler, such as ``tls://cluster:8786``; by default a cluster of
        processes on this machine.
    tls : TLS, optional
        For a scheduler that asks for it. Without it Dask's own configuration applies.
    n_workers : int, optional
        Processes of a local cluster; one per core by default.
    patience : float
        Seconds to wait for the scheduler, for a first worker and for its answer.

    Attributes
    ----------
    reused, computed : int
        Tasks whose result was there from before, and those that were done.
    """

    name: ClassVar[str] = "dask"
    in_process: ClassVar[bool] = False

    def __init__(
        self,
        folder: str | Path,
        *,
        scheduler: str | None = None,
        tls: TLS | None = None,
        n_workers: int | None = None,
        patience: float = 20.0,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.scheduler = scheduler
        self.tls = tls
        self.n_workers = n_workers or available_cores()
        self.patience = patience
        self.reused = 0
        self.computed = 0
        self._client: Client | None = None
        self._cluster: Any = None

    @property
    def client(self) -> "Client":
        """The open connection."""
        if self._client is None:
            raise RuntimeError("the engine is not open; use it in a with statement")
        return self._client

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        return max(1, sum(self.client.nthreads().values()))

    def __enter__(self) -> Self:
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise InputError(
                "engine dask needs Dask, which is not installed: pip install 'wattfold[cluster]'"
            ) from None
        try:
            self._make_folder()
            self._client = self._connect()
            self._look_at_workers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection, and the cluster if it is ours."""
        client, cluster = self._client, self._cluster
        self._client = self._cluster = None
        with suppress(OSError):  # what a job that was broken off has left stays
            _probe(self.folder).unlink(missing_ok=True)
            self.folder.rmdir()
        # A cluster that is gone already has nothing to close.
        with suppress(Exception):
            if client is not None:
                client.close(timeout=5)
        with suppress(Exception):
            if cluster is not None:
                cluster.close(timeout=10)
        del client, cluster
        _collect_clients()

    @contextmanager
    def job(self, name: str) -> Iterator[Job]:
        """Begin a job in a folder of its name, or take up what is there."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        yield DaskJob(self, folder)
        shutil.rmtree(folder, ignore_errors=True)

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            _probe(self.folder).touch()
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be written ({error.strerror or error}); workers leave their "
                "results there: give another folder that all of them see"
            ) from None

    def _connect(self) -> "Client":
        from distributed import Client, LocalCluster
        from distributed.security import Security

        if self.scheduler is None:
            self._cluster = LocalCluster(
                n_workers=self.n_workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
            return Client(self._cluster, set_as_default=False)
        security = None
        if self.tls is not None:
            security = Security(
                require_encryption=True,
                tls_ca_file=self.tls.ca_file,
                tls_client_cert=self.tls.cert_file,
                tls_client_key=self.tls.key_file,
            )
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            with warnings.catch_warnings():
                # Versions are compared below, with an error that says what to do.
                warnings.simplefilter("ignore")
                return Client(
                    self.scheduler,
                    security=security,
                    timeout=self.patience,
                    set_as_default=False,
                )
        except Exception as error:  # of many kinds, an AssertionError among them
            reason = _first_line(error)
        _collect_clients()
        raise InputError(
            f"no Dask scheduler can be used at {self.scheduler} ({reason}); start one with dask "
            "scheduler, check the address and, for tls://, the three certificate files"
        )

    def _look_at_workers(self) -> None:
        """Raise unless there are workers and all of them have our versions and see our folder."""
        where = self.scheduler or "this machine"
        try:
            self.client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError:
            raise InputError(
                f"the Dask scheduler at {where} has no workers after {self.patience:g} s; "
                f"start some with dask worker {self.scheduler or ''}".rstrip()
            ) from None
        ours = _versions()
        addresses = list(self.client.nthreads())
        futures = [
            self.client.submit(_look, self.folder, workers=[address], pure=False)
            for address in addresses
        ]
        deadline = time.monotonic() + self.patience
        for address, future in zip(addresses, futures, strict=True):
            try:
                sight = future.result(timeout=max(1.0, deadline - time.monotonic()))
            except TimeoutError:
                raise InputError(
                    f"the Dask worker {address} does not answer within {self.patience:g} s; "
                    "end it, or wait until it is idle"
                ) from None
            except Exception as error:
                raise InputError(
                    f"the Dask worker {address} or its scheduler cannot do our work "
                    f"({type(error).__name__}: {_first_line(error)}); install the same Wattfold "
                    "there as here"
                ) from None
            for package, here in ours.items():
                there = sight.versions.get(package, "none")
                if there != here:
                    raise InputError(
                        f"the Dask worker {address} has {package} {there} and this process has "
                        f"{here}; results could differ: install the same versions on both"
                    )
            if not sight.sees_folder:
                raise InputError(
                    f"the Dask worker {address} does not see {self.folder}; put the dataset and "
                    "this folder on a file system that all workers share"
                )


class DaskJob(Job):
    """A job whose results are files in one folder."""

    def __init__(self, engine: Dask, folder: Path) -> None:
        self.engine = engine
        self.folder = folder

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Generator[Result, None, None]:
        """Apply the function to every task and yield the results in any order."""
        kind = kind_of(function)
        for path in self._files(function, partial(_make, function), tasks):
            yield load(kind, path)

    def reduce(
        self,
        function: Callable[[Task], Result],
        combine: Callable[[Iterable[Result]], Result],
        tasks: Sequence[Task],
        /,
        *,
        progress: Progress = silent,
        message: str = "",
    ) -> Result:
        """Combine results on the workers, so many at a time that none of them holds them all."""
        kind = kind_of(function)
        progress(0.0, message)
        paths = self._all_files(function, partial(_make, function), tasks, progress, message)
        while len(paths) > 1:
            groups = [tuple(paths[i : i + FAN_IN]) for i in range(0, len(paths), FAN_IN)]
            work = partial(_make_combined, combine, kind)
            paths = self._all_files(combine, work, groups, part(progress, 1.0, 1.0), message)
        return load(kind, paths[0])

    def share(self, arrays: Mapping[str, np.ndarray], /) -> dict[str, SharedArray]:
        """Write the arrays once."""
        shared = {}
        for name, array in arrays.items():
            path = self.folder / f"{name}.npy"
            if not path.is_file():
                with atomic.new_file(path) as temporary, temporary.open("wb") as file:
                    np.save(file, array, allow_pickle=False)
            shared[name] = SharedArray(path=path)
        return shared

    def _all_files(
        self,
        function: Callable[..., Any],
        work: Callable[..., None],
        tasks: Sequence[Any],
        progress: Progress,
        message: str,
    ) -> list[Path]:
        """Have all files made; return them in the order of the tasks."""
        for done, _ in enumerate(self._files(function, work, tasks), start=1):
            progress(done / len(tasks), message)
        return [self._path(function, task) for task in tasks]

    def _files(
        self, function: Callable[..., Any], work: Callable[..., None], tasks: Sequence[Any]
    ) -> Generator[Path, None, None]:
        """Yield the file of every task, those that are there from before first."""
        engine = self.engine
        missing: dict[Path, Any] = {}
        for task in tasks:
            path = self._path(function, task)
            if path.is_file():
                engine.reused += 1
                yield path
            else:
                missing[path] = task
        futures = {
            engine.client.submit(work, task, path, pure=False): path
            for path, task in missing.items()
        }
        try:
            for future in completed(engine.client, list(futures), engine.patience):
                path = futures.pop(future)
                # One that is done and whose worker then died is "lost"; its file is there.
                if future.status in ("error", "cancelled"):
                    raise problem_of(future, missing[path], self.folder)
                await_file(path, engine.patience)
                engine.computed += 1
                yield path
        finally:
            # The scheduler may be what has gone.
            with suppress(Exception):
                engine.client.cancel([future for future in futures if not future.done()])

    def _path(self, function: Callable[..., Any], task: Any) -> Path:
        from dask.tokenize import tokenize

        return self.folder / f"{tokenize(function, task, ensure_deterministic=True)}.npz"


def _make(function: Callable[[Task], Any], task: Task, path: Path) -> None:
    # Dask does a task again when the worker that had done it dies.
    if not path.is_file():
        save(function(task), path)


def _make_combined(
    combine: Callable[[Iterable[Any]], Any], kind: type, sources: Sequence[Path], path: Path
) -> None:
    if not path.is_file():
        save(combine(load(kind, source) for source in sources), path)


def _look(folder: Path) -> _Sight:
    return _Sight(_versions(), _probe(folder).is_file())


def _probe(folder: Path) -> Path:
    return folder / ".seen-by-all-workers"


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _collect_clients() -> None:
    """Let clients that failed be gone.

    They close themselves when they are collected, and wait for ever if that happens to be while
    another one starts or stops, since both take the same lock.
    """
    gc.collect()
