"""Neighbours by shards of rows: every two shards are searched apart, and their lists merged.

The exact search of two shards compares rows of one with rows of the other; that of a shard with
itself its own rows. Every pair of rows is so compared once, by sums that depend on the two rows
alone, and the best of several lists do not depend on the order in which the lists come: the
answer is that of one machine to the last bit. Wide rows are compared by bytes first, and each row's
best candidates of all shards then in float64, in a second round of tasks.

An approximate backend searches the union of two shards. It looks at every shard once for each
other one, so that more shards find more true neighbours and cost more in all: they are for what
one machine's memory cannot hold.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, pairwise
from math import ceil, sqrt
from threading import Lock
from typing import Any

import numpy as np

from core.engine import Engine, Job, SharedArray
from core.fields import Distance
from core.neighbors import BACKENDS, choose_backend, find_neighbors, quantised
from core.neighbors._tiles import divergence_tiles, make_tiles
from core.neighbors.all_pairs import list_length, nearest_by_tiles, nearest_rows
from core.neighbors.backend import Neighbors
from core.neighbors.kernels import Rows, candidate_sums, prepare, refine_float64
from core.parallel import available_cores, iter_results
from core.progress import Progress, part, silent
from core.registry import Value
from core.vectors import Vectors

# Tasks for each worker: enough that none waits long for the last one.
_TASKS_PER_WORKER = 4

# Rows from … to of two shards.
_Two = tuple[tuple[int, int], tuple[int, int]]

# Some backends run numba's own threads, of which two at once end the process.
_ONE_SEARCH = Lock()


@dataclass(frozen=True, eq=False)
class ShardNeighbors:
    """The nearest rows of some rows, by (measure, index).

    Attributes
    ----------
    rows : ndarray of int64, shape (m,)
        The rows that the lists belong to.
    indices : ndarray of int32, shape (m, length)
        −1 where there are no more.
    measures : ndarray of float64, shape (m, length)
        What the lists are ordered by, infinite where there are no more: sums before root and
        scale where the search is exact, else distances.
    """

    rows: np.ndarray
    indices: np.ndarray
    measures: np.ndarray


@dataclass(frozen=True, eq=False)
class ShardPair:
    """Two shards to search: rows ``a`` and rows ``b``, from … to, the same for a shard itself.

    ``bounds`` and ``weights`` are those of :class:`core.neighbors.kernels.Rows` where the search
    is exact; ``blocks`` and ``block_weights`` those of the vectors.
    """

    x: SharedArray
    a: tuple[int, int]
    b: tuple[int, int]
    k: int
    distance: Distance
    backend: str
    settings: dict[str, Any]
    seed: int
    blocks: int
    block_weights: np.ndarray | None
    norm: int
    bounds: np.ndarray | None = None
    weights: np.ndarray | None = None

    def __str__(self) -> str:
        return f"comparing rows {self.a[0]:,}–{self.a[1]:,} with {self.b[0]:,}–{self.b[1]:,}"

    @property
    def rows(self) -> np.ndarray:
        """The rows' numbers, increasing."""
        own = np.arange(*self.a)
        return own if self.a == self.b else np.concatenate([own, np.arange(*self.b)])

    def read(self) -> np.ndarray:
        """Return the two shards' rows, one after the other."""
        x = self.x.read()
        a, b = x[slice(*self.a)], x[slice(*self.b)]
        return a if self.a == self.b else np.concatenate([a, b])

    def kernel_rows(self) -> Rows:
        """Return them ready for the kernels of a norm."""
        assert self.bounds is not None and self.weights is not None  # noqa: S101 (norms have them)
        return Rows(self.read(), self.bounds, self.weights, self.norm)

    @property
    def boundary(self) -> int | None:
        """Where the second shard begins among ``rows``."""
        return None if self.a == self.b else self.a[1] - self.a[0]


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows ``start`` … ``stop`` − 1, whose nearest by bytes are known.

    ``values`` and ``bytes_`` have all rows; the arrays are those of
    :func:`core.neighbors.quantised.refine_lists`.
    """

    values: ShardPair
    bytes_: ShardPair
    start: int
    stop: int
    rounding: float
    candidates: SharedArray
    sums: SharedArray
    residuals: SharedArray

    def __str__(self) -> str:
        return f"refining the neighbours of rows {self.start:,}–{self.stop:,}"


def find_neighbors_by_shard(
    vectors: Vectors,
    *,
    k: int = 20,
    backend: str = "auto",
    engine: Engine,
    shards: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Neighbors:
    """Find neighbours as :func:`core.neighbors.find_neighbors` does, on an engine.

    Parameters
    ----------
    engine : Engine
        Where shards are searched; with one worker and no ``shards`` given, here.
    shards : int, optional
        How many to cut the rows into; by default as many as keep all workers busy.
    """
    n = len(vectors.x)
    shards = min(shards, n // 2) if shards else suitable_shards(engine, n)
    if backend == "auto" and n > 1:
        backend = choose_backend(vectors, k=min(k, n - 1), threads=threads)
    values = BACKENDS.settings(backend, settings)
    searchable = vectors.distance in BACKENDS[backend].distances
    if shards < 2 or not 0 < k < n or not searchable:
        # Nothing to share out, or something to refuse.
        return find_neighbors(
            vectors, k=k, backend=backend, seed=seed, threads=threads, progress=progress, **settings
        )
    exact = backend == "exact"
    rows = prepare(vectors) if exact and vectors.is_normed else None
    x = vectors.x if rows is None else rows.x
    edges = np.linspace(0, n, shards + 1).astype(int).tolist()
    two = combinations_with_replacement if exact else combinations
    pairs = list(two(list(pairwise(edges)), 2))
    with engine.job(f"neighbors-{_digest(vectors, k, backend, values, seed, shards)}") as job:
        shared = job.share({"x": x})["x"]
        search = ShardPair(
            x=shared,
            a=(0, n),
            b=(0, n),
            k=k,
            distance=vectors.distance,
            backend=backend,
            settings=values,
            seed=seed,
            blocks=vectors.blocks,
            block_weights=vectors.block_weights,
            norm=vectors.norm,
            bounds=None if rows is None else rows.bounds,
            weights=None if rows is None else rows.weights,
        )
        if rows is not None and quantised.pays(rows):
            indices, measures = _search_by_bytes(
                rows, search, pairs, job, threads=threads, progress=progress
            )
        else:
            indices, measures = _search_pairs(search, pairs, n, job, progress)
    found = vectors.to_distances(measures) if exact else measures
    notices = () if exact else (f"neighbours were searched in pairs of {shards} shards",)
    return Neighbors(indices, found, backend, values, notices)


def _search_pairs(
    search: ShardPair, pairs: Sequence[_Two], n: int, job: Job, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Search all pairs of shards, and merge the lists of n rows."""
    indices = np.full((n, search.k), -1, np.int32)
    measures = np.full((n, search.k), np.inf)
    tasks = [replace(search, a=a, b=b) for a, b in pairs]
    for lists in iter_results(job.map, search_pair, tasks, progress, "searching shards"):
        _merge(lists, indices, measures, disjoint=search.backend == "exact")
    return indices, measures


def _search_by_bytes(
    rows: Rows,
    search: ShardPair,
    pairs: Sequence[_Two],
    job: Job,
    *,
    threads: int | None,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray]:
    """Find each row's nearest by bytes in all pairs of shards, then refine them row by row."""
    n, k = len(rows.x), search.k
    bytes_ = quantised.quantise(rows, threads=threads or available_cores())
    by_bytes = replace(
        search,
        x=job.share({"bytes": bytes_.rows.x})["bytes"],
        k=min(n - 1, quantised.list_length(k)),
        bounds=bytes_.rows.bounds,
        weights=bytes_.rows.weights,
    )
    candidates, sums = _search_pairs(by_bytes, pairs, n, job, part(progress, 0.0, 0.7))
    lists = job.share({"candidates": candidates, "sums": sums, "residuals": bytes_.residuals})
    edges = np.linspace(0, n, min(n, len(pairs)) + 1).astype(int).tolist()
    tasks = [
        ListedRows(search, by_bytes, start, stop, bytes_.rounding, **lists)
        for start, stop in pairwise(edges)
    ]
    indices, sums = np.empty((n, k), np.int32), np.empty((n, k))
    report = part(progress, 0.7, 1.0)
    for found in iter_results(job.map, refine_listed, tasks, report, "refining the nearest"):
        indices[found.rows], sums[found.rows] = found.indices, found.measures
    return indices, sums


def refine_listed(task: ListedRows) -> ShardNeighbors:
    """Choose the nearest of some rows from their nearest by bytes."""
    some = slice(task.start, task.stop)
    residuals = task.residuals.read()
    indices, sums = quantised.refine_lists(
        task.values.kernel_rows(),
        quantised.QuantisedRows(task.bytes_.kernel_rows(), residuals, task.rounding),
        task.candidates.read()[some],
        task.sums.read()[some],
        task.values.k,
        first=task.start,
    )
    return ShardNeighbors(np.arange(task.start, task.stop), indices, sums)


def search_pair(pair: ShardPair) -> ShardNeighbors:
    """Search two shards; a task keeps to one thread, the engine does several at once."""
    rows = pair.rows
    if pair.backend != "exact":
        union = Vectors.from_array(
            pair.read(),
            distance=pair.distance,
            blocks=pair.blocks,
            block_weights=pair.block_weights,
        )
        with _ONE_SEARCH:
            found = find_neighbors(
                union, k=pair.k, backend=pair.backend, seed=pair.seed, threads=1, **pair.settings
            )
        return ShardNeighbors(rows, rows[found.indices].astype(np.int32), found.distances)
    if pair.norm == 0:
        # Divergences are final as they come.
        tiles = divergence_tiles(np.ascontiguousarray(pair.read(), dtype=np.float32))
        length = min(pair.k, len(rows) - 1)
        indices, sums = nearest_by_tiles(
            tiles, len(rows), length, threads=1, progress=silent, boundary=pair.boundary
        )
    else:
        part_rows = pair.kernel_rows()
        if pair.boundary is None:
            k = min(pair.k, len(rows) - 1)
            indices, sums = nearest_rows(part_rows, k, threads=1, progress=silent)
        else:
            indices, sums = nearest_across(part_rows, pair.boundary, pair.k)
    return ShardNeighbors(rows, np.where(indices < 0, -1, rows[indices]).astype(np.int32), sums)


def nearest_across(rows: Rows, boundary: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and float64 sums of the k rows nearest to each row on the other side of a boundary.

    The proof is that of :func:`core.neighbors.all_pairs.nearest_rows`: what a list left out is at
    least its last sum less the bound on the error.
    """
    n = len(rows.x)
    tiles = make_tiles(rows)
    if tiles.are_final:
        return nearest_by_tiles(tiles, n, k, threads=1, progress=silent, boundary=boundary)
    candidates, sums = nearest_by_tiles(
        tiles, n, list_length(k), threads=1, progress=silent, boundary=boundary
    )
    last = sums[:, -1]
    full = np.flatnonzero(candidates[:, -1] >= 0)
    at_least = last[full] - (tiles.relative * np.abs(last[full]) + tiles.absolute)
    indices, sums = refine_float64(rows, candidates, k)
    for row in full[sums[full, -1] >= at_least]:
        others = np.arange(boundary, n) if row < boundary else np.arange(boundary)
        exact = np.empty((1, len(others)))
        some = np.array([row])
        candidate_sums(
            rows.x, rows.bounds, rows.weights, rows.norm, some, others[None].astype(np.int32), exact
        )
        order = np.lexsort((others, exact[0]))[:k]
        indices[row], sums[row] = others[order], exact[0, order]
    indices[np.isinf(sums)] = -1
    return indices, sums


def _merge(
    lists: ShardNeighbors, indices: np.ndarray, measures: np.ndarray, *, disjoint: bool
) -> None:
    """Take the best of the known lists and new ones into the known.

    ShardNeighbors are disjoint where no two searches compare the same rows.
    """
    k = indices.shape[1]
    both = np.concatenate([indices[lists.rows], lists.indices], axis=1)
    values = np.concatenate([measures[lists.rows], lists.measures], axis=1)
    if not disjoint:
        order = np.lexsort((values, both))
        both, values = np.take_along_axis(both, order, 1), np.take_along_axis(values, order, 1)
        values[:, 1:][both[:, 1:] == both[:, :-1]] = np.inf
        both[np.isinf(values)] = -1
    order = np.lexsort((both, values))[:, :k]
    indices[lists.rows] = np.take_along_axis(both, order, 1)
    measures[lists.rows] = np.take_along_axis(values, order, 1)


def suitable_shards(engine: Engine, n: int) -> int:
    """How many shards of n rows give every worker of an engine several pairs of them."""
    if engine.in_process:
        return 1
    return min(ceil(sqrt(2 * _TASKS_PER_WORKER * engine.workers)), n // 2)


def _digest(
    vectors: Vectors, k: int, backend: str, settings: dict[str, Value], seed: int, shards: int
) -> str:
    asked = [vectors.distance, vectors.blocks, k, backend, sorted(settings.items()), seed, shards]
    content = hashlib.sha256(repr(asked).encode())
    for array in (vectors.x, vectors.block_weights):
        if array is not None:
            content.update(f"{array.dtype}{array.shape}".encode())
            content.update(np.ascontiguousarray(array).data)
    return content.hexdigest()[:32]
