"""How often something may be done."""

import time

import pytest

from core.errors import WattfoldError
from dashboard.jobs import Rate, WorkerPool
from dashboard.jobs._rate_limit import Throttle


def test_a_burst_then_the_rate_then_rest():
    now = 0.0
    throttle = Throttle(Rate(burst=3, per_second=0.5), clock=lambda: now)
    assert [throttle.seconds_to_wait("a") for _ in range(4)] == [0, 0, 0, 2]
    now = 1.0
    assert throttle.seconds_to_wait("a") == 1
    now = 2.0
    assert throttle.seconds_to_wait("a") == 0
    assert throttle.seconds_to_wait("a") == 2
    now = 1000.0  # a long rest saves up a burst and no more
    assert [throttle.seconds_to_wait("a") for _ in range(4)] == [0, 0, 0, 2]


def test_one_does_not_use_up_what_another_may_do():
    throttle = Throttle(Rate(burst=1, per_second=1.0), clock=lambda: 0.0)
    assert throttle.seconds_to_wait("a") == 0
    assert throttle.seconds_to_wait("a") > 0
    assert throttle.seconds_to_wait("b") == 0
    throttle.forget("a")
    assert throttle.seconds_to_wait("a") == 0


def test_the_pool_takes_no_more_than_the_rate_and_says_when():
    pool = WorkerPool(1, rate=Rate(burst=2, per_second=0.01))
    try:
        for number in range(2):
            pool.submit("a", number, wait, 60)
        with pytest.raises(WattfoldError, match=r"too many requests .* try again in \d+ s"):
            pool.submit("a", 2, wait, 60)
        pool.submit("b", 2, wait, 60)
    finally:
        pool.close()


def wait(seconds, progress):
    time.sleep(seconds)
