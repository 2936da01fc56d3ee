"""A worker's own process: warm until it is needed, one job after the other, gone with its pool."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import pytest

from core.peak_memory import peak_memory_mb
from dashboard.jobs._worker import work

ROOT = Path(__file__).parents[3]
TAKEN = []


@pytest.fixture
def worker():
    """The pipe to a worker."""
    context = get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    yield pipe
    pipe.close()
    process.join(30)
    assert process.exitcode == 0


def result_of(pipe, task, argument=None):
    """Let a worker do a job; return its last message."""
    pipe.send(("job", task, argument))
    while True:
        kind, *content = pipe.recv()
        if kind in ("done", "failed"):
            return kind, content[0]


def step(name: str) -> None:
    TAKEN.append(name)


def first_step() -> None:
    step("first")


def slow_step() -> None:
    time.sleep(1.0)
    step("slow")


def last_step() -> None:
    step("last")


def broken_step() -> None:
    raise ImportError("there is no such library")


def steps_taken(argument, progress):
    return TAKEN


def take_and_tell(megabytes, progress):
    b"x" * (megabytes * 10**6)
    return peak_memory_mb()


def test_a_worker_gets_warm_and_says_so(worker):
    worker.send(("warm", (first_step, last_step), None))
    assert worker.recv() == ("warm",)
    assert result_of(worker, steps_taken) == ("done", ["first", "last"])


def test_a_job_waits_for_one_step_at_most(worker):
    worker.send(("warm", (first_step, slow_step, last_step), None))
    worker.send(("job", steps_taken, None))
    assert worker.recv() == ("cold",)
    assert worker.recv() == ("started",)
    kind, taken = worker.recv()
    assert kind == "done"
    assert "last" not in taken


def test_a_worker_that_cannot_get_warm_works(worker):
    worker.send(("warm", (broken_step, last_step), None))
    assert worker.recv() == ("warm",)
    assert result_of(worker, steps_taken) == ("done", ["last"])


def test_the_peak_of_memory_is_that_of_the_job(worker):
    small, large, small_again = (result_of(worker, take_and_tell, m)[1] for m in (1, 400, 1))
    assert large > small + 390
    assert small_again < small + 100


SERVER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from test_pool import report_and_spin
from dashboard.jobs import WorkerPool
pool = WorkerPool(1)
job = pool.submit("a", "k", report_and_spin, None)
while job.message != "spinning":
    time.sleep(0.01)
print(*pool.process_ids, flush=True)
time.sleep(600)
"""


def test_workers_end_with_a_server_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, Path(__file__).parent],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as server:
        workers = [int(word) for word in server.stdout.readline().split()]
        assert len(workers) == 2
        assert all(Path(f"/proc/{worker}").exists() for worker in workers)
        os.kill(server.pid, signal.SIGKILL)
    end = time.monotonic() + 30
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < end
        time.sleep(0.01)
