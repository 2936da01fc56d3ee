"""How often something may be done."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """So many at once, and so many a second in the long run."""

    burst: int
    per_second: float


class Throttle:
    """Counts what each one does against a rate (a token bucket each).

    Not for several threads at once: the caller holds the lock.
    """

    def __init__(self, rate: Rate, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def seconds_to_wait(self, who: str) -> float:
        """Take one; return 0, or how long to wait before there is one to take."""
        now = self._clock()
        left, last = self._left.get(who, (float(self.rate.burst), now))
        left = min(self.rate.burst, left + (now - last) * self.rate.per_second)
        if left < 1:
            self._left[who] = left, now
            return (1 - left) / self.rate.per_second
        self._left[who] = left - 1, now
        return 0.0

    def forget(self, who: str) -> None:
        """Drop the count of somebody who has gone."""
        self._left.pop(who, None)
