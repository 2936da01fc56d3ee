"""The worker pool: one computation for all who ask, fairness, cancel, death and limits."""

import os
import signal
import time
from pathlib import Path

import pytest

from core.errors import InputError
from dashboard.jobs import Job, Limits, WorkerPool


def double(argument, progress):
    progress(0.5, "half way")
    return 2 * argument


def count_and_wait(argument, progress):
    folder, seconds = argument
    (Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    for step in range(100):
        progress(step / 100, "waiting")
        time.sleep(seconds / 100)
    return os.getpid()


def spin(argument, progress):
    while True:  # never reports, never listens
        pass


def report_and_spin(argument, progress):
    progress(0.5, "spinning")
    spin(argument, progress)


def note_order(argument, progress):
    path, name = argument
    with Path(path).open("a") as file:
        file.write(name)


def misread(argument, progress):
    raise InputError("there is no household 'x'")


def break_down(argument, progress):
    raise KeyError("surprise")


def swallow_memory(argument, progress):
    hoard = [bytearray(50_000_000) for _ in range(40)]
    time.sleep(60)
    return len(hoard)


def tell_priority(argument, progress):
    return os.nice(0)


def die(argument, progress):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def pool():
    pool = WorkerPool(1)
    yield pool
    pool.close()
    assert pool.process_ids == []


def finish(job: Job, seconds: float = 60) -> Job:
    assert job.finished.wait(seconds), f"still {job.state} after {seconds} s"
    return job


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_job_returns_its_result(pool):
    job = finish(pool.submit("me", "key", double, 21))
    assert (job.state, job.result, job.fraction) == ("done", 42, 1.0)


def test_the_same_key_asked_for_twice_runs_once(pool, tmp_path):
    first = pool.submit("a", "same", count_and_wait, (str(tmp_path), 0.5))
    second = pool.submit("b", "same", count_and_wait, (str(tmp_path), 0.5))
    assert first is second
    assert finish(first).state == "done"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_shared_job_goes_on_until_the_last_one_gives_up(pool, tmp_path):
    job = pool.submit("a", "same", count_and_wait, (str(tmp_path), 30))
    pool.submit("b", "same", count_and_wait, (str(tmp_path), 30))
    wait_until(lambda: job.state == "running")
    pool.cancel("a", job)
    assert job.state == "running"
    pool.cancel("b", job)
    assert job.state == "cancelled"


def test_progress_and_an_estimate_of_the_time_left_are_shown(pool, tmp_path):
    job = pool.submit("a", "k", count_and_wait, (str(tmp_path), 2))
    wait_until(lambda: job.seconds_left is not None)
    assert 0 < job.fraction < 1
    assert job.message == "waiting"
    assert job.seconds_left > 0


def test_cancel_ends_even_a_task_that_never_listens(pool):
    job = pool.submit("a", "k", spin, None)
    wait_until(lambda: job.state == "running")
    before = set(pool.process_ids)
    pool.cancel("a", job)
    assert job.finished.is_set()
    wait_until(lambda: len(before & set(pool.process_ids)) == 1)  # the spare lives, the other not
    assert finish(pool.submit("a", "next", double, 1)).result == 2


def test_queued_jobs_can_be_cancelled_and_know_their_place(pool):
    running = pool.submit("a", "1", spin, None)
    wait_until(lambda: running.state == "running")
    queued = [pool.submit("a", str(n), double, n) for n in range(2, 5)]
    assert [job.position for job in queued] == [1, 2, 3]
    pool.cancel("a", queued[0])
    assert [job.position for job in queued[1:]] == [1, 2]
    pool.cancel("a", running)
    assert [finish(job).result for job in queued[1:]] == [6, 8]


def test_sessions_take_turns(pool, tmp_path):
    blocker = pool.submit("x", "x", spin, None)
    wait_until(lambda: blocker.state == "running")
    path = str(tmp_path / "order")
    jobs = [pool.submit("a", f"a{n}", note_order, (path, "a")) for n in range(3)]
    jobs += [pool.submit("b", f"b{n}", note_order, (path, "b")) for n in range(2)]
    pool.cancel("x", blocker)
    for job in jobs:
        finish(job)
    assert Path(path).read_text() == "ababa"


def test_closing_a_session_gives_up_its_jobs(pool):
    job = pool.submit("gone", "k", spin, None)
    wait_until(lambda: job.state == "running")
    pool.cancel_session("gone")
    assert job.state == "cancelled"


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (misread, "there is no household 'x'"),
        (break_down, "report it with the number"),
        (die, "was killed by signal 9"),
    ],
)
def test_a_failure_is_told_and_the_pool_goes_on(task, words, pool):
    job = finish(pool.submit("a", "bad", task, None))
    assert job.state == "failed"
    assert words in job.error
    assert finish(pool.submit("a", "good", double, 4)).result == 8


def test_limits_of_time_and_memory():
    pool = WorkerPool(1, limits=Limits(seconds=0.5, memory_mb=4000))
    try:
        assert "limit of a job" in finish(pool.submit("a", "t", spin, None)).error
        pool.limits = Limits(seconds=60, memory_mb=500)
        assert "MB of memory" in finish(pool.submit("a", "m", swallow_memory, None)).error
        assert finish(pool.submit("a", "g", double, 1)).result == 2
    finally:
        pool.close()


def sleep_for(seconds, progress):
    time.sleep(seconds)


def test_a_quick_job_does_not_wait_for_any_number_of_long_ones(pool):
    long = [pool.submit("a", f"long-{n}", spin, None) for n in range(5)]
    wait_until(lambda: long[0].state == "running")
    for number in range(5):
        job = pool.submit("b", f"quick-{number}", double, number, quick=True)
        assert finish(job).result == 2 * number
    assert [job.state for job in long] == ["running"] + 4 * ["queued"]


def test_a_job_that_was_taken_for_quick_gives_its_place_away():
    pool = WorkerPool(1, quick_seconds=0.2)
    try:
        long = pool.submit("a", "long", spin, None)
        mistaken = [pool.submit("a", f"mistaken-{n}", spin, None, quick=True) for n in range(9)]
        wait_until(lambda: long.state == "running")
        # Processes are bounded all the same.
        wait_until(lambda: sum(job.state == "running" for job in mistaken) == 3)
        for job in mistaken[1:]:
            pool.cancel("a", job)
        assert finish(pool.submit("b", "quick", double, 21, quick=True)).result == 42
        assert (long.state, mistaken[0].state) == ("running", "running")
        # Those that are not needed any more end.
        pool.cancel("a", mistaken[0])
        wait_until(lambda: len(pool.process_ids) == 2)
    finally:
        pool.close()


def swallow_fast(megabytes, progress):
    hoard = bytearray(megabytes * 10**6)
    time.sleep(60)
    return len(hoard)


def test_a_job_that_takes_too_much_memory_ends_alone(pool):
    """Reached by a job beside others, which go on."""
    other = pool.submit("b", "other", sleep_for, 3)
    limits = Limits(seconds=60, memory_mb=400)
    job = finish(pool.submit("a", "m", swallow_fast, 600, limits=limits, quick=True))
    assert job.state == "failed"
    assert "the limit is 400 MB: try fewer points" in job.error
    assert finish(other).state == "done"
    assert finish(pool.submit("a", "next", double, 1)).result == 2


def warm_until_told():
    while not Path(os.environ["GATE"]).exists():
        time.sleep(0.05)


def test_workers_get_warm_one_by_one_and_a_job_need_not_wait_for_it(tmp_path, monkeypatch):
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    pool = WorkerPool(1, warm_up=(warm_until_told,))
    try:
        wait_until(lambda: any(worker.state == "warming" for worker in pool._workers))
        assert finish(pool.submit("a", "k", double, 1)).result == 2
        assert sorted(worker.state for worker in pool._workers) == ["cold", "warming"]
        (tmp_path / "gate").touch()
        wait_until(lambda: all(worker.state == "warm" for worker in pool._workers))
    finally:
        pool.close()


def children() -> int:
    """Processes that this one has started and not yet buried."""
    return sum(
        len((task / "children").read_text().split()) for task in Path("/proc/self/task").iterdir()
    )


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("cycles", [50, pytest.param(200, marks=pytest.mark.soak)])
def test_many_cancels_leave_no_process_and_no_handle_behind(cycles, pool):
    finish(pool.submit("a", "first", double, 1))
    wait_until(lambda: len(pool.process_ids) == 2)
    before = children(), handles()
    for number in range(cycles):
        job = pool.submit("a", number, report_and_spin, None)
        # In turn: while queued or hardly begun, and in the middle of the work.
        if number % 2:
            wait_until(lambda job=job: job.message == "spinning")
        pool.cancel("a", job)
        assert job.state == "cancelled"
    finish(pool.submit("a", "last", double, 1))
    wait_until(lambda: (children(), handles()) == before)


def test_workers_give_way_to_the_server(pool):
    job = finish(pool.submit("a", ("priority",), tell_priority, None))
    assert job.result > os.nice(0)
