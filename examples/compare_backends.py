"""What an approximate search costs: recall, anomalies and seconds of some backends.

    python examples/compare_backends.py DATASET

Half-hours of some households, whose neighbours are found exactly and approximately, and then laid
out by the same method. Which anomalies would be named if the neighbours were not the true ones?
"""

import sys
import time
from typing import Any

import wattfold as wf
from core.quality.recall import recall

HOUSEHOLDS = 4
K = 20
SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exact", {}),
    ("kdtree", {"epsilon": 1.0}),
    ("annoy", {"n_trees": 50, "search_k": 200}),
    ("hnsw", {"ef_search": 100}),
)


def main(dataset_path: str) -> None:
    """Print one line a backend."""
    dataset = wf.open(dataset_path)
    vectors = wf.make_vectors(
        wf.build_cube(dataset),
        dataset,
        unit="household-slots",
        households=dataset.households["household"].tolist()[:HOUSEHOLDS],
        distance="hellinger",
    )
    print(f"{len(vectors.x):,} half-hours of {HOUSEHOLDS} households, K = {K}")
    print(f"{'backend':<12}{'recall':>8}{'same anomalies':>16}{'seconds':>9}")
    truth: set[int] = set()
    for name, settings in SEARCHES:
        started = time.perf_counter()
        neighbors = wf.find_neighbors(vectors, k=K, backend=name, **settings)
        seconds = time.perf_counter() - started
        hdr = wf.hdr_density(wf.embed("laplacian", neighbors, vectors).y, n_anomalies=10)
        anomalies = set(hdr.anomalies.tolist())
        truth = truth or anomalies  # the first search is the exact one
        share = recall(neighbors, vectors).value
        print(f"{name:<12}{share:>8.3f}{len(anomalies & truth):>13}/10{seconds:>9.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
