"""Work in threads and on real worker processes, some of which are killed."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from small_dataset import random_readings, write_dataset

from core.cli import main
from core.cube import build_cube
from core.engine import TLS, Dask, Local, dask_cluster, make_engine
from core.engine._task_files import kind_of, load, save
from core.errors import Cancelled, InputError
from core.neighbors import find_neighbors
from core.neighbors.sharded import find_neighbors_by_shard
from core.readings import shards as shards_module
from core.vectors import make_vectors

OPENSSL = shutil.which("openssl")


@dataclass(frozen=True)
class Total:
    value: int
    seen: np.ndarray


def count(number: int, *, factor: int = 1) -> Total:
    return Total(factor * number, np.array([number]))


def add(totals) -> Total:
    totals = list(totals)
    return Total(sum(t.value for t in totals), np.concatenate([t.seen for t in totals]))


def read_and_add(number: int, *, shared) -> np.ndarray:
    return shared.read() + number


def kill_once(number: int, *, marker: Path) -> np.ndarray:
    """End the worker the first time that number 3 is tried."""
    if number == 3 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([number])


def kill_always(number: int) -> np.ndarray:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.array([number])


def fail(number: int) -> np.ndarray:
    raise InputError(f"number {number} cannot be used")


def slow(number: int) -> np.ndarray:
    time.sleep(60)
    return np.array([number])


def unannotated(number):
    return number


@pytest.fixture
def no_client_is_left():
    """A client that pytest's report of an error kept must not be collected while one starts."""
    yield
    gc.collect()


starts_a_client = pytest.mark.usefixtures("no_client_is_left")


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """Two worker processes."""
    with Dask(tmp_path_factory.mktemp("work"), n_workers=2) as engine:
        yield engine


@pytest.fixture(params=["local", "dask"])
def engine(request):
    """Either engine."""
    return Local(2) if request.param == "local" else request.getfixturevalue("dask")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Readings of twelve households in many row groups, on some of which two households meet."""
    readings = random_readings(households=12)
    return write_dataset(tmp_path_factory.mktemp("data") / "d", readings, row_group_size=500)


def worker_pids(engine: Dask) -> list[int]:
    """Those that run now, as the system knows them: asking the workers fails on a dead one."""
    processes = [nanny.process for nanny in engine._cluster.workers.values()]
    return [each.pid for each in processes if each is not None and each.pid is not None]


def end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait(timeout=30)


@contextmanager
def running_cluster(folder: Path, *, workers: int, flags: tuple[str, ...] = ()):
    """A scheduler and workers as processes of their own; yields its address and all of them."""
    file = folder / "scheduler.json"
    shared = ("--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard", *flags)
    processes = []

    def start(*command: str) -> None:
        with (folder / f"{command[0]}.log").open("ab") as log:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "dask", *command, *shared],
                    env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    try:
        start("scheduler", "--port", "0")
        deadline = time.monotonic() + 60
        address = None
        while address is None:
            with suppress(FileNotFoundError, json.JSONDecodeError):
                address = json.loads(file.read_text())["address"]
            assert processes[0].poll() is None, (folder / "scheduler.log").read_text()
            assert time.monotonic() < deadline, (folder / "scheduler.log").read_text()
            time.sleep(0.05)
        for _ in range(workers):
            start("worker", "--no-nanny", "--nthreads", "1")
        yield address, processes
    finally:
        for process in processes:
            end(process)


def files_of(cube_folder: Path) -> dict[str, bytes]:
    (folder,) = (cube_folder / "cubes").iterdir()
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_map_reduce_and_share(engine):
    with engine.job("sums") as job:
        found = list(job.map(partial(count, factor=3), [1, 2, 5]))
        assert sorted(each.value for each in found) == [3, 6, 15]
        shared = job.share({"x": np.arange(3)})["x"]
        sums = list(job.map(partial(read_and_add, shared=shared), [10]))
        np.testing.assert_array_equal(sums, [[10, 11, 12]])
        told = []
        total = job.reduce(
            count, add, range(40), progress=lambda f, m="": told.append(f), message="adding"
        )
    assert total.value == 780
    assert sorted(total.seen) == list(range(40))
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert told == sorted(told)


def test_an_error_of_a_task_is_ours(engine):
    with pytest.raises(InputError, match=r"number 4 cannot be used"), engine.job("bad") as job:
        list(job.map(fail, [4]))


def test_pieces_are_what_was_saved(tmp_path):
    for kind, result in (
        (np.ndarray, np.arange(6, dtype=np.uint8).reshape(2, 3)),
        (Total, count(7)),
    ):
        save(result, tmp_path / "piece.npz")
        again = load(kind, tmp_path / "piece.npz")
        assert type(again) is kind
    assert again.value == 7
    assert isinstance(again.value, int)
    np.testing.assert_array_equal(again.seen, [7])
    assert kind_of(partial(partial(count, factor=2), factor=3)) is Total
    with pytest.raises(KeyError):
        kind_of(unannotated)


@pytest.mark.parametrize(("rows", "shards"), [(10**6, 1), (6500, 2), (3500, 4), (2000, 7)])
def test_cube_is_the_same_to_the_last_byte(dataset, dask, monkeypatch, rows, shards):
    monkeypatch.setattr(shards_module, "SHARD_ROWS", rows)
    assert len(shards_module.split(dataset, np.arange(12, dtype=np.int32))) == shards
    built = {}
    for name, engine in (("local", Local()), ("dask", dask)):
        shutil.rmtree(dataset.path / "cubes", ignore_errors=True)
        build_cube(dataset, bins=50, engine=engine)
        built[name] = files_of(dataset.path)
    assert built["dask"] == built["local"]
    assert not list(dask.folder.glob("cube-*"))


def test_bins_of_readings_between_watt_hours_are_the_same(tmp_path, dask):
    readings = random_readings(households=4, days=14)
    readings["kwh"] += np.random.default_rng(1).random(len(readings)) / 1000
    dataset = write_dataset(tmp_path / "d", readings, row_group_size=300)
    edges = build_cube(dataset, bins=20, engine=dask).edges
    shutil.rmtree(dataset.path / "cubes")
    np.testing.assert_array_equal(edges, build_cube(dataset, bins=20).edges)


@pytest.mark.parametrize("shards", [2, 4, 7])
def test_exact_neighbours_are_the_same(dataset, dask, shards):
    cube = build_cube(dataset, bins=20)
    vectors = make_vectors(cube, dataset, unit="household-slots", window=4, slots=np.arange(40))
    here = find_neighbors(vectors, k=8, backend="exact")
    there = find_neighbors_by_shard(vectors, k=8, backend="exact", engine=dask, shards=shards)
    np.testing.assert_array_equal(there.indices, here.indices)
    np.testing.assert_array_equal(there.distances, here.distances)


def test_killed_workers_cost_time_and_nothing_else(dataset, dask, monkeypatch):
    """A worker is killed from outside three times while the cube is counted."""
    monkeypatch.setattr(shards_module, "SHARD_ROWS", 500)
    shutil.rmtree(dataset.path / "cubes", ignore_errors=True)
    build_cube(dataset, bins=30)
    expected = files_of(dataset.path)
    shutil.rmtree(dataset.path / "cubes")
    kills = iter((0.02, 0.4, 0.7, 2.0))
    at, killed = next(kills), []

    def report(fraction, message=""):
        nonlocal at
        if fraction >= at:
            at = next(kills)
            killed.append(worker_pids(dask)[0])
            os.kill(killed[-1], signal.SIGKILL)

    build_cube(dataset, bins=30, engine=dask, progress=report)
    assert len(set(killed)) == 3
    assert files_of(dataset.path) == expected


@pytest.mark.soak
@pytest.mark.parametrize("run", range(10))
def test_a_worker_killed_at_any_moment_costs_time_and_nothing_else(dataset, dask, monkeypatch, run):
    """One worker is killed while the cube is counted, another while neighbours are searched."""
    monkeypatch.setattr(shards_module, "SHARD_ROWS", 500)
    shutil.rmtree(dataset.path / "cubes", ignore_errors=True)
    cube = build_cube(dataset, bins=30)
    expected = files_of(dataset.path)
    vectors = make_vectors(cube, dataset, unit="household-slots", window=4, slots=np.arange(40))
    here = find_neighbors(vectors, k=8, backend="exact")
    shutil.rmtree(dataset.path / "cubes")
    moments = np.random.default_rng(run).uniform(0.02, 0.9, 2)

    def killer(moment: float):
        killed: list[int] = []

        def report(fraction, message=""):
            # The one that was killed before may not be replaced yet.
            running = worker_pids(dask)
            if fraction >= moment and running and not killed:
                killed.append(running[run % len(running)])
                os.kill(killed[0], signal.SIGKILL)

        return report, killed

    report, first = killer(moments[0])
    build_cube(dataset, bins=30, engine=dask, progress=report)
    assert files_of(dataset.path) == expected
    report, second = killer(moments[1])
    there = find_neighbors_by_shard(
        vectors, k=8, backend="exact", engine=dask, shards=7, progress=report
    )
    np.testing.assert_array_equal(there.indices, here.indices)
    np.testing.assert_array_equal(there.distances, here.distances)
    assert len(first) == len(second) == 1


def test_a_worker_that_dies_at_its_task_is_replaced(dask, tmp_path):
    marker = tmp_path / "tried"
    with dask.job("dies once") as job:
        found = list(job.map(partial(kill_once, marker=marker), range(6)))
    assert marker.exists()
    assert sorted(np.concatenate(found)) == list(range(6))


def test_a_task_that_kills_every_worker_is_named(dask):
    with (
        pytest.raises(InputError, match=r"^3 ended every worker .* what is finished is kept in"),
        dask.job("deadly") as job,
    ):
        assert len(list(job.map(kill_always, [0, 1, 2]))) == 3
        # Alone: Dask suspects whatever waits at a worker that dies.
        list(job.map(kill_always, range(4)))
    before = dask.reused
    with dask.job("deadly") as job:
        assert len(list(job.map(kill_always, [0, 1, 2, 4, 5]))) == 5
    assert dask.reused - before >= 3


def test_what_is_finished_is_used_again(dataset, dask, monkeypatch):
    monkeypatch.setattr(shards_module, "SHARD_ROWS", 1000)
    shutil.rmtree(dataset.path / "cubes", ignore_errors=True)
    expected = np.array(build_cube(dataset, bins=40).counts)
    shutil.rmtree(dataset.path / "cubes")

    def stop_half_way(fraction, message=""):
        if fraction > 0.6:
            raise Cancelled

    reused, computed = dask.reused, dask.computed
    with pytest.raises(Cancelled):
        build_cube(dataset, bins=40, engine=dask, progress=stop_half_way)
    done = len(list(dask.folder.glob("cube-*/*.npz")))
    first = dask.computed - computed
    assert done >= first > 5
    assert dask.reused == reused
    cube = build_cube(dataset, bins=40, engine=dask)
    np.testing.assert_array_equal(cube.counts, expected)
    assert dask.reused - reused >= first
    shards = len(shards_module.split(dataset, np.arange(12, dtype=np.int32)))
    tasks = 2 * shards + -(-shards // dask_cluster.FAN_IN) + (shards > dask_cluster.FAN_IN)
    assert (dask.reused - reused) + (dask.computed - computed - first) == tasks


@starts_a_client
def test_a_scheduler_that_is_not_there(tmp_path):
    with (
        pytest.raises(InputError, match=r"no Dask scheduler can be used at tcp://127.0.0.1:9 "),
        Dask(tmp_path, scheduler="tcp://127.0.0.1:9", patience=0.5),
    ):
        pass


@starts_a_client
def test_a_scheduler_without_workers(tmp_path):
    with (
        running_cluster(tmp_path, workers=0) as (address, _),
        pytest.raises(InputError, match=rf"{address} has no workers after 0.5 s; start some"),
        Dask(tmp_path / "w", scheduler=address, patience=0.5),
    ):
        pass


@starts_a_client
def test_workers_of_another_version_or_place(dask, tmp_path, monkeypatch):
    address = dask.client.scheduler.address
    with monkeypatch.context() as patch:
        patch.setattr(dask_cluster, "version", lambda name: "0.0.1")
        with pytest.raises(InputError, match=r"has wattfold .* and this process has 0.0.1"):
            Dask(tmp_path, scheduler=address).__enter__()
    with monkeypatch.context() as patch:
        patch.setattr(Dask, "_make_folder", lambda self: None)
        with pytest.raises(InputError, match=r"does not see .*elsewhere; put the dataset"):
            Dask(tmp_path / "elsewhere", scheduler=address).__enter__()
    with Dask(tmp_path / "w", scheduler=address) as engine, engine.job("j") as job:
        assert [total.value for total in job.map(count, [4])] == [4]


@starts_a_client
@pytest.mark.skipif(OPENSSL is None, reason="certificates need openssl")
def test_a_cluster_that_asks_for_certificates(tmp_path):
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(
        [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key,
         "-out", cert, "-subj", "/CN=localhost"],
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )  # fmt: skip
    flags = ("--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key, "--protocol", "tls")
    with running_cluster(tmp_path, workers=1, flags=flags) as (address, _):
        tls = TLS(ca_file=cert, cert_file=cert, key_file=key)
        with Dask(tmp_path / "w", scheduler=address, tls=tls) as engine, engine.job("j") as job:
            assert [total.value for total in job.map(count, [4])] == [4]
        for wrong in (address, address.replace("tls:", "tcp:")):
            with pytest.raises(InputError, match="no Dask scheduler can be used"):
                Dask(tmp_path / "w", scheduler=wrong, patience=2).__enter__()


@starts_a_client
def test_workers_that_go_away_and_do_not_come_back(tmp_path):
    with running_cluster(tmp_path, workers=1) as (address, (_, worker)):
        engine = Dask(tmp_path / "w", scheduler=address)
        with (
            pytest.raises(InputError, match=r"no workers for 0.5 s; start some and run the same"),
            engine,
            engine.job("left alone") as job,
        ):
            engine.patience = 0.5
            end(worker)
            list(job.map(slow, [1]))


@starts_a_client
def test_a_scheduler_that_goes_away(tmp_path):
    with running_cluster(tmp_path, workers=1) as (address, (scheduler, _)):
        engine = Dask(tmp_path / "w", scheduler=address)
        with (
            pytest.raises(InputError, match="run the same command again: what is finished is kept"),
            engine,
            engine.job("cut off") as job,
        ):
            engine.patience = 1.0
            closing = threading.Timer(0.5, end, (scheduler,))
            closing.start()
            try:
                list(job.map(slow, [1]))
            finally:
                closing.join()


@starts_a_client
def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"):
        Dask(tmp_path / "file" / "work").__enter__()


@starts_a_client
def test_without_dask_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'wattfold\[cluster\]'"):
        Dask(tmp_path).__enter__()


def test_engines_by_name(tmp_path):
    tls = TLS(ca_file="ca.pem", cert_file="c.pem", key_file="k.pem")
    made = make_engine("dask", folder=tmp_path, scheduler="tls://a:1", tls=tls, threads=3)
    assert (made.scheduler, made.tls, made.n_workers) == ("tls://a:1", tls, 3)
    assert isinstance(make_engine(folder=tmp_path), Local)
    with pytest.raises(InputError, match="belong to engine dask"):
        make_engine("local", folder=tmp_path, scheduler="tcp://a:1")
    with pytest.raises(InputError, match="there is no engine 'spark'"):
        make_engine("spark", folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--scheduler", "tcp://a:1"), "belong to engine dask"),
        (("--work", "here"), "--work belongs to --engine dask"),
        (("--engine", "dask", "--tls-key", "k.pem"), "give --tls-ca-file and --tls-cert as well"),
        (
            ("--engine", "dask", "--tls-key", "k", "--tls-cert", "c", "--tls-ca-file", "a"),
            "there is no file a",
        ),
    ],
)
def test_flags_that_do_not_go_together(dataset, capsys, arguments, problem):
    assert main(["embed", str(dataset.path), *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_embed_on_dask_is_embed(dataset, dask, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "cache"))
    results = {}
    flags = ("--engine", "dask", "--scheduler", dask.client.scheduler.address, "--work", "w")
    monkeypatch.chdir(tmp_path)
    for name, engine in (("local", ()), ("dask", flags)):
        shutil.rmtree(dataset.path / "cubes", ignore_errors=True)
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        arguments = ("--unit", "households", "--k", "5", "--neighbors", "exact", "--json")
        assert main(["embed", str(dataset.path), *arguments, *engine]) == 0
        results[name] = json.loads(capsys.readouterr().out)
    for key in ("anomalies", "typical", "n_bins", "neighbors"):
        assert results["dask"][key] == results["local"][key]
