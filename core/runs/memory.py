"""What runs on one dataset keep in memory for each other."""

from collections.abc import Callable
from typing import Any


class Memory:
    """The last thing of every kind, under the digest of what it was made from."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, Any]] = {}

    def recall(self, what: str, digest: str, make: Callable[[], Any]) -> Any:
        """Return what was made last under this digest, or make it."""
        known = self._last.get(what)
        if known is None or known[0] != digest:
            self._last.pop(what, None)  # before the next one takes as much memory again
            known = self._last[what] = (digest, make())
        return known[1]
