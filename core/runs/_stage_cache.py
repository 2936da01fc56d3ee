"""The results of a run's stages: fetched from the store, or computed once and kept there."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeVar

from core.runs._stage_entries import EntryFormat
from core.runs._stage_log import STAGES, StageLog
from core.runs.store import StageResult, Store

T = TypeVar("T")

# The name, among the facts of an entry, of how long it took to compute.
_SECONDS = "seconds"


class StageCache:
    """A store that may be missing or full, and the log of the run that uses it."""

    def __init__(self, store: Store | None, log: StageLog) -> None:
        self.store = store
        self._log = log

    def has(self, stage: str, digest: str) -> bool:
        """Whether the store holds a result."""
        return self.store is not None and self.store.has(stage, digest)

    def fetch(self, stage: str, digest: str) -> StageResult | None:
        """Return a stored entry, and log how long it had taken."""
        entry = None if self.store is None else self.store.get(stage, digest)
        if entry is None or _SECONDS not in entry.facts:
            return entry
        facts = dict(entry.facts)
        self._log.earlier[stage] = facts.pop(_SECONDS)
        return replace(entry, facts=facts)

    def get(self, stage: str, digest: str, form: EntryFormat[T]) -> T | None:
        """Return a stored result, or None."""
        entry = self.fetch(stage, digest)
        return None if entry is None else form.unpack(entry)

    def get_or_compute(
        self, stage: str, digest: str, form: EntryFormat[T], compute: Callable[[], T]
    ) -> T:
        """Return what is stored, or compute and keep it; who asks at the same time waits for it."""
        found = self.get(stage, digest, form)
        if found is not None:
            return found
        with self.computing(stage, digest):
            found = self.get(stage, digest, form)
            if found is None:
                found = compute()
                self.keep(stage, digest, form.pack(found))
        return found

    def computing(self, stage: str, digest: str) -> AbstractContextManager[None]:
        """Hold off others who would compute the same."""
        if self.store is None:
            return nullcontext()
        return self.store.computing(stage, digest, waiting=self._log.wait)

    def keep(self, stage: str, digest: str, entry: StageResult) -> None:
        """Store an entry; a disk that does not take it is a notice."""
        if self.store is None:
            return
        if stage in STAGES:
            seconds = self._log.computed_in()[stage]
            entry = replace(entry, facts={**entry.facts, _SECONDS: seconds})
        try:
            self.store.put(stage, digest, entry)
        except OSError as error:
            why = f"{self.store.path}: {error.strerror or error}"
            self._log.note(f"results are not kept for the next time: {why}")
