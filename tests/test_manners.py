import asyncio
import gc
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from numba.core.compiler_lock import global_compiler_lock
from page_client import run_alone

from dashboard import manners
from dashboard.manners import (
    everybody_awake,
    give_way,
    give_way_no_longer,
    make_loop,
    people_waiting,
    somebody_waits,
    take_turn,
)


@pytest.fixture
def loop():
    """The loop that others give way to, and nothing left of it afterwards."""
    callbacks, threshold = list(gc.callbacks), gc.get_threshold()
    loop = make_loop()
    yield loop
    gc.callbacks[:] = callbacks
    gc.set_threshold(*threshold)
    loop.close()
    manners._turns = manners._Turns()
    manners._turns.at_work = False


def run_in(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]) -> None:
    """Run the loop in a thread of its own: a browser that is open has a loop in this one."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(loop.run_until_complete, work).result()


def naps_of(work, monkeypatch) -> int:
    """How often a thread that does some work sleeps."""
    naps = []
    monkeypatch.setattr(manners.time, "sleep", lambda _: naps.append(1))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return len(naps)


def polite_work() -> None:
    give_way()
    gc.collect(0)


def test_a_thread_sleeps_while_the_loop_is_at_work(loop, monkeypatch):
    found = []

    async def work() -> None:
        found.append(naps_of(polite_work, monkeypatch))

    run_in(loop, work())
    assert found == [manners._MOST_NAPS]


def test_a_thread_sleeps_less_while_somebody_waits_for_it(loop, monkeypatch):
    found = []

    async def work() -> None:
        with somebody_waits():
            found.append(naps_of(polite_work, monkeypatch))

    run_in(loop, work())
    assert found == [manners._MOST_NAPS_WHILE_SOMEBODY_WAITS]


def test_nobody_sleeps_for_a_loop_that_has_ended(loop, monkeypatch):
    async def work() -> None:
        pass

    run_in(loop, work())
    assert naps_of(polite_work, monkeypatch) == manners._MOST_NAPS
    give_way_no_longer()
    assert naps_of(polite_work, monkeypatch) == 0


def test_who_sleeps_wakes_for_a_collection(loop):
    """It would do nothing, silently, while the collector's callback sleeps in another thread."""
    found = []

    async def work() -> None:
        asleep = threading.Thread(target=sleep_long)
        asleep.start()
        time.sleep(0.05)
        phases = []

        def note(phase: str, what: dict[str, int]) -> None:
            phases.append((phase, what["generation"]))

        gc.callbacks.append(note)
        gc.collect()
        found.append(("start", 2) in phases)
        with everybody_awake():
            gc.collect()
        found.append(("start", 2) in phases)
        asleep.join()

    def sleep_long() -> None:
        give_way()
        for _ in range(20):
            gc.collect(0)

    run_in(loop, work())
    assert found == [False, True]


def test_who_has_what_they_waited_for_waits_no_longer():
    with somebody_waits():
        with pytest.raises(RuntimeError), somebody_waits():
            assert people_waiting() == 2
            raise RuntimeError("it could not be made")
        assert people_waiting() == 1
    assert people_waiting() == 0


def test_a_thread_goes_on_when_the_loop_waits(loop, monkeypatch):
    naps = []

    async def wait() -> None:
        idle = threading.Event()

        def work() -> None:
            give_way()
            while manners._turns.at_work:
                idle.wait(0.001)
            monkeypatch.setattr(manners.time, "sleep", lambda _: naps.append(1))
            gc.collect(0)

        thread = threading.Thread(target=work)
        thread.start()
        await asyncio.sleep(0.5)
        thread.join()

    run_in(loop, wait())
    assert naps == []


def test_a_thread_gets_on_from_one_turn_to_the_next(loop, monkeypatch):
    found = []

    async def work() -> None:
        naps = []

        def nap(_: float) -> None:
            naps.append(1)
            if len(naps) == 3:
                manners._turns.number += 1  # the loop had more to do at once

        monkeypatch.setattr(manners.time, "sleep", nap)
        thread = threading.Thread(target=polite_work)
        thread.start()
        thread.join()
        found.append(len(naps))

    run_in(loop, work())
    assert found == [3]


def test_others_do_not_sleep(loop, monkeypatch):
    found = []

    async def work() -> None:
        found.append(naps_of(lambda: gc.collect(0), monkeypatch))

    run_in(loop, work())
    assert found == [0]


def test_nobody_sleeps_with_the_lock_of_the_compiler(loop, monkeypatch):
    found = []

    def compile_something() -> None:
        with global_compiler_lock:
            polite_work()

    async def work() -> None:
        found.append(naps_of(compile_something, monkeypatch))

    run_in(loop, work())
    assert found == [0]


def test_one_goes_on_in_each_turn_of_the_loop():
    order: list[str] = []

    async def person(name: str) -> None:
        await take_turn()
        order.append(name)

    async def count() -> None:
        while len(order) < 6:
            order.append("|")
            await asyncio.sleep(0)

    async def together() -> None:
        await asyncio.gather(person("a"), person("b"), person("c"), count())

    run_alone(together())
    between = "".join(order).strip("|").split("|")
    assert between == ["a", "b", "c"]


def test_who_gives_up_does_not_hold_up_the_others():
    async def give_up() -> None:
        first = asyncio.ensure_future(take_turn())
        second = asyncio.ensure_future(take_turn())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait_for(second, 10)
        await asyncio.wait_for(take_turn(), 10)

    run_alone(give_up())


def test_turns_of_a_loop_that_ended_do_not_count():
    waiting = []

    async def leave_one_waiting() -> None:
        waiting.append(asyncio.ensure_future(take_turn()))

    run_alone(leave_one_waiting())
    run_alone(asyncio.wait_for(take_turn(), 10))
