"""What runs on one dataset share while they are in memory."""

from collections.abc import Callable
from typing import Any


class SharedStages:
    """The last result of every kind, under the digest of what it was made from.

    Parameters
    ----------
    large_indexes : bool
        Whether what a search builds is kept even of large vectors, because others will use it.
    """

    def __init__(self, *, large_indexes: bool = False) -> None:
        self.large_indexes = large_indexes
        self._last: dict[str, tuple[str, Any]] = {}

    def has(self, kind: str, digest: str) -> bool:
        """Whether the last result of a kind has this digest."""
        return kind in self._last and self._last[kind][0] == digest

    def get_or_make(self, kind: str, digest: str, make: Callable[[], Any]) -> Any:
        """Return the result of this digest, making it if it is not the last of its kind."""
        if not self.has(kind, digest):
            self._last.pop(kind, None)  # before the next one takes as much memory again
            self._last[kind] = (digest, make())
        return self._last[kind][1]
