"""All quality measures beside scikit-learn's trustworthiness alone, on the same input.

    python benchmarks/quality.py [--points 3639] [--columns 100] [--neighbors 20] [--repeats 7]

Both run in one process, in turn; the least time counts. Prints the times, their ratio and the
values, and writes the table to benchmarks/results/quality.md.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness

from core.quality import measure_embedding, measure_quality, prepare_reference
from core.vectors import Vectors

RESULTS = Path(__file__).parent / "results" / "quality.md"


def make_points(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Distributions on a curved sheet as Hellinger vectors, and their two principal components."""
    rng = np.random.default_rng(1)
    place, width = rng.uniform(0.2, 0.8, n), rng.uniform(0.05, 0.2, n)
    bins = np.linspace(0, 1, p)
    weights = np.exp(-((bins - place[:, None]) ** 2) / (2 * width[:, None] ** 2))
    samples = rng.multinomial(500, weights / weights.sum(axis=1, keepdims=True))
    x = np.sqrt(samples / 1000).astype(np.float32)
    left, scale, _ = np.linalg.svd(x - x.mean(axis=0), full_matrices=False)
    return x, left[:, :2] * scale[:2]


def least_seconds(runs: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Time all runs in turn, several times, and return the least of each."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=3639)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--neighbors", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    k = arguments.neighbors
    x, y = make_points(arguments.points, arguments.columns)
    vectors = Vectors.from_array(x, distance="hellinger")
    ours = measure_quality(vectors, y, k=k)
    reference = prepare_reference(vectors, k=k)
    theirs = trustworthiness(x, y, n_neighbors=k)
    assert abs(ours.trustworthiness - theirs) < 1e-6
    best = least_seconds(
        {
            "scikit-learn: trustworthiness": lambda: trustworthiness(x, y, n_neighbors=k),
            "wattfold: eight measures": lambda: measure_quality(vectors, y, k=k),
            "wattfold: eight measures of a further embedding": lambda: measure_embedding(
                reference, y
            ),
        },
        arguments.repeats,
    )
    peer = best["scikit-learn: trustworthiness"]
    lines = [
        f"{len(x):,} points of {x.shape[1]} columns, Euclidean, K = {k}",
        "",
        "| | seconds | × as fast as scikit-learn |",
        "|---|---|---|",
        *(f"| {name} | {seconds:.3f} | {peer / seconds:.1f} |" for name, seconds in best.items()),
        "",
        f"Trustworthiness {ours.trustworthiness:.6f}, scikit-learn's {theirs:.6f}.",
    ]
    table = "\n".join(lines)
    print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(
        f"# Quality\n\n`python benchmarks/quality.py`\n\n{table}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
