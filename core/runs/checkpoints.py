"""The state of a long layout, kept in the store, so that one that is killed goes on.

A checkpoint is an entry of the stage ``layout``: it appears whole or not at all, is checked when it
is read, and may be evicted, which costs the work and nothing else.
"""

import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from core.runs.store import StageResult, Store

STAGE = "layout"
# Work that a kill may cost; a checkpoint of a million points takes a tenth of a second.
EVERY_SECONDS = 15.0


class StoredCheckpoints:
    """Checkpoints of one layout, of which only the newest is kept.

    Parameters
    ----------
    store : Store
    digest : str
        Of the map that is being made.
    """

    def __init__(self, store: Store, digest: str) -> None:
        self._store = store
        self._digest = digest
        self._kept_at = time.monotonic()

    def load(self) -> tuple[int, np.ndarray] | None:
        """Return the number of finished steps and the places after them, if any are kept."""
        for steps in sorted(self._steps(), reverse=True):
            entry = self._store.get(STAGE, self._name(steps))
            if entry is not None:
                return steps, entry.arrays["y"]
        return None

    def offer(self, steps: int, places: Callable[[], np.ndarray]) -> None:
        """Keep the places after so many steps, if the last were kept some time ago."""
        if time.monotonic() - self._kept_at < EVERY_SECONDS:
            return
        older = self._steps()
        with suppress(OSError):  # a full disk costs the checkpoint, not the layout
            self._store.put(STAGE, self._name(steps), StageResult({"y": places()}))
            self._remove(older)
        self._kept_at = time.monotonic()

    def clear(self) -> None:
        """Remove what is kept, once the map is."""
        self._remove(self._steps())

    def _name(self, steps: int) -> str:
        return f"{self._digest}-{steps}"

    def _steps(self) -> list[int]:
        names = self._store.names(STAGE)
        mine = [name for name in names if name.startswith(f"{self._digest}-")]
        return [int(name.rpartition("-")[2]) for name in mine]

    def _remove(self, steps: list[int]) -> None:
        for each in steps:
            self._store.remove(STAGE, self._name(each))
