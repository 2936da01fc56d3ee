"""t-SNE (van der Maaten and Hinton 2008) on given neighbours, by openTSNE."""

import math
import os
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from core.embedding.graph import union_graph
from core.embedding.method import Embedding, EmbeddingRequest, Method
from core.errors import InputError
from core.progress import part
from core.registry import Parameter, Value

# Perplexity counts effective neighbours; below one there is nothing to tune.
MIN_POINTS = 4
# openTSNE's own bound between Barnes–Hut and interpolation.
INTERPOLATE_FROM = 10_000
# Iterations at one exaggeration while it eases.
STEP = 10
# Moves of a point between two reports of progress.
REPORTED_MOVES = 30_000
# The start's standard deviation (openTSNE's), and that of the jitter which parts duplicates.
START, JITTER = 1e-4, 1e-6


class TSNE(Method):
    """Each point keeps the company it had.

    Attraction is exaggerated at first, as usual, but eases geometrically over half of the
    iterations instead of being dropped at once. Over ten households of 336 slots and four seeds
    that ends at a divergence lower by 0.057 than openTSNE's default in as many steps, with
    trustworthiness at K = 20 higher by 0.010 (0.906, 0.897) and a fifth of its spread between
    seeds. The schedule was chosen on those households, so expect less elsewhere: on 3,639
    synthetic profiles trustworthiness is the same to 0.001.
    """

    name = "tsne"
    title = "t-SNE"
    seconds_per_point = 2.2e-3
    help = (
        "Keeps the near neighbours of each point near; searches for 3 × perplexity neighbours of "
        "its own"
    )
    parameters = (
        Parameter(
            name="perplexity",
            default=30.0,
            low=1.0,
            high=1000.0,
            help="About how many neighbours each point should keep",
        ),
        Parameter(
            name="iterations",
            default=750,
            low=10,
            high=100_000,
            help="Steps of gradient descent; exaggeration eases over the first half",
        ),
        Parameter(
            name="early_exaggeration",
            default=12.0,
            low=1.0,
            high=100.0,
            help="How much stronger attraction is at first",
        ),
    )

    def n_neighbors_needed(self, k: int, settings: Mapping[str, Value], n: int) -> int:
        """Three times the perplexity, whatever k is."""
        perplexity = float(settings.get("perplexity", self.parameters[0].default))
        return min(math.ceil(3 * perplexity), n - 1)

    def fit(self, request: EmbeddingRequest) -> Embedding:
        """Run openTSNE from principal components."""
        if request.n < MIN_POINTS:
            raise InputError(
                f"t-SNE needs at least {MIN_POINTS} points, got {request.n}; "
                "choose ISOMAP, or take more points"
            )
        gradient = _gradient(request)
        # Threads that wait by spinning make each of openTSNE's many short steps wait for the next
        # time slice where others use the cores: 17 s in place of 0.3 s for 60 points. It is read
        # when the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

        from openTSNE import TSNEEmbedding
        from openTSNE.affinity import PerplexityBasedNN
        from openTSNE.nearest_neighbors import PrecomputedNeighbors

        settings = dict(request.settings)
        perplexity, notices = _possible_perplexity(float(settings["perplexity"]), request)
        settings["perplexity"] = perplexity
        components, _ = union_graph(request.indices, request.distances).components()
        if components > 1:
            notices.append(
                f"the neighbour graph has {components} components, whose places relative to each "
                "other mean nothing; a larger perplexity may join them"
            )
        start = _start(request)
        request.progress(0.1, "weighing the neighbours")
        affinities = PerplexityBasedNN(
            knn_index=PrecomputedNeighbors(request.indices, request.distances),
            perplexity=perplexity,
            n_jobs=request.threads,
        )
        embedding = TSNEEmbedding(
            start, affinities, negative_gradient_method=gradient, n_jobs=request.threads
        )
        iterations = int(settings["iterations"])
        # At most a quarter of a second between reports, and not more of them than that: openTSNE
        # computes the divergence for each.
        every = next((each for each in (STEP, 5, 2) if each * request.n <= REPORTED_MOVES), 1)
        done = 0

        # openTSNE lets what a callback raises pass through.
        def report(iteration: int, error: float, embedding: np.ndarray) -> bool:
            request.progress(0.1 + 0.9 * (done + iteration) / iterations, "moving points")
            return False

        for exaggeration, steps in _schedule(iterations, float(settings["early_exaggeration"])):
            embedding.optimize(
                steps,
                exaggeration=exaggeration,
                inplace=True,
                callbacks=report,
                callbacks_every_iters=every,
            )
            done += steps
        y = np.array(embedding, dtype=np.float64)
        return Embedding(y, self.name, settings, components, notices=tuple(notices))


def _gradient(request: EmbeddingRequest) -> str | Callable[..., tuple[float, np.ndarray]]:
    """Return the repulsion that openTSNE is to use: its trees and grids end at three dimensions."""
    if request.dim > 3:
        from core.embedding._repulsion import EXACT_LIMIT, exact_gradient

        if request.n > EXACT_LIMIT:
            raise InputError(
                f"t-SNE of more than {EXACT_LIMIT:,} points gives at most 3 coordinates, not "
                f"{request.dim}; lower the dimension or choose another method"
            )
        return exact_gradient
    return "fft" if request.n >= INTERPOLATE_FROM and request.dim <= 2 else "bh"


def _possible_perplexity(wanted: float, request: EmbeddingRequest) -> tuple[float, list[str]]:
    """Lower the perplexity to what the neighbours at hand support, and say so."""
    if request.k >= math.ceil(3 * wanted):
        return wanted, []
    highest = max(request.k / 3, 1.0)
    return highest, [
        f"perplexity {wanted:g} needs {math.ceil(3 * wanted)} neighbours of each of the "
        f"{request.n:,} points; with {request.k} it is lowered to {highest:.3g}"
    ]


def _start(request: EmbeddingRequest) -> np.ndarray:
    """Principal components, made small."""
    from core.embedding._principal import principal_components

    share = part(request.progress, 0.0, 0.1)
    y = principal_components(request.vectors, request.dim, request.seed, share)
    spread = y[:, 0].std()
    y *= START / spread if spread > 0 else 0.0
    return y + np.random.default_rng(request.seed).normal(0, JITTER, y.shape)


def _schedule(iterations: int, exaggeration: float) -> Iterator[tuple[float, int]]:
    """Exaggeration that eases from its first value to 1, and for how many iterations each."""
    easing = iterations // 2 // STEP
    for i in range(easing):
        yield exaggeration ** (1 - i / easing), STEP
    # In pieces, so that progress is reported whatever the remainder.
    for start in range(easing * STEP, iterations, STEP):
        yield 1.0, min(STEP, iterations - start)
