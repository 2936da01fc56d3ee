"""What it costs to lay out a sample by UMAP and to place the other points by it.

    python benchmarks/landmarks.py [--households 60] [--days 536] [--dataset DIR]

Half-hours of some households, K = 20 exact neighbours: UMAP of all points with two seeds, then of
fewer and fewer landmarks. Trustworthiness, continuity and Q_NX of 1,000 points, processor seconds,
and how many of the 1 % of the points with the lowest density are those of the first map.
Writes benchmarks/results/landmarks.md.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results" / "landmarks.md"
SHARES = (0.5, 0.25, 0.1, 0.05, 0.025)


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--households", type=int, default=60)
    parser.add_argument("--days", type=int, default=536)
    parser.add_argument("--dataset", type=Path, help="take households of this one")
    arguments = parser.parse_args()

    from core import Dataset, build_cube, embed, find_neighbors, hdr_density, make_demo
    from core.quality import measure_embedding, prepare_reference
    from core.vectors import make_vectors

    with tempfile.TemporaryDirectory() as name:
        path = arguments.dataset or Path(name) / "demo"
        if arguments.dataset is None:
            make_demo(path, households=arguments.households, days=arguments.days, seed=1)
        dataset = Dataset.open(path)
        ids = dataset.households["household"].to_numpy()
        chosen = np.random.default_rng(1).choice(
            ids, min(arguments.households, len(ids)), replace=False
        )
        vectors = make_vectors(
            build_cube(dataset), dataset, unit="household-slots", households=chosen.tolist()
        )
    n = len(vectors.x)
    neighbors = find_neighbors(vectors, k=20, backend="exact")
    reference = prepare_reference(vectors, k=20, sample=1000)
    heads = ["laid out", "seed", "trustworthiness", "continuity", "Q_NX", "lowest 1 % in common"]
    heads.append("processor seconds")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lowest: set[int] = set()
    embed("umap", neighbors, vectors, landmarks=500)  # compiles
    for count, seed in [(n, 1), (n, 2), *((round(share * n), 1) for share in SHARES)]:
        started = time.process_time()
        y = embed("umap", neighbors, vectors, seed=seed, landmarks=count).y
        seconds = time.process_time() - started
        quality = measure_embedding(reference, y)
        found = set(np.argsort(hdr_density(y).density)[: n // 100].tolist())
        lowest = lowest or found
        values = [quality.trustworthiness, quality.continuity, quality.q_nx]
        cells = [f"{count:,}", str(seed), *(f"{value:.4f}" for value in values)]
        cells += [f"{len(found & lowest) / len(lowest):.0%}", f"{seconds:.0f}"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
        text = "# Landmarks\n\n`python benchmarks/landmarks.py`\n\n"
        text += f"{n:,} household-slots\n\n" + "\n".join(lines) + "\n"
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
