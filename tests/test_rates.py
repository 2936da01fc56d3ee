"""How often something may be done."""

from dashboard.rates import Rate, Throttle


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
