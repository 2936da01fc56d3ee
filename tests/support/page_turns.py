"""In place of the page of a session: keeps scheduled callbacks until a test runs them."""

import queue
import time
from collections.abc import Callable


class PageTurns:
    """Pass it as the schedule of a `SessionPool`."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def __call__(self, callback: Callable[[], None]) -> None:
        self._waiting.put(callback)

    def run(self) -> int:
        """Run what is scheduled, and what that schedules; return how many callbacks that was."""
        for count in range(100_000):
            try:
                callback = self._waiting.get_nowait()
            except queue.Empty:
                return count
            callback()
        raise AssertionError("callbacks go on without end")

    def run_until(self, condition: Callable[[], object], seconds: float = 300) -> None:
        """Run what is scheduled until a condition holds."""
        end = time.monotonic() + seconds
        while True:
            self.run()
            if condition():
                return
            assert time.monotonic() < end, "it does not come about"
            time.sleep(0.005)
