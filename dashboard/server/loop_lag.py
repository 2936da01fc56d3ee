"""How long the event loop lets everybody wait."""

import asyncio
from collections import deque

_INTERVAL_SECONDS = 0.05
_KEPT_SECONDS = 60.0


class LoopLag:
    """Wakes up at regular times in an event loop and notes how late that is."""

    def __init__(self) -> None:
        self._lags: deque[float] = deque([0.0], maxlen=round(_KEPT_SECONDS / _INTERVAL_SECONDS))
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Measure from now on in the loop that runs, unless that is done already."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._measure(loop, loop.time())

    def _measure(self, loop: asyncio.AbstractEventLoop, expected: float) -> None:
        now = loop.time()
        self._lags.append(now - expected)
        loop.call_at(now + _INTERVAL_SECONDS, self._measure, loop, now + _INTERVAL_SECONDS)

    @property
    def longest_seconds(self) -> float:
        """The longest delay of the last minute."""
        return max(self._lags)


loop_lag = LoopLag()
