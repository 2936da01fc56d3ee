"""What the cost model predicts beside what searches take, for every backend.

    python benchmarks/cost.py [--dataset DIR] [--threads 2] [--limit 300]

Vectors come from the demo at the size of the Irish trial, and evenly from a cube of ten
dimensions. Rates of the machine are measured anew. A search that is predicted to take longer
than the limit is left out and named. What a library compiles on first use is compiled before, on
a few rows, and taken off the prediction where that has it in. Prints the table and writes it to
benchmarks/results/cost.md.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from core.cube import build_cube
from core.demo import make_demo
from core.neighbors import BACKENDS, find_neighbors
from core.neighbors.cost import Machine, SearchSize, measure
from core.neighbors.nndescent import COMPILING_SECONDS
from core.readings import Dataset
from core.vectors import Vectors, make_vectors

RESULTS = Path(__file__).parent / "results" / "cost.md"
K = 20

SEARCHES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exact", {}),
    ("kdtree", {"epsilon": 0.0}),
    ("kdtree", {"epsilon": 1.0}),
    ("annoy", {}),
    ("nndescent", {}),
    ("hnsw", {}),
)


def inputs(dataset: Dataset) -> Iterator[tuple[str, Vectors]]:
    """Name and make the vectors, the small ones first."""
    cube = build_cube(dataset)
    ids = list(dataset.households["household"])
    yield "slots", make_vectors(cube, dataset, unit="slots", household=ids[0])
    yield "households", make_vectors(cube, dataset, unit="households")
    even = np.random.default_rng(1).random((20_000, 10), dtype=np.float32)
    yield "even", Vectors.from_array(even, distance="hellinger")
    yield "even", Vectors.from_array(even, distance="tv")
    many = make_vectors(cube, dataset, unit="household-slots", households=ids[:298])
    yield "household-slots", replace(many, x=np.ascontiguousarray(many.x[:100_000]))
    yield "profiles", make_vectors(cube, dataset, unit="profiles")


def rows(dataset: Dataset, machine: Machine, threads: int, limit: float) -> Iterator[str]:
    """Predict and measure every search; the lines of a table."""
    yield "| | rows × columns | norm | backend | predicted s | measured s | ratio |"
    yield "|---" * 7 + "|"
    for name, vectors in inputs(dataset):
        n, p = vectors.x.shape
        problem = SearchSize(
            n=n, p=p, k=K, norm=vectors.norm, itemsize=vectors.x.itemsize, threads=threads
        )
        for backend, settings in SEARCHES:
            if vectors.distance not in BACKENDS[backend].distances:
                continue
            values = BACKENDS.settings(backend, settings)
            predicted = BACKENDS[backend].cost(problem, machine, **values).seconds
            predicted -= COMPILING_SECONDS if backend == "nndescent" else 0.0
            title = " ".join([backend, *(f"{key}={value:g}" for key, value in settings.items())])
            start = f"| {name} | {n:,} × {p:,} | L{vectors.norm} | {title} | {predicted:.3g} |"
            if predicted > limit:
                yield f"{start} not run | |"
                continue

            def search(some: Vectors, backend: str = backend, values: Any = values) -> float:
                begin = time.perf_counter()
                find_neighbors(some, k=K, backend=backend, threads=threads, **values)
                return time.perf_counter() - begin

            search(replace(vectors, x=vectors.x[:300]))
            taken = min(search(vectors) for _ in range(3 if predicted < 1 else 1))
            yield f"{start} {taken:.3g} | {predicted / taken:.2f} |"


def main() -> None:
    """Measure the machine, then predict and search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, help="measure on this dataset directory")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--limit", type=float, default=300.0, help="seconds")
    arguments = parser.parse_args()
    path = arguments.dataset or Path(tempfile.gettempdir()) / "wattfold-demo-3639-536"
    if not path.exists():
        make_demo(path, households=3639, days=536, seed=1)
    lines = []
    for line in rows(Dataset.open(path), measure(), arguments.threads, arguments.limit):
        print(line, flush=True)
        lines.append(line)
    RESULTS.parent.mkdir(exist_ok=True)
    about = f"{arguments.threads} threads, K = {K}; ratio: predicted to measured."
    table = "\n".join(lines)
    RESULTS.write_text(
        f"# Cost model\n\n`python benchmarks/cost.py`\n\n{about}\n\n{table}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
