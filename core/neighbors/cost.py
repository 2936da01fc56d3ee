"""What a neighbour search will cost: operations that a backend counts × rates of this machine.

The rates are measured once in a second or so and kept in the user's cache directory
(``WATTFOLD_CACHE`` names another), so that predictions are instant afterwards.
"""

import json
import math
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from core.atomic import make_folder, write_json

# Raise it when a kernel's speed changes: kept rates of another version are measured anew.
_VERSION = 3

# Rows that take less are mostly found in a cache.
_CACHED_BYTES = 16e6


@dataclass(frozen=True)
class SearchSize:
    """The size of a neighbour search.

    Attributes
    ----------
    n, p, k : int
        Points, columns and neighbours.
    norm : {0, 1, 2}
        As in ``Vectors``.
    itemsize : int
        Bytes of one entry of X: 4 for float32, 1 or 2 for counts.
    threads : int
        Threads that work on it.
    """

    n: int
    p: int
    k: int
    norm: int
    itemsize: int = 4
    threads: int = 1


@dataclass(frozen=True)
class Cost:
    """A prediction; memory is what the search adds to the vectors themselves."""

    seconds: float
    memory_mb: float


@dataclass(frozen=True)
class Machine:
    """Seconds per elementary operation on one core.

    Attributes
    ----------
    l1_float, l1_counts : float
        One absolute difference of the tiled kernel, of float32 and of uint8.
    difference_pair : float
        What a pair of rows costs that kernel besides its columns.
    l2_product, product_pair : float
        One multiply-add of the matrix product, and what a pair of rows costs besides.
    offer : float
        Looking at one value of a tile; ``insert`` is putting one into a list.
    js : float
        One term of the Jensen–Shannon kernel.
    far_row : float
        Fetching a row of 100 columns from anywhere in memory and comparing it, as a graph or a
        forest does.
    python_float : float
        Handing one number to a library as a Python object.
    """

    l1_float: float
    l1_counts: float
    difference_pair: float
    l2_product: float
    product_pair: float
    offer: float
    insert: float
    js: float
    far_row: float
    python_float: float

    def fetch(self, n: int, p: int) -> float:
        """Fetching any of n rows of p columns, apart from the columns themselves.

        About a third of ``far_row`` where caches hold all rows.
        """
        return self.far_row if 4 * n * p > _CACHED_BYTES else self.far_row / 3


def rates_path() -> Path:
    """Where the rates of this machine are kept."""
    import platformdirs

    folder = os.environ.get("WATTFOLD_CACHE") or platformdirs.user_cache_dir("wattfold")
    return Path(folder) / f"machine-{platform.node() or 'here'}.json"


def machine() -> Machine:
    """Rates of this machine: the kept ones, or measured now and kept."""
    rates = kept_machine()
    if rates is None:
        rates, path = measure(), rates_path()
        with suppress(OSError):  # measured again the next time
            make_folder(path.parent)
            write_json(path, {"version": _VERSION, **asdict(rates)})
    return rates


def kept_machine() -> Machine | None:
    """Rates of this machine if they were measured before.

    A file that cannot be read, or of another version, is as good as none.
    """
    try:
        kept = json.loads(rates_path().read_text(encoding="utf-8"))
        if kept.pop("version") == _VERSION:
            return Machine(**{field.name: float(kept[field.name]) for field in fields(Machine)})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return None


def _seconds(work: Callable[[], object]) -> float:
    """Least CPU time of a few runs; the first, which compiles, does not count.

    CPU time of this thread, so that whatever else the machine does is not measured.
    """
    work()
    times = []
    for _ in range(3):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return max(min(times), 1e-9)


def measure() -> Machine:
    """Measure the rates with small pieces of the real work."""
    from threadpoolctl import threadpool_limits

    from core.neighbors._tiles import difference_tiles, divergence_tiles, product_tiles
    from core.neighbors._topk import empty_lists, offer_tile
    from core.neighbors.kernels import TILE, candidate_sums, prepare
    from core.vectors import Vectors

    rng = np.random.default_rng(0)
    a, b = slice(0, TILE), slice(TILE, 2 * TILE)

    width = 8192
    long = rng.random((2 * TILE, width), dtype=np.float32)
    floats = difference_tiles(prepare(Vectors.from_array(long, distance="tv")))
    counts = difference_tiles(
        prepare(Vectors.from_array((long * 255).astype(np.uint8), distance="tv"))
    )
    l1_float = _seconds(lambda: floats.fill(a, b)) / (TILE**2 * width)
    l1_counts = _seconds(lambda: counts.fill(a, b)) / (TILE**2 * width)
    narrow = 8
    short = difference_tiles(prepare(Vectors.from_array(long[:, :narrow], distance="tv")))
    pair = _seconds(lambda: short.fill(a, b)) / TILE**2

    side, columns = 5 * TILE, 100
    x = rng.random((2 * side, columns), dtype=np.float32)
    left, right = slice(0, side), slice(side, 2 * side)

    def product_pair_seconds(width: int) -> float:
        tiles = product_tiles(prepare(Vectors.from_array(x[:, :width], distance="hellinger")))
        # Two at a time: a new tile is made while the last is still held.
        return _seconds(lambda: [tiles.fill(left, right) for _ in range(2)]) / (2 * side**2)

    with threadpool_limits(1, user_api="blas"):
        wide, thin = product_pair_seconds(columns), product_pair_seconds(narrow)
    product = max(wide - thin, 0.0) / (columns - narrow)

    first, second = rng.random((2, side, side), dtype=np.float32)
    sums, indices = empty_lists(2 * side, 28, np.float32)
    limits = sums[:, -1].copy()
    offer_tile(first, 0, side, sums, indices, limits)

    def offer(limits: np.ndarray) -> None:
        offer_tile(second, 0, side, sums.copy(), indices.copy(), limits.copy())

    scanning = _seconds(lambda: offer(np.full_like(limits, -1.0)))
    # The first tile has filled the lists. Of the second few values enter, each from a strip that
    # is searched for it: each of 2·side lists sees `side` more, and about 28·ln 2 are near enough.
    inserting = _seconds(lambda: offer(limits))
    inserts = 2 * side * 28 * math.log(2)

    probabilities = x[:64] / x[:64].sum(axis=1, keepdims=True)
    divergences = divergence_tiles(probabilities)
    js = _seconds(lambda: divergences.fill(slice(0, 32), slice(32, 64))) / (32**2 * columns)

    far = rng.random((100_000, columns), dtype=np.float32)
    rows = prepare(Vectors.from_array(far, distance="hellinger"))
    candidates = rng.integers(0, len(far), (1000, 20)).astype(np.int32)
    out, some = np.empty(candidates.shape), np.arange(1000)
    far_row = (
        _seconds(
            lambda: candidate_sums(
                rows.x, rows.bounds, rows.weights, rows.norm, some, candidates, out
            )
        )
        / candidates.size
    )
    python_float = _seconds(lambda: [float(v) for v in long[0].tolist()]) / width
    return Machine(
        l1_float=l1_float,
        l1_counts=l1_counts,
        difference_pair=max(pair - narrow * l1_float, 0.0),
        l2_product=product,
        product_pair=max(thin - narrow * product, 0.0),
        offer=scanning / side**2,
        insert=max(inserting - scanning, 0.0) / inserts,
        js=js,
        far_row=far_row,
        python_float=python_float,
    )
