"""UMAP's layout in parallel, the same on any number of threads.

The objective and its parameters are umap-learn's: an edge is drawn in a share of the epochs that is
its weight over the largest one, each time pulls both its ends together from either end, and each
end is pushed away from five points drawn at random; gradients are clipped at 4 and the step falls
from 1 to 0. It falls as the square of the share of epochs that is left, umap-learn's as that share
itself: more epochs then have a small step, in which what the random draws have stirred up settles.

umap-learn lets its threads move the same points at once. Here the points are dealt at random into
blocks, and an epoch has rounds like those of a tournament: in a round each block meets one other,
and the edges between the two are one task. No two tasks of a round share a point, so they run side
by side and change nothing for one another. Points drawn at random are seen where they were at the
start of the epoch, and each task has random numbers of its own. So the layout depends on the seed
alone, and goes on from a checkpoint to the same picture.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from core.embedding.method import Checkpoints
from core.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

# A round has half as many tasks as blocks: this feeds eight threads.
BLOCKS = 16
NEGATIVE_SAMPLES = 5
CLIP = np.float32(4.0)

# Gradients are read from a table over the squared distance, whose places are the leading bits of a
# float32: 64 of them from one power of two to the next, linear between them. Within 2e-4.
_MANTISSA = 6
_REST = 23 - _MANTISSA
_LOW, _HIGH = (127 - 24) << _MANTISSA, (127 + 14) << _MANTISSA
_FRACTION = np.float32(1 / (1 << _REST))


@dataclass(frozen=True, eq=False)
class EdgeTasks:
    """The edges of a graph, each once, by the pair of blocks that they join.

    Attributes
    ----------
    head, tail : ndarray of int32
        Places of the ends after dealing.
    share : ndarray of float32
        Share of the epochs in which an edge is drawn.
    bounds : ndarray of shape (BLOCKS² + 1,)
        Edges between blocks a ≤ b are those from ``bounds[a * BLOCKS + b]`` to the next bound.
    place : ndarray of shape (n,)
        The place of each point after dealing.
    """

    head: np.ndarray
    tail: np.ndarray
    share: np.ndarray
    bounds: np.ndarray
    place: np.ndarray


def drawn_edges(graph: "csr_matrix", epochs: int) -> "csr_array":
    """Leave out edges that would not be drawn even once in all epochs, as in umap-learn."""
    from scipy.sparse import csr_array

    kept = csr_array(graph, copy=True)
    kept.data[kept.data < kept.data.max() / epochs] = 0
    kept.eliminate_zeros()
    return kept


def deal_edges(graph: "csr_array", seed: int) -> EdgeTasks:
    """Deal the points of a symmetric graph into blocks, and sort its edges by them."""
    edges = graph.tocoo()
    n, top = graph.shape[0], edges.data.max()
    kept = edges.row < edges.col
    place = np.random.default_rng(seed).permutation(n).astype(np.int32)
    one, other = place[edges.row[kept]], place[edges.col[kept]]
    head, tail = np.minimum(one, other), np.maximum(one, other)
    share = (edges.data[kept] / top).astype(np.float32)
    del edges, kept, one, other
    block = (np.arange(n) * BLOCKS // n).astype(np.int16)
    pair = block[head] * np.int16(BLOCKS) + block[tail]
    # The ends are unique, so that one key sorts them: by pair of blocks, then by place.
    order = np.argsort((pair.astype(np.int64) * n + head) * n + tail)
    bounds = np.searchsorted(pair[order], np.arange(BLOCKS**2 + 1))
    return EdgeTasks(head[order], tail[order], share[order], bounds, place)


def rounds(blocks: int) -> list[list[tuple[int, int]]]:
    """All pairs of an even number of blocks in rounds in which each block occurs once.

    The first round has each block by itself; the others are those of a round-robin tournament.
    """
    found = [[(block, block) for block in range(blocks)]]
    ring = list(range(blocks))
    for _ in range(blocks - 1):
        pairs = zip(ring[: blocks // 2], reversed(ring), strict=False)
        found.append([(min(pair), max(pair)) for pair in pairs])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return found


def gradient_tables(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of attraction and repulsion, as factors of the difference of two points."""
    bits = np.arange(_LOW, _HIGH + 2) << _REST
    squared = bits.astype(np.int32).view(np.float32).astype(np.float64)
    power = squared**b
    attraction = -2 * a * b * power / squared / (a * power + 1)
    repulsion = 2 * b / ((0.001 + squared) * (a * power + 1))
    return attraction.astype(np.float32), repulsion.astype(np.float32)


def optimise(
    start: np.ndarray,
    graph: "csr_array",
    *,
    a: float,
    b: float,
    epochs: int,
    seed: int,
    threads: int,
    progress: Progress,
    checkpoints: Checkpoints | None = None,
    done: int = 0,
) -> np.ndarray:
    """Lay out a graph.

    Parameters
    ----------
    start : ndarray of shape (n, dim)
        First places; they are stretched to a width of ten, as in umap-learn.
    graph : csr_array of shape (n, n)
        Symmetric weights of the edges that are drawn.
    a, b : float
        Of the curve 1 / (1 + a d^2b).
    checkpoints : Checkpoints, optional
        Where to keep places by the number of finished epochs.
    done : int
        Finished epochs, where the start is a checkpoint.

    Returns
    -------
    ndarray of shape (n, dim), float32
    """
    tasks = deal_edges(graph, seed)
    tables = gradient_tables(a, b)
    y = np.empty(start.shape, np.float32)
    y[tasks.place] = start if done else _stretched(start)
    schedule = rounds(BLOCKS)
    with ThreadPoolExecutor(threads) as pool:
        # In the first epoch of umap-learn nothing is drawn yet.
        for epoch in range(max(done, 1), epochs):
            _run_epoch(pool, y, tasks, tables, schedule, epoch, epochs, seed)
            progress((epoch + 1) / epochs, "moving points")
            if checkpoints is not None:
                checkpoints.offer(epoch + 1, lambda: y[tasks.place])
    return y[tasks.place]


def _stretched(start: np.ndarray) -> np.ndarray:
    low, high = start.min(axis=0), start.max(axis=0)
    return 10 * (start - low) / np.maximum(high - low, 1e-12)


def _run_epoch(
    pool: ThreadPoolExecutor,
    y: np.ndarray,
    tasks: EdgeTasks,
    tables: tuple[np.ndarray, np.ndarray],
    schedule: Sequence[Sequence[tuple[int, int]]],
    epoch: int,
    epochs: int,
    seed: int,
) -> None:
    """Draw the edges of one epoch, round by round."""
    before = y.copy()
    step = np.float32((1 - (epoch - 1) / epochs) ** 2)

    def work(pair: tuple[int, int]) -> None:
        at = pair[0] * BLOCKS + pair[1]
        some = slice(tasks.bounds[at], tasks.bounds[at + 1])
        key = (seed * epochs + epoch) * BLOCKS**2 + at
        _draw(
            y,
            before,
            tasks.head[some],
            tasks.tail[some],
            tasks.share[some],
            *tables,
            step,
            np.float32(epoch),
            np.uint64(key % 2**64),
        )

    for pairs in schedule:
        for _ in pool.map(work, pairs):
            pass


@njit
def _table(table, squared):  # type: ignore[no-untyped-def]
    bits = np.float32(squared).view(np.int32)
    at = (bits >> _REST) - _LOW
    if at < 0:
        return table[0]
    if at >= _HIGH - _LOW:
        return table[_HIGH - _LOW]
    between = np.float32(bits & ((1 << _REST) - 1)) * _FRACTION
    return table[at] + between * (table[at + 1] - table[at])


@njit
def _first_random(key):  # type: ignore[no-untyped-def]
    """Splitmix64: keys next to each other begin sequences that have nothing in common."""
    mixed = key * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


@njit
def _squared(x, i, y, j):  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for c in range(x.shape[1]):
        apart = x[i, c] - y[j, c]
        total += apart * apart
    return total


@njit(nogil=True, cache=True)
def _draw(y, before, head, tail, share, attraction, repulsion, step, epoch, key):  # type: ignore[no-untyped-def]
    """Move the ends of those edges that are drawn in this epoch."""
    n, dim = np.uint64(len(y)), y.shape[1]
    half = np.uint64(32)
    random = _first_random(key)
    for edge in range(len(head)):
        if np.int32(epoch * share[edge]) == np.int32((epoch - np.float32(1.0)) * share[edge]):
            continue
        i, j = head[edge], tail[edge]
        for _ in range(2):
            squared = _squared(y, i, y, j)
            if squared > 0:
                factor = _table(attraction, squared)
                for c in range(dim):
                    move = step * min(max(factor * (y[i, c] - y[j, c]), -CLIP), CLIP)
                    y[i, c] += move
                    y[j, c] -= move
            for _ in range(NEGATIVE_SAMPLES):
                random ^= random << np.uint64(13)  # Marsaglia's xorshift64
                random ^= random >> np.uint64(7)
                random ^= random << np.uint64(17)
                other = ((random >> half) * n) >> half
                squared = _squared(y, i, before, other)
                if squared > 0 and other != np.uint64(i):
                    factor = _table(repulsion, squared)
                    for c in range(dim):
                        gradient = factor * (y[i, c] - before[other, c])
                        y[i, c] += step * min(max(gradient, -CLIP), CLIP)
            i, j = j, i
