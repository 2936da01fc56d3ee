"""UMAP's layout beside umap-learn's: the same graph and start, the same threads, in one run.

    python benchmarks/umap_layout.py [--dataset DIR] [--points 50000] [--threads 2] [--seeds 2]

Household-slots of a demo dataset, total variation, exact neighbours, K = 20, 200 epochs. Each lays
out the graph that umap-learn weighs, after a compiling run on a few points. Starts: umap-learn's
spectral one for umap-learn, ours for ours; their seconds are told apart. Cross-entropy is that of
the fuzzy graphs of points and map, per pair, of 2,000 points with all others. Where others use the
machine, compare processor seconds. Prints the table and writes benchmarks/results/umap_layout.md.
"""

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

RESULTS = Path(__file__).parent / "results" / "umap_layout.md"
EPOCHS = 200
K = 20


@numba.njit(parallel=True)
def cross_entropies(y, indptr, indices, data, rows, a, b):  # type: ignore[no-untyped-def]
    """Of some points with all others, per pair."""
    n = len(y)
    total = np.zeros(len(rows))
    for r in numba.prange(len(rows)):
        i = rows[r]
        for j in range(n):
            if j != i:
                q = 1 / (1 + a * ((y[i] - y[j]) ** 2).sum() ** b)
                total[r] -= np.log(max(1 - q, 1e-12))
        for edge in range(indptr[i], indptr[i + 1]):
            p = max(data[edge], 1e-12)
            q = 1 / (1 + a * ((y[i] - y[indices[edge]]) ** 2).sum() ** b)
            total[r] += p * (np.log(max(1 - q, 1e-12)) - np.log(max(q, 1e-12)))
            total[r] += p * np.log(p) + (1 - p) * np.log(max(1 - p, 1e-12))
    return total / (n - 1)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The answer, wall seconds and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    answer = work()
    return answer, time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    """Lay out, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--points", type=int, default=50_000)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    numba.set_num_threads(arguments.threads)

    from umap.spectral import spectral_layout
    from umap.umap_ import find_ab_params, fuzzy_simplicial_set, simplicial_set_embedding

    from core import Dataset, build_cube, find_neighbors, make_vectors
    from core.demo import make_demo
    from core.embedding._multilevel import spectral_start
    from core.embedding._umap_optimiser import drawn_edges, optimise
    from core.progress import silent
    from core.quality import measure_embedding, prepare_reference

    path = arguments.dataset or Path(tempfile.gettempdir()) / "wattfold-demo-250-536"
    if not path.exists():
        make_demo(path, households=250, days=536, seed=1)
    dataset = Dataset.open(path)
    chosen = tuple(dataset.households["household"].tolist()[: -(-arguments.points // 336)])
    vectors = make_vectors(
        build_cube(dataset), dataset, unit="household-slots", distance="tv", households=chosen
    )
    n = len(vectors.x)
    neighbors = find_neighbors(vectors, k=K, backend="exact", threads=arguments.threads)
    own = np.arange(n)[:, np.newaxis]
    graph, *_ = fuzzy_simplicial_set(
        vectors.x,
        K + 1,
        np.random.RandomState(1),
        "euclidean",
        {},
        np.hstack([own, neighbors.indices]).astype(np.int32),
        np.hstack([np.zeros((n, 1)), neighbors.distances]).astype(np.float32),
    )
    a, b = find_ab_params(1.0, 0.1)
    kept = drawn_edges(graph, EPOCHS)
    reference = prepare_reference(vectors, k=K, seed=1, threads=arguments.threads)
    sample = np.random.default_rng(0).choice(n, min(n, 2000), replace=False)

    def theirs(some: Any, start: np.ndarray, epochs: int, seed: int) -> np.ndarray:
        y, _ = simplicial_set_embedding(
            vectors.x[: some.shape[0]],
            some,
            2,
            1.0,
            a,
            b,
            1.0,
            5,
            epochs,
            start,
            np.random.RandomState(seed),
            "euclidean",
            {},
            False,
            {},
            False,
            parallel=arguments.threads > 1,
        )
        return np.asarray(y)

    def ours(some: Any, start: np.ndarray, epochs: int, seed: int) -> np.ndarray:
        return optimise(
            start,
            drawn_edges(some, epochs),
            a=a,
            b=b,
            epochs=epochs,
            seed=seed,
            threads=arguments.threads,
            progress=silent,
        )

    few = graph[:400, :400]
    few_places = np.random.default_rng(0).normal(size=(400, 2))
    lines = [
        f"{n:,} points, {arguments.threads} threads, {EPOCHS} epochs; load of the machine "
        f"{os.getloadavg()[0]:.1f}",
        "",
        "| | seed | start, seconds | layout, seconds | processor seconds | trustworthiness | Q_NX "
        "| cross-entropy |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for lay_out in (theirs, ours):
        lay_out(few, few_places, 3, 0)
    spectral_start(kept[:3000][:, :3000], 2, seed=1)
    for seed in range(1, arguments.seeds + 1):
        for name, lay_out in (("umap-learn", theirs), ("Wattfold", ours)):
            if lay_out is theirs:
                random = np.random.RandomState(seed)
                start, start_wall, _ = timed(lambda r=random: spectral_layout(None, kept, 2, r))
                start = start * (10 / np.abs(start).max()) + random.normal(0, 1e-4, start.shape)
            else:
                start, start_wall, _ = timed(lambda s=seed: spectral_start(kept, 2, seed=s))
            y, wall, processor = timed(
                lambda f=lay_out, s=start, number=seed: f(graph, s, EPOCHS, number)
            )
            y = y.astype(np.float64)
            quality = measure_embedding(reference, y, threads=arguments.threads)
            rows = graph.tocsr()
            entropy = cross_entropies(y, rows.indptr, rows.indices, rows.data, sample, a, b)
            lines.append(
                f"| {name} | {seed} | {start_wall:.1f} | {wall:.1f} | {processor:.1f} | "
                f"{quality.trustworthiness:.4f} | {quality.q_nx:.4f} | {entropy.mean():.4f} |"
            )
            print(lines[-1], flush=True)
    table = "\n".join(lines)
    RESULTS.parent.mkdir(exist_ok=True)
    command = "`python benchmarks/umap_layout.py`"
    RESULTS.write_text(f"# UMAP's layout\n\n{command}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
