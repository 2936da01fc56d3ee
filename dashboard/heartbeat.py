"""How long the event loop lets everybody wait."""

import asyncio
from collections import deque

_BEAT_SECONDS = 0.05
_KEPT_SECONDS = 60.0


class Heartbeat:
    """Beats in an event loop and notes how late each beat comes."""

    def __init__(self) -> None:
        self._late: deque[float] = deque([0.0], maxlen=round(_KEPT_SECONDS / _BEAT_SECONDS))
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Beat from now on in the loop that runs, unless it does."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._beat(loop, loop.time())

    def _beat(self, loop: asyncio.AbstractEventLoop, expected: float) -> None:
        now = loop.time()
        self._late.append(now - expected)
        loop.call_at(now + _BEAT_SECONDS, self._beat, loop, now + _BEAT_SECONDS)

    @property
    def longest_delay(self) -> float:
        """By how many seconds a beat of the last minute was late at most."""
        return max(self._late)


heartbeat = Heartbeat()
