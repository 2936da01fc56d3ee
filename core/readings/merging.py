"""Sorted readings of a dataset and sorted new ones -> sorted readings, the new ones preferred."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.readings.cleaning import Readings
from core.readings.dataset import Dataset
from core.readings.placing import join

_NOTHING = Readings(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0))


@dataclass
class MergeCounts:
    """What became of the new readings.

    ``added`` stand where there was none, ``corrected`` replace another value; the others were there
    already.
    """

    added: int = 0
    corrected: int = 0


def stored_readings(dataset: Dataset, codes: np.ndarray) -> Iterator[Readings]:
    """Yield the readings of a dataset in chunks of whole households, under new codes.

    Parameters
    ----------
    codes : ndarray of int32
        The new code of every household of the dataset, rising.
    """
    file = dataset.readings_file
    waiting = _NOTHING
    for group in range(file.metadata.num_row_groups):
        table = file.read_row_group(group, use_threads=False)
        household = codes[table["household"].to_numpy()]
        time = table["time"].to_numpy().astype("datetime64[s]").astype(np.int64)
        chunk = join([waiting, Readings(household, time, table["kwh"].to_numpy())])
        # The last household may go on in the next group.
        end = int(np.searchsorted(chunk.household, chunk.household[-1]))
        if end:
            yield chunk.take(slice(0, end))
        waiting = chunk.take(slice(end, None))
    yield waiting


def merge(
    stored: Iterator[Readings], new: Iterator[Readings], counts: MergeCounts
) -> Iterator[Readings]:
    """Yield stored and new readings together, in chunks of whole households, and count."""
    ahead = next(new, _NOTHING)
    for chunk in stored:
        last = chunk.household[-1]
        parts = []
        while len(ahead):
            end = int(np.searchsorted(ahead.household, last, "right"))
            parts.append(ahead.take(slice(0, end)))
            if end < len(ahead):
                ahead = ahead.take(slice(end, None))
                break
            ahead = next(new, _NOTHING)
        yield _merge_chunk(chunk, join([_NOTHING, *parts]), counts)
    while len(ahead):
        counts.added += len(ahead)
        yield ahead
        ahead = next(new, _NOTHING)


def _merge_chunk(stored: Readings, new: Readings, counts: MergeCounts) -> Readings:
    """Merge readings of the same households."""
    if not len(new):
        return stored
    both = join([stored, new])
    is_new = np.arange(len(both)) >= len(stored)
    order = np.lexsort((is_new, both.time, both.household))
    both, is_new = both.take(order), is_new[order]
    # Readings of one household and time are a group: one, or two in the repeated hour of autumn.
    starts = np.flatnonzero(
        np.concatenate(
            [[True], (np.diff(both.time) != 0) | (np.diff(both.household) != 0)],
        )
    )
    sizes = np.diff(np.append(starts, len(both)))
    n_new = np.add.reduceat(is_new.astype(np.int64), starts)
    met = (n_new > 0) & (n_new < sizes)
    counts.added += int(n_new[~met].sum())
    drop = np.zeros(len(both), bool)
    pairs = starts[met & (sizes == 2)]
    same = both.kwh[pairs] == both.kwh[pairs + 1]
    drop[pairs[~same]] = True
    drop[pairs[same] + 1] = True
    counts.corrected += int((~same).sum())
    for start, size in zip(starts[met & (sizes > 2)], sizes[met & (sizes > 2)], strict=True):
        rows = np.arange(start, start + size)
        old, fresh = rows[~is_new[rows]], rows[is_new[rows]]
        # One reading of an hour that exists twice does not replace both.
        known = not set(both.kwh[fresh].tolist()) - set(both.kwh[old].tolist())
        if known and len(fresh) <= len(old):
            drop[fresh] = True
        else:
            drop[old] = True
            counts.corrected += min(len(old), len(fresh))
            counts.added += max(len(fresh) - len(old), 0)
    return both.take(~drop)
