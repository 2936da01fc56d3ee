"""The store: what was put comes back whole or not at all, whoever else is at it."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.errors import Cancelled, InputError
from core.runs import Store
from core.runs.store import StageResult, make_digest, read_size

ROOT = Path(__file__).parents[3]


def some_entry(number: int = 0, size: int = 100) -> StageResult:
    """Arrays, a table and facts that all tell the same number."""
    return StageResult(
        {"x": np.full(size, number, dtype=np.int64), "y": np.full((2, 3), float(number))},
        {"units": pd.DataFrame({"label": [f"é{number}"], "m": [number]})},
        {"number": number, "notices": ["a", "b"]},
    )


def numbers_of(entry: StageResult) -> set[float]:
    """Every number an entry tells."""
    found = {entry.facts["number"], *entry.arrays["x"].tolist(), *entry.arrays["y"].flat}
    return found | {entry.tables["units"]["m"].item()}


def test_an_entry_comes_back_as_it_was(tmp_path):
    store = Store(tmp_path / "store")
    assert store.get("stage", "d1") is None
    store.put("stage", "d1", some_entry(7))
    found = store.get("stage", "d1")
    assert numbers_of(found) == {7}
    assert found.arrays["x"].dtype == np.int64
    assert found.arrays["y"].shape == (2, 3)
    assert not found.arrays["x"].flags.writeable
    assert found.tables["units"]["label"].tolist() == ["é7"]
    assert found.facts == {"number": 7, "notices": ["a", "b"]}
    assert store.get("stage", "d2") is None
    assert store.get("other", "d1") is None


def test_the_first_entry_of_a_digest_stays(tmp_path):
    store = Store(tmp_path)
    store.put("stage", "d", some_entry(1))
    store.put("stage", "d", some_entry(2))
    assert numbers_of(store.get("stage", "d")) == {1}


def test_objects_are_not_stored(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(ValueError, match="pickle"):
        store.put("stage", "d", StageResult({"x": np.array([object()])}))
    assert store.entries() == []
    assert store.get("stage", "d") is None


def damages():
    """Yield a name and a way to damage an entry's directory."""

    def flip(name, place):
        def damage(path):
            content = bytearray((path / name).read_bytes())
            content[place] ^= 1
            (path / name).write_bytes(content)

        return damage

    yield "a bit of an array", flip("x.npy", -1)
    yield "a bit of an array's header", flip("x.npy", 9)
    yield "a bit of a table", flip("units.parquet", 40)
    yield "a cut array", lambda path: os.truncate(path / "x.npy", 50)
    yield "an empty array", lambda path: os.truncate(path / "x.npy", 0)
    yield "a missing array", lambda path: (path / "x.npy").unlink()
    yield "missing facts", lambda path: (path / "entry.json").unlink()
    yield "cut facts", lambda path: os.truncate(path / "entry.json", 30)
    yield "empty facts", lambda path: os.truncate(path / "entry.json", 0)
    yield "facts of another kind", lambda path: (path / "entry.json").write_text("[1, 2]")
    yield "facts that are none", lambda path: (path / "entry.json").write_text('{"facts": 1}')
    yield (
        "changed facts",
        lambda path: (path / "entry.json").write_text(
            (path / "entry.json").read_text().replace("number", "numbed")
        ),
    )
    yield (
        "an array for a directory",
        lambda path: (
            (path / "x.npy").unlink(),
            (path / "x.npy").mkdir(),
        ),
    )


DAMAGES = dict(damages())


@pytest.mark.parametrize("damage", list(DAMAGES.values()), ids=list(DAMAGES))
def test_a_damaged_entry_is_a_miss_and_goes(damage, tmp_path):
    store = Store(tmp_path)
    store.put("stage", "d", some_entry(1))
    store.put("stage", "e", some_entry(2))
    damage(tmp_path / "stage" / "d")
    assert store.get("stage", "d") is None
    assert not (tmp_path / "stage" / "d").exists()
    assert numbers_of(store.get("stage", "e")) == {2}
    store.put("stage", "d", some_entry(3))
    assert numbers_of(store.get("stage", "d")) == {3}


def test_every_flipped_bit_is_noticed(tmp_path):
    store = Store(tmp_path)
    for name in ("x.npy", "entry.json"):
        store.put("stage", "d", some_entry(1, size=3))
        length = (tmp_path / "stage" / "d" / name).stat().st_size
        for place in random.Random(1).sample(range(length), 40):
            store.put("stage", "d", some_entry(1, size=3))
            path = tmp_path / "stage" / "d" / name
            content = bytearray(path.read_bytes())
            content[place] ^= 4
            path.write_bytes(content)
            found = store.get("stage", "d")
            # A flip may also fall on a blank or a digit of JSON that says the same.
            assert found is None or (numbers_of(found) == {1} and name == "entry.json")


def age(store: Store, stage: str, digest: str, seconds: float) -> None:
    """Make an entry look unused for so long."""
    then = time.time() - seconds
    os.utime(store.path / stage / digest, (then, then))


def test_what_was_not_used_for_longest_is_evicted(tmp_path):
    store = Store(tmp_path, limit_bytes=40_000)
    for number in range(3):
        store.put("stage", f"d{number}", some_entry(number, size=1000))
        age(store, "stage", f"d{number}", 100 - number)
    assert store.get("stage", "d0") is not None  # now the youngest
    for number in range(3, 5):
        store.put("stage", f"d{number}", some_entry(number, size=1000))
    assert sum(stored.bytes for stored in store.entries()) <= 40_000
    kept = {stored.path.name for stored in store.entries()}
    assert "d1" not in kept
    assert {"d0", "d4"} <= kept


def test_what_is_larger_than_all_is_not_kept_and_evicts_nothing(tmp_path):
    store = Store(tmp_path, limit_bytes=20_000)
    store.put("stage", "small", some_entry(1))
    store.put("stage", "large", some_entry(2, size=10_000))
    assert store.get("stage", "large") is None
    assert store.get("stage", "small") is not None


def test_clear_removes_everything_and_leftovers(tmp_path):
    store = Store(tmp_path)
    for number in range(3):
        store.put("stage", f"d{number}", some_entry(number))
    (tmp_path / "stage" / ".d9.partial-00").mkdir()
    assert len(store.clear()) == 3
    assert store.entries() == []
    assert list((tmp_path / "stage").iterdir()) == []
    assert store.clear() == []


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    store = Store(tmp_path)
    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="No space"):
        store.put("stage", "d", some_entry(1))
    assert [path.name for path in (tmp_path / "stage").iterdir()] == []


# A process that has imported everything, so that programs born of it start at once. They say so.
NURSERY = """
import json, os, signal, sys, traceback
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are gone at once
sys.path.insert(0, sys.argv[1])
import test_store
print("ready", flush=True)
for line in sys.stdin:
    work, *arguments = json.loads(line)
    if os.fork() == 0:
        try:
            getattr(test_store, work)(*arguments)
        except BaseException:
            traceback.print_exc()
            print("", flush=True)  # in place of its number, for which a test waits
        finally:
            os._exit(0)
"""


def write_for_ever(path: str, limit: int) -> None:
    """Write and remove the same five entries."""
    store = Store(path, limit_bytes=limit)
    print(os.getpid(), flush=True)
    for turn in itertools.count():
        number = turn % 5
        store.put("stage", f"d{number}", some_entry(number, size=20_000))
        if turn % 7 == 0:
            store._remove(store.path / "stage" / f"d{number}")


def compute_when_told(path: str) -> None:
    """Hold the lock of entry "d", and store it when told to by a signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    store = Store(path)
    with store.computing("stage", "d"):
        print(os.getpid(), flush=True)
        signal.sigwait([signal.SIGUSR1])
        store.put("stage", "d", some_entry(7))


@pytest.fixture(scope="module")
def start():
    """Start a program, one of the functions above, and return its number once it is at work."""
    nursery = subprocess.Popen(
        [sys.executable, "-c", NURSERY, str(Path(__file__).parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
        cwd=ROOT,
    )
    assert nursery.stdout.readline() == "ready\n"

    def start(work: Callable[..., None], *arguments: object) -> int:
        nursery.stdin.write(json.dumps([work.__name__, *arguments], default=str) + "\n")
        return int(nursery.stdout.readline())

    with nursery:
        yield start
        nursery.stdin.close()


def kill(process: int) -> None:
    """Kill a process and wait until it is gone."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
        while True:
            os.kill(process, 0)
            time.sleep(0.001)


@pytest.mark.parametrize("limit", [10**9, 500_000])
def test_two_writers_and_a_reader_never_mix(limit, start, tmp_path):
    # The smaller limit holds three of the five entries: eviction runs all the time.
    writers = [start(write_for_ever, tmp_path, limit) for _ in range(2)]
    store = Store(tmp_path, limit_bytes=limit)
    found = 0
    try:
        deadline = time.monotonic() + 60
        while found < 100 and time.monotonic() < deadline:
            number = random.randrange(5)
            entry = store.get("stage", f"d{number}")
            if entry is not None:
                found += 1
                assert numbers_of(entry) == {number}
    finally:
        for writer in writers:
            kill(writer)
    assert found == 100


@pytest.mark.parametrize("moments", [50, pytest.param(200, marks=pytest.mark.soak)])
def test_killed_writers_leave_whole_entries_or_none(moments, start, tmp_path):
    chance = random.Random(5)
    interrupted = 0
    for _ in range(moments):
        writer = start(write_for_ever, tmp_path, 10**9)
        time.sleep(chance.uniform(0.0, 0.1))
        kill(writer)
        interrupted += any(tmp_path.glob("stage/.*"))
        # What lies at an entry's own place was never half written: nothing is lost by reading.
        before = {path.name for path in tmp_path.glob("stage/d*")}
        for number in range(5):
            entry = Store(tmp_path).get("stage", f"d{number}")
            assert (entry is not None) == (f"d{number}" in before)
            if entry is not None:
                assert numbers_of(entry) == {number}
    assert interrupted > moments / 4  # most of the time is spent writing
    Store(tmp_path).put("stage", "d9", some_entry(9))
    assert [path.name for path in tmp_path.glob("stage/.*")] == []


def test_threads_share_a_store(tmp_path):
    store = Store(tmp_path, limit_bytes=100_000)
    wrong = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(30):
            number = chance.randrange(4)
            store.put("stage", f"d{number}", some_entry(number, size=4000))
            entry = store.get("stage", f"d{number}")
            if entry is not None and numbers_of(entry) != {number}:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.fixture
def computer(start, tmp_path):
    """Another process that computes entry "d"."""
    process = start(compute_when_told, tmp_path)
    yield process
    kill(process)


def test_who_comes_second_waits_and_finds_the_entry(computer, tmp_path):
    store = Store(tmp_path)
    waits = []

    def finish_then_wait() -> None:
        if not waits:
            os.kill(computer, signal.SIGUSR1)
        waits.append(store.get("stage", "d"))

    with store.computing("stage", "d", waiting=finish_then_wait):
        assert waits[0] is None  # it was asked for while the other one computed
        assert numbers_of(store.get("stage", "d")) == {7}


def test_other_entries_do_not_wait(computer, tmp_path):
    def wait() -> None:
        raise AssertionError("nobody computes this one")

    with Store(tmp_path).computing("stage", "e", waiting=wait):
        pass


def test_waiting_can_be_cancelled(computer, tmp_path):
    def cancel() -> None:
        raise Cancelled

    with pytest.raises(Cancelled), Store(tmp_path).computing("stage", "d", waiting=cancel):
        raise AssertionError("the other one still computes")


def test_who_is_killed_holds_nobody_up(computer, tmp_path):
    store = Store(tmp_path)
    with store.computing("stage", "d", waiting=lambda: kill(computer)):
        assert store.get("stage", "d") is None
        store.put("stage", "d", some_entry(8))
    assert numbers_of(store.get("stage", "d")) == {8}


def test_threads_wait_for_each_other_too(tmp_path):
    store = Store(tmp_path)
    computed = []

    def get_or_compute() -> None:
        with store.computing("stage", "d"):
            if store.get("stage", "d") is None:
                computed.append(True)
                store.put("stage", "d", some_entry(1))

    threads = [threading.Thread(target=get_or_compute) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == [True]


def test_no_lock_is_left_behind(computer, tmp_path):
    def locks() -> set[str]:
        return {path.name for path in tmp_path.glob("stage/.*.lock")}

    store = Store(tmp_path)
    with store.computing("stage", "e"):
        assert locks() == {".d.lock", ".e.lock"}
    assert locks() == {".d.lock"}
    store.sweep()
    assert locks() == {".d.lock"}  # it is held
    kill(computer)
    assert store.entries() == []
    store.sweep()
    assert locks() == set()


def test_without_a_place_for_locks_work_goes_on(tmp_path):
    (tmp_path / "file").touch()
    with Store(tmp_path / "file").computing("stage", "d"):
        pass


def test_a_digest_tells_inputs_apart_and_not_their_order():
    assert make_digest({"a": 1, "b": 2}) == make_digest({"b": 2, "a": 1})
    assert make_digest({"a": 1}) != make_digest({"a": 2})
    assert make_digest({"a": "1"}) != make_digest({"a": 1})


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("2GB", 2 * 10**9), ("1.5 mb", 1_500_000), ("10k", 10_000)]
)
def test_sizes_in_words(text, size):
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1", "2 GiB", "1e3"])
def test_sizes_that_are_none(text):
    with pytest.raises(InputError, match="500MB"):
        read_size(text)


def test_the_default_store_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("WATTFOLD_CACHE", str(tmp_path / "here"))
    monkeypatch.setenv("WATTFOLD_CACHE_SIZE", "3MB")
    store = Store.default()
    assert (store.path, store.limit_bytes) == (tmp_path / "here", 3_000_000)
    monkeypatch.delenv("WATTFOLD_CACHE")
    monkeypatch.delenv("WATTFOLD_CACHE_SIZE")
    assert Store.default().path.name == "wattfold"


def test_entries_are_read_where_directories_cannot_be_opened(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.put("stage", "d1", StageResult({"x": np.arange(3)}, {}, {"a": 1}))
    monkeypatch.setattr(os, "supports_dir_fd", set())
    found = store.get("stage", "d1")
    assert found is not None
    assert found.arrays["x"].tolist() == [0, 1, 2]
