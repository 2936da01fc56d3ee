import asyncio
import time

from page_client import run_alone

from dashboard.heartbeat import Heartbeat


async def beat(heartbeat: Heartbeat, *, blocked: float) -> None:
    heartbeat.start()
    await asyncio.sleep(0.12)
    time.sleep(blocked)  # it is this that is told
    await asyncio.sleep(0.12)


def test_a_blocked_loop_is_told():
    heartbeat = Heartbeat()
    run_alone(beat(heartbeat, blocked=0.8))
    assert heartbeat.longest_delay > 0.6


def test_the_beat_goes_on_in_another_loop():
    heartbeat = Heartbeat()
    run_alone(beat(heartbeat, blocked=0.0))
    run_alone(beat(heartbeat, blocked=0.8))
    assert heartbeat.longest_delay > 0.6


def test_started_twice_it_beats_once():
    heartbeat = Heartbeat()

    async def start_twice() -> None:
        heartbeat.start()
        heartbeat.start()
        assert len(heartbeat._late) == 2  # what it begins with, and the first beat

    run_alone(start_twice())


def test_a_loop_that_was_never_watched_held_up_nobody():
    assert Heartbeat().longest_delay == 0.0
