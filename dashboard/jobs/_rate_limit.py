"""A rate limit per session."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """How many at once, and how many per second in the long run."""

    burst: int
    per_second: float


class Throttle:
    """A token bucket for each name. Not safe for threads: the caller holds the lock."""

    def __init__(self, rate: Rate, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def seconds_to_wait(self, who: str) -> float:
        """Take a token and return 0, or return how long to wait for one."""
        now = self._clock()
        left, last = self._left.get(who, (float(self.rate.burst), now))
        left = min(self.rate.burst, left + (now - last) * self.rate.per_second)
        if left < 1:
            self._left[who] = left, now
            return (1 - left) / self.rate.per_second
        self._left[who] = left - 1, now
        return 0.0

    def forget(self, who: str) -> None:
        """Drop the bucket of a session that has ended."""
        self._left.pop(who, None)
