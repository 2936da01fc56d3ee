"""Blocks of rows worked on by threads, with progress and cancel between blocks.

The work must release the interpreter lock (numpy, or numba with ``nogil=True``). Unlike numba's
own parallel loops, such threads may run beside others of the same process.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numba

from core.progress import Progress, silent


def split_rows(n: int, size: int) -> list[slice]:
    """Cut ``n`` rows into slices of at most ``size`` rows (at least one)."""
    size = max(1, size)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def run_blocks(
    work: Callable[[slice], None],
    blocks: Sequence[slice],
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> None:
    """Call ``work`` with every block, in threads; each writes its own rows of a shared result.

    Parameters
    ----------
    threads : int, optional
        How many; by default as many as numba would use.
    progress : Progress
        Told the share of blocks that are done. When it raises, blocks that have not begun are
        dropped.
    """
    with ThreadPoolExecutor(threads or numba.get_num_threads()) as pool:
        futures = [pool.submit(work, block) for block in blocks]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(done / len(futures))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
