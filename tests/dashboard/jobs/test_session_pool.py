"""Jobs as a session follows them: changes arrive on its page, few, and none after the end."""

import gc
import subprocess
import sys
import threading
import time
import weakref

import pytest
from page_turns import PageTurns

from core.errors import InputError
from dashboard.jobs import FollowedJob, SessionPool, WorkerPool, coalesced


def count_fast(seconds, progress):
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        progress(1 - left / seconds, "counting")
        time.sleep(0.001)
    return "counted"


def double(argument, progress):
    return 2 * argument


def wait_for_file(path, progress):
    while not path.exists():
        time.sleep(0.01)
    return "seen"


def refuse(argument, progress):
    raise InputError("there is no household 'x'")


@pytest.fixture(scope="module")
def workers():
    pool = WorkerPool(1)
    yield pool
    pool.close()


@pytest.fixture
def turns():
    return PageTurns()


@pytest.fixture
def pool(workers, turns):
    pool = SessionPool(workers, turns)
    yield pool
    pool.cancel_all()


def test_a_result_arrives_on_the_page(pool, turns):
    job = pool.submit("key", double, 21)
    ended = []
    job.on_end(lambda job: ended.append((job.state, job.result, threading.current_thread())))
    turns.run_until(lambda: ended)
    assert ended == [("done", 42, threading.main_thread())]
    assert job.fraction == 1.0


def test_a_failure_says_why(pool, turns):
    job = pool.submit("bad", refuse, None)
    turns.run_until(lambda: job.state == "failed")
    assert job.error == "there is no household 'x'"


def test_many_reports_are_few_changes(pool, turns):
    """The worker reports a thousand times a second."""
    job = pool.submit("fast", count_fast, 2.0)
    seen = []
    job.on_change(lambda job: seen.append((job.state, job.fraction)))
    turns.run_until(lambda: job.state == "done")
    fractions = [fraction for state, fraction in seen if state == "running"]
    assert 3 <= len(fractions) <= 5 * 2 + 3
    assert fractions == sorted(fractions)


def test_changes_that_nobody_has_seen_are_one_change(pool, turns):
    job = pool.submit("unseen", count_fast, 1.0)
    job._job.finished.wait(60)
    time.sleep(0.3)  # the pool's thread tells of it
    assert turns.run() == 1
    assert job.state == "done"


def test_what_is_cancelled_changes_no_more(pool, turns, tmp_path):
    job = pool.submit("long", wait_for_file, tmp_path / "never")
    changes = []
    turns.run_until(lambda: job.state == "running")
    job.on_change(changes.append)
    job.cancel()
    assert job._job.state == "cancelled"
    turns.run()
    assert changes == []


def test_a_job_that_two_sessions_wait_for_forgets_the_one_that_left(workers, turns, tmp_path):
    staying, leaving = SessionPool(workers, turns), SessionPool(workers, turns)
    kept = staying.submit("shared", wait_for_file, tmp_path / "file")
    left = weakref.ref(leaving.submit("shared", wait_for_file, tmp_path / "file"))
    assert left()._job is kept._job
    leaving.cancel_all()
    turns.run()
    gc.collect()
    assert left() is None
    (tmp_path / "file").touch()
    turns.run_until(lambda: kept.state == "done")


def test_a_quick_job_does_not_wait_for_others(pool, turns, tmp_path):
    running = pool.submit("heavy", wait_for_file, tmp_path / "end")
    turns.run_until(lambda: running.state == "running")
    queued = pool.submit("next", wait_for_file, tmp_path / "end")
    quick = pool.submit("quick", double, 2, quick=True)
    turns.run_until(lambda: quick.state == "done")
    assert (running.state, queued.state) == ("running", "queued")


def test_a_listener_that_fails_does_not_stop_the_pool(workers, pool, turns, tmp_path):
    job = pool.submit("watched", wait_for_file, tmp_path / "file")
    job._job.listeners.insert(0, lambda: 1 / 0)
    (tmp_path / "file").touch()
    turns.run_until(lambda: job.state == "done")
    after = pool.submit("after", double, 3)
    turns.run_until(lambda: after.state == "done")


# In threads


def test_a_call_ends_on_the_page(pool, turns):
    job = pool.call(lambda a, b: a + b, 2, 3)
    assert job.result is None
    turns.run_until(lambda: job.state == "done")
    assert job.result == 5


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InputError("no such file"), "no such file"),
        (KeyError("secret"), "report it with the number"),
    ],
)
def test_a_call_that_fails(pool, turns, error, words):
    def fail():
        raise error

    job = pool.call(fail)
    turns.run_until(lambda: job.state == "failed")
    assert words in job.error
    assert "secret" not in job.error


def test_the_end_can_be_waited_for(pool):
    """As when a page is made, which nothing can be told later."""
    job = pool.call(time.sleep, 0.1)
    ended: list[FollowedJob] = []
    job.on_end(ended.append)
    job.wait(60)
    assert ended == [job]


def test_a_call_is_made_once_however_often_it_is_asked_for(turns):
    calls = []
    ask = coalesced(turns, lambda: calls.append(1))
    ask()
    ask("an event")
    turns.run()
    assert calls == [1]
    ask()
    turns.run()
    assert calls == [1, 1]


MODULES = """
import importlib, pkgutil, sys
import dashboard.jobs
for module in pkgutil.iter_modules(dashboard.jobs.__path__):
    importlib.import_module(f"dashboard.jobs.{module.name}")
print(*sys.modules)
"""


def test_workers_do_not_import_panel():
    found = subprocess.run(
        [sys.executable, "-c", MODULES], capture_output=True, text=True, check=True
    )
    modules = set(found.stdout.split())
    assert "dashboard.jobs.export_jobs" in modules
    assert not modules & {"panel", "panel_material_ui", "holoviews", "bokeh.server"}
