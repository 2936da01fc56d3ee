"""Neighbour search beside its peers, on the same vectors in the same run.

    python benchmarks/neighbors.py [--dataset DIR] [--threads 2] [--repeats 3] [--only NAME ...]

Vectors come from the demo at the size of the Irish trial. Contenders take turns, several times
over, and the least time counts; a slow peer answers some of the queries only and its time is
scaled to all of them, which the table says ("from 40"). Times of ours take in everything from
vectors to ordered neighbours. What a library compiles on first use is compiled before, on a few
rows. Prints the tables and writes them to benchmarks/results/neighbors.md.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "neighbors.md"
K = 20


@dataclass
class Contender:
    """Somebody who finds the neighbours of ``queries`` of n rows."""

    name: str
    run: Callable[[], Any]
    queries: int | None = None
    setup: Callable[[], Any] | None = None
    score: Callable[[], float] | None = None
    recall: float | None = None


def seconds(work: Callable[[], Any]) -> np.ndarray:
    """Wall time and processor time of one call."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter() - start, time.process_time() - busy])


def compete(title: str, n: int, contenders: list[Contender], repeats: int) -> list[str]:
    """Time the contenders in turn; return the lines of a table, ratios to the first of them.

    Building an index counts in full, queries are scaled from those asked to all n.
    """
    best = np.full((len(contenders), 2), np.inf)
    for turn in range(repeats):
        for place, contender in enumerate(contenders):
            if turn > 0 and contender.queries is not None:
                continue  # slow peers run once
            build = seconds(contender.setup) if contender.setup else np.zeros(2)
            ask = seconds(contender.run) * (n / contender.queries if contender.queries else 1)
            best[place] = np.minimum(best[place], build + ask)
            print(f"  {contender.name}: {(build + ask)[0]:.3f} s", flush=True)
    lines = [
        f"## {title}",
        "",
        "| | seconds | × the first | processor seconds | × the first | recall |",
        "|---|---|---|---|---|---|",
    ]
    for contender, (least, busy) in zip(contenders, best, strict=True):
        scaled = f" (from {contender.queries})" if contender.queries else ""
        share = "" if contender.recall is None else f"{contender.recall:.3f}"
        lines.append(
            f"| {contender.name} | {least:.4g}{scaled} | {least / best[0, 0]:.2f} | {busy:.4g} | "
            f"{busy / best[0, 1]:.2f} | {share} |"
        )
    print("\n".join(lines), flush=True)
    return [*lines, ""]


def ours(label: str, vectors: Any, backend: str, threads: int, **settings: Any) -> Contender:
    """One of our backends; it warms up on a few rows, and its recall is taken on a sample."""
    from core.neighbors import find_neighbors
    from core.quality.recall import recall

    def search(some: Any) -> Any:
        return find_neighbors(some, k=K, backend=backend, threads=threads, **settings)

    def score() -> float:
        return recall(search(vectors), vectors, sample=400, threads=threads).value

    search(replace(vectors, x=vectors.x[:100]))
    return Contender(f"Wattfold {label}", lambda: search(vectors), score=score)


def faiss_flat(x: np.ndarray, metric: str, queries: int | None, threads: int) -> Contender:
    """IndexFlat of faiss."""
    import faiss

    faiss.omp_set_num_threads(threads)
    kind = faiss.METRIC_L1 if metric == "L1" else faiss.METRIC_L2
    index = faiss.IndexFlat(x.shape[1], kind)
    index.add(np.ascontiguousarray(x))
    return Contender(f"faiss IndexFlat {metric}", lambda: index.search(x[:queries], K + 1), queries)


def sklearn_brute(x: np.ndarray, metric: str, queries: int | None, threads: int) -> Contender:
    """scikit-learn, algorithm='brute'."""
    from sklearn.neighbors import NearestNeighbors

    def ask() -> None:
        search = NearestNeighbors(n_neighbors=K, algorithm="brute", metric=metric, n_jobs=threads)
        search.fit(x)
        search.kneighbors(None if queries is None else x[:queries])

    return Contender(f"scikit-learn brute {metric}", ask, queries)


def scipy_tree(
    x: np.ndarray, p: int, epsilon: float, queries: int | None, threads: int
) -> Contender:
    """The k-d tree of scipy."""
    from scipy.spatial import cKDTree

    tree: list[Any] = []

    def build() -> None:
        tree[:] = [cKDTree(x)]

    def ask() -> None:
        tree[0].query(x[:queries], K + 1, p=p, eps=epsilon, workers=threads)

    return Contender(f"scipy cKDTree ε={epsilon:g}", ask, queries, setup=build)


def annoy_forest(x: np.ndarray, metric: str, queries: int, threads: int) -> Contender:
    """Annoy itself, 50 trees and search_k 50."""
    from annoy import AnnoyIndex

    kept: list[Any] = []

    def build() -> None:
        index = AnnoyIndex(x.shape[1], metric)  # type: ignore[arg-type]
        for i, row in enumerate(x):
            index.add_item(i, row)
        index.build(50, n_jobs=threads)
        kept[:] = [index]

    def ask() -> None:
        for i in range(queries):
            kept[0].get_nns_by_item(i, K + 1, 50)

    return Contender("annoy 50/50", ask, queries, setup=build)


def pynndescent_graph(x: np.ndarray, metric: str, threads: int) -> Contender:
    """PyNNDescent with its defaults."""
    from pynndescent import NNDescent

    def build(rows: np.ndarray) -> Any:
        return NNDescent(
            rows, metric=metric, n_neighbors=K + 1, random_state=1, n_jobs=threads
        ).neighbor_graph

    build(x[:200])
    return Contender(f"pynndescent {metric}", lambda: build(x))


def with_recall(title: str, n: int, contenders: list[Contender], repeats: int) -> list[str]:
    """Let ours run once for their recall, then compete."""
    for contender in contenders:
        if contender.score is not None:
            contender.recall = contender.score()
    return compete(title, n, contenders, repeats)


def profiles(load: Callable[..., Any], threads: int, repeats: int) -> list[str]:
    """Whole weeks, L1: floats, and counts as if every household had the same sample size."""
    vectors = load(unit="profiles", distance="tv")
    n, p = vectors.x.shape
    if vectors.block_weights is not None:
        vectors = replace(vectors, x=vectors.coordinates(dtype=np.float32), block_weights=None)
    x = vectors.x
    counts = replace(
        vectors,
        x=np.rint(x * 231).astype(np.uint8),
        block_weights=np.full(vectors.blocks, 1 / 231),
    )
    contenders = [
        ours("exact", vectors, "exact", threads),
        ours("exact, uint8 counts", counts, "exact", threads),
        ours("kdtree ε=0", vectors, "kdtree", threads, epsilon=0.0),
        ours("kdtree ε=1", vectors, "kdtree", threads, epsilon=1.0),
        faiss_flat(x, "L1", 200, threads),
        sklearn_brute(x, "manhattan", 40, threads),
        scipy_tree(x, 1, 0.0, 8, threads),
        scipy_tree(x, 1, 1.0, 8, threads),
        annoy_forest(x, "manhattan", 100, threads),
        pynndescent_graph(x, "manhattan", threads),
    ]
    return with_recall(f"profiles, {n:,} × {p:,}, L1", n, contenders, repeats)


def slots(load: Callable[..., Any], threads: int, repeats: int) -> list[str]:
    """One household's week and all households pooled, L2."""
    lines = []
    for unit in ("slots", "households"):
        vectors = load(unit=unit, distance="hellinger")
        n, p = vectors.x.shape
        contenders = [
            ours("exact", vectors, "exact", threads),
            sklearn_brute(vectors.x, "euclidean", None, threads),
        ]
        lines += with_recall(f"{unit}, {n:,} × {p:,}, L2", n, contenders, 10 * repeats)
    return lines


def household_slots(load: Callable[..., Any], threads: int, repeats: int) -> list[str]:
    """100,000 half-hours of whole households, L2."""
    vectors = load(unit="household-slots", distance="hellinger", first=298)
    vectors = replace(vectors, x=np.ascontiguousarray(vectors.x[:100_000]))
    n, p = vectors.x.shape
    contenders = [
        ours("exact", vectors, "exact", threads),
        ours("nndescent", vectors, "nndescent", threads),
        faiss_flat(vectors.x, "L2", 20_000, threads),
        pynndescent_graph(vectors.x, "euclidean", threads),
    ]
    return with_recall(f"household-slots, {n:,} × {p:,}, L2", n, contenders, repeats)


def few_columns(load: Callable[..., Any], threads: int, repeats: int) -> list[str]:
    """Where a tree pays: 20,000 × 10."""
    from core.vectors import Vectors

    x = np.random.default_rng(1).random((20_000, 10), dtype=np.float32)
    lines = []
    for distance, norm in (("tv", 1), ("hellinger", 2)):
        vectors = Vectors.from_array(x, distance=distance)  # type: ignore[arg-type]
        contenders = [
            ours("kdtree ε=0", vectors, "kdtree", threads, epsilon=0.0),
            ours("kdtree ε=1", vectors, "kdtree", threads, epsilon=1.0),
            ours("exact", vectors, "exact", threads),
            scipy_tree(x, norm, 0.0, None, threads),
            scipy_tree(x, norm, 1.0, None, threads),
        ]
        lines += with_recall(f"20,000 × 10, uniform, L{norm}", len(x), contenders, repeats)
    return lines


SECTIONS = {
    "slots": slots,
    "few-columns": few_columns,
    "profiles": profiles,
    "household-slots": household_slots,
}


def main() -> None:
    """Make the vectors and let each section compete."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, help="measure on this dataset directory")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    arguments = parser.parse_args()

    from core.cube import build_cube
    from core.demo import make_demo
    from core.readings import Dataset
    from core.vectors import make_vectors

    path = arguments.dataset or Path(tempfile.gettempdir()) / "wattfold-demo-3639-536"
    if not path.exists():
        make_demo(path, households=3639, days=536, seed=1)
    dataset = Dataset.open(path)
    cube = build_cube(dataset)
    ids = list(dataset.households["household"])

    def load(*, unit: str, distance: str, first: int | None = None) -> Any:
        chosen = {"household": ids[0]} if unit == "slots" else {}
        if first is not None:
            chosen = {"households": ids[:first]}
        return make_vectors(cube, dataset, unit=unit, distance=distance, **chosen)  # type: ignore[arg-type]

    lines = [f"{arguments.threads} threads, K = {K}; recall of ours on 400 points.", ""]
    for name in arguments.only:
        lines += SECTIONS[name](load, arguments.threads, arguments.repeats)
        # After each section: a run that is ended early keeps the tables it has finished.
        if arguments.only == list(SECTIONS):
            RESULTS.parent.mkdir(exist_ok=True)
            text = "# Neighbours\n\n`python benchmarks/neighbors.py`\n\n" + "\n".join(lines)
            RESULTS.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
