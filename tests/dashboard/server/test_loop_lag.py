import asyncio
import time

from page_client import run_alone

from dashboard.server.loop_lag import LoopLag


async def measure(lag: LoopLag, *, blocked: float) -> None:
    lag.start()
    await asyncio.sleep(0.2)
    time.sleep(blocked)  # what nobody should do in a loop
    await asyncio.sleep(0.2)


def test_a_blocked_loop_is_noticed():
    lag = LoopLag()
    run_alone(measure(lag, blocked=0.8))
    assert lag.longest_seconds > 0.6


def test_another_loop_is_measured_too():
    lag = LoopLag()
    run_alone(measure(lag, blocked=0.0))
    run_alone(measure(lag, blocked=0.8))
    assert lag.longest_seconds > 0.6


def test_a_loop_that_was_never_measured_has_no_lag():
    assert LoopLag().longest_seconds == 0.0
