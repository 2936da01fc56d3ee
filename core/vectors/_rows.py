"""Rows of vectors from the counts of a cube, written by all cores."""

from typing import TYPE_CHECKING

import numba
import numpy as np

from core.parallel import run_tasks, slices
from core.progress import Progress

if TYPE_CHECKING:
    from core.vectors.units import Samples

# Samples, of a hundred bins each, that are written at a time: a few hundredths of a second.
_SAMPLES_AT_ONCE = 1 << 16


def write_rows(
    samples: "Samples", x: np.ndarray, *, hellinger: bool, threads: int | None, progress: Progress
) -> None:
    """Write √(p/2) for Hellinger and p otherwise, or the counts themselves.

    Parameters
    ----------
    samples : Samples
    x : ndarray of shape (n, blocks, n_bins)
        Written to; of floating-point numbers, or of unsigned integers for counts. Empty samples
        become zeros.
    hellinger : bool
    threads : int, optional
        All cores by default.
    progress : Progress
    """
    message = "Making vectors"
    if samples.unit == "households":
        counts = samples.pooled_counts()
        if x.dtype.kind == "f":
            shares = counts / np.maximum(samples.block_sizes, 1)
            counts = np.sqrt(shares / 2) if hellinger else shares
        x[:, 0] = counts
        progress(1.0, message)
        return
    # Every sample is a household's window around a slot; a row has one or more of them.
    kept = np.broadcast_to(samples.kept.reshape(len(samples.rows), -1), samples.sizes.shape)
    households, slots = np.nonzero(kept)
    rows, slots, sizes = samples.rows[households], samples.slots[slots], samples.sizes[kept]
    flat = x.reshape(-1, x.shape[-1])
    counts, window = samples.cube.counts, samples.window

    def work(part: slice) -> None:
        if flat.dtype.kind == "f":
            _write_shares(
                counts, rows[part], slots[part], sizes[part], window, hellinger, flat[part]
            )
        else:
            _write_counts(counts, rows[part], slots[part], window, flat[part])

    blocks = slices(len(flat), _SAMPLES_AT_ONCE)
    run_tasks(work, blocks, threads=threads, progress=progress, message=message)


@numba.njit(nogil=True, cache=True)
def _sum_window(counts: np.ndarray, row: int, slot: int, window: int, total: np.ndarray) -> None:
    """Add up the counts of the slots around a slot, cyclically over the week."""
    week = counts.shape[1]
    total[:] = 0
    for offset in range(-window, window + 1):
        beside = (slot + offset) % week
        for b in range(len(total)):
            total[b] += counts[row, beside, b]


@numba.njit(nogil=True, cache=True)
def _write_counts(
    counts: np.ndarray, rows: np.ndarray, slots: np.ndarray, window: int, x: np.ndarray
) -> None:
    total = np.empty(x.shape[1], dtype=np.int64)
    for i in range(len(rows)):
        _sum_window(counts, rows[i], slots[i], window, total)
        for b in range(len(total)):
            x[i, b] = total[b]


@numba.njit(nogil=True, cache=True)
def _write_shares(
    counts: np.ndarray,
    rows: np.ndarray,
    slots: np.ndarray,
    sizes: np.ndarray,
    window: int,
    hellinger: bool,
    x: np.ndarray,
) -> None:
    total = np.empty(x.shape[1], dtype=np.int64)
    for i in range(len(rows)):
        _sum_window(counts, rows[i], slots[i], window, total)
        size = float(max(sizes[i], 1))
        for b in range(len(total)):
            share = total[b] / size
            x[i, b] = np.sqrt(share / 2) if hellinger else share
