"""Six maps of single households' weeks beside those of the libraries, on the same vectors.

    python benchmarks/households.py DATASET [--seed 1]

DATASET is a dataset directory of real households, as ``wattfold ingest`` makes it. The half-hours
of each household's week are points (its own 100 bins, window 1, Hellinger distance, K = 20).
Peers search their own neighbours; ours take the exact ones, and those of the k-d tree with ε = 1.
What counts is trustworthiness at K. Prints the table and writes it to
benchmarks/results/households.md, households as numbers; no reading is in it.
"""

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.cube import build_cube
from core.embedding import METHODS, embed, n_neighbors_needed
from core.neighbors import find_neighbors
from core.quality import measure_embedding, prepare_reference
from core.readings import Dataset
from core.vectors import Vectors, make_vectors

RESULTS = Path(__file__).parent / "results" / "households.md"
K = 20


def peer_map(method: str, x: np.ndarray, seed: int) -> np.ndarray:
    """Embed x with the library that people would take for a method; coordinates (n, 2)."""
    from openTSNE import TSNE
    from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding
    from umap import UMAP

    if method == "tsne":
        return np.asarray(TSNE(perplexity=30, neighbors="exact", random_state=seed).fit(x))
    peers = {
        "isomap": Isomap(n_neighbors=K),
        "lle": LocallyLinearEmbedding(n_neighbors=K, random_state=seed),
        "laplacian": SpectralEmbedding(
            affinity="nearest_neighbors", n_neighbors=K, random_state=seed
        ),
        "hessian": LocallyLinearEmbedding(
            n_neighbors=K, method="hessian", eigen_solver="dense", random_state=seed
        ),
        # It counts a point among its own neighbours.
        "umap": UMAP(n_neighbors=K + 1, random_state=seed, n_jobs=1),
    }
    return np.asarray(peers[method].fit_transform(x))


def our_map(method: str, vectors: Vectors, seed: int, backend: str, **settings: Any) -> np.ndarray:
    """Embed the vectors on the graph of one of our backends; coordinates (n, 2)."""
    k = n_neighbors_needed(method, K, len(vectors.x), {})
    neighbors = find_neighbors(vectors, k=k, backend=backend, **settings)
    return embed(method, neighbors, vectors, seed=seed).y


@dataclass(frozen=True)
class Trial:
    """Trustworthiness of the maps of one household by one method."""

    household: int
    method: str
    ours: float
    by_tree: float
    peer: float


def try_household(number: int, vectors: Vectors, seed: int) -> Iterator[Trial]:
    """Let every method map one household's week."""
    reference = prepare_reference(vectors, k=K)

    def trust(y: np.ndarray) -> float:
        value = measure_embedding(reference, y).trustworthiness
        assert value is not None
        return value

    for method in METHODS:
        yield Trial(
            number,
            method,
            trust(our_map(method, vectors, seed, "exact")),
            trust(our_map(method, vectors, seed, "kdtree", epsilon=1.0)),
            trust(peer_map(method, vectors.x, seed)),
        )


def table(trials: list[Trial]) -> Iterator[str]:
    """Ours, the peer's and the difference, by household and method; then the least of each."""
    yield "| household | " + " | ".join(METHODS[method].title for method in METHODS) + " |"
    yield "|---" * (len(METHODS) + 1) + "|"
    by_place = {(trial.household, trial.method): trial for trial in trials}
    for household in dict.fromkeys(trial.household for trial in trials):
        row = [by_place[household, method] for method in METHODS]
        cells = [f"{t.ours:.3f} / {t.peer:.3f} ({t.ours - t.peer:+.3f})" for t in row]
        yield f"| {household} | " + " | ".join(cells) + " |"
    columns = [[trial for trial in trials if trial.method == method] for method in METHODS]
    lowest = [min(t.ours - t.peer for t in column) for column in columns]
    apart = [min(t.by_tree - t.ours for t in column) for column in columns]
    for title, values in (("least difference", lowest), ("k-d tree ε=1, least less exact", apart)):
        yield f"| {title} | " + " | ".join(f"{value:+.3f}" for value in values) + " |"


def main() -> None:
    """Map all households, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path, help="a dataset directory")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # Libraries warn of what they do by themselves; it is not what is measured here.
    warnings.simplefilter("ignore")
    dataset = Dataset.open(arguments.dataset)
    trials: list[Trial] = []
    for number, name in enumerate(dataset.households["household"], start=1):
        cube = build_cube(dataset, reference_households=[name])
        vectors = make_vectors(cube, dataset, unit="slots", household=name)
        for trial in try_household(number, vectors, arguments.seed):
            print(trial, flush=True)
            trials.append(trial)
    text = "\n".join(table(trials))
    print(text)
    RESULTS.parent.mkdir(exist_ok=True)
    about = (
        f"Trustworthiness at K = {K} of the map of a household's week: Wattfold on exact "
        "neighbours / the library (and the difference). Ten Australian households; own bins, "
        "window 1, Hellinger. Libraries: scikit-learn (ISOMAP, LLE, Laplacian, Hessian), openTSNE, "
        "umap-learn."
    )
    command = "`python benchmarks/households.py DATASET`"
    RESULTS.write_text(f"# Single households\n\n{command}\n\n{about}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
