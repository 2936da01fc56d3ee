"""Results beside the stages of a run, kept in the store under a digest of what they depend on."""

from collections.abc import Callable
from contextlib import suppress

from core.progress import Progress, silent
from core.runs.store import StageResult, Store


def get_or_compute(
    store: Store,
    stage: str,
    digest: str,
    compute: Callable[[], StageResult],
    *,
    progress: Progress = silent,
) -> StageResult:
    """Return what is stored, or compute and store it; who asks at the same time waits for it.

    A disk that does not take the result costs the next one the same work, and nothing else.
    """
    found = store.get(stage, digest)
    if found is not None:
        return found
    with store.computing(stage, digest, waiting=lambda: progress(0.0, "Computed by another job")):
        found = store.get(stage, digest)
        if found is None:
            found = compute()
            with suppress(OSError):
                store.put(stage, digest, found)
    return found
